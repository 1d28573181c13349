"""Cost of hashing: ``python -m bench cost``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from bench.cost.measured import measured_in
from bench.cost.tables import tables
from bench.tables import options
from bench.tables.document import with_tables, write, written_between
from bench.tables.table import show
from bucketsum.sweep.prices import PRICE_DATE

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "cost.md"


@click.command()
@options.as_json
@options.write_docs("docs/cost.md")
def cost(*, as_json: bool, write_docs: bool) -> None:
    """Compute US dollars per terabyte and per million small objects.

    Nothing is measured: the speeds are those in bench/measured. Prices are the list prices of
    us-east-1, without the free tier.
    """
    measured = measured_in()
    show(tables(measured), as_json=as_json, origins=measured.origins, prices=PRICE_DATE)
    if write_docs:
        write(DOCUMENT, written(DOCUMENT.read_text("utf-8")))


def written(document: str) -> str:
    """*document* with the tables and origins of the measurements.

    Raises:
        ValueError: A marker is missing.
    """
    measured = measured_in()
    origins = "\n".join(f"> {origin}" for origin in measured.origins)
    return with_tables(written_between(document, "cost-origin", origins), tables(measured))
