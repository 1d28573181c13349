"""Cost of hashing: ``python -m bench cost``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bench.cost.measured import measured_in
from bench.cost.tables import details, tables
from bench.tables import options
from bench.tables.document import with_tables, write, written_between
from bench.tables.table import show
from bucketsum.prices import PRICE_DATE

if TYPE_CHECKING:
    from bench.cost.measured import MeasuredHandling

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "cost.md"
DETAILS: Final = Path(__file__).parents[1] / "measured" / "cost.md"


@click.command()
@options.write_docs("docs/cost.md", "bench/measured/cost.md")
def cost(*, write_docs: bool) -> None:
    """Compute US dollars per terabyte and per million small objects.

    Nothing is measured: the speeds are those in bench/measured. Prices are the list prices of
    us-east-1, without the free tier.
    """
    measured = measured_in()
    every = (*tables(measured), *details(measured))
    show(every, origins=measured.origins, prices=PRICE_DATE)
    if write_docs:
        for path, text in documents(measured).items():
            write(path, text)


def documents(measured: MeasuredHandling) -> dict[Path, str]:
    """Each document with its tables, computed from *measured*.

    Raises:
        ValueError: A marker is missing.
    """
    origins = "\n".join(f"> {origin}" for origin in measured.origins)
    page = written_between(DOCUMENT.read_text("utf-8"), "cost-origin", origins)
    return {
        DOCUMENT: with_tables(page, tables(measured)),
        DETAILS: with_tables(DETAILS.read_text("utf-8"), details(measured)),
    }
