"""Cost of hashing: ``python -m bench cost``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from bench.cost.measured import Measured, measured_in
from bench.cost.tables import tables
from bench.tables.document import EMPTY, with_tables, write, written_between
from bucketsum.sweep.prices import PRICE_DATE
from bucketsum_cli import output
from bucketsum_cli.errors import CannotDoError

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "cost.md"
MEASURED: Final = tuple(sorted(Path(__file__).parents[1].glob("measured/*.json")))
"""Measurements on the machine of docs/benchmarking.md."""


@click.command()
@click.option(
    "--measured",
    "files",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="JSON of `bench readers`, `bench function` or `bench cold-start`; may be repeated. "
    "[default: the files in bench/measured]",
)
@click.option(
    "--reader",
    default="",
    help="Only readers whose name contains this, and the baseline. [default: as deployed]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--write-docs", is_flag=True, help="Write the tables to docs/cost.md instead.")
def cost(files: tuple[Path, ...], reader: str, *, as_json: bool, write_docs: bool) -> None:
    """Compute US dollars per terabyte and per million small objects.

    Nothing is measured and nothing is called. List prices of us-east-1, no free tier.

    Example: python -m bench cost --measured .bucketsum/bench/readers.json --write-docs
    """
    try:
        measured = measured_in(files or MEASURED)
        measured = measured.only(reader) if reader else measured
    except CannotDoError as error:
        raise click.UsageError(str(error)) from None
    if write_docs:
        write(DOCUMENT, written(DOCUMENT.read_text("utf-8"), measured))
    elif as_json:
        priced = {table.name: table.as_json() for table in tables(measured)}
        output.print_json({"origins": measured.origins, "prices": PRICE_DATE, **priced})
    else:
        _show(measured)


def _show(measured: Measured) -> None:
    for table in tables(measured):
        output.say("")
        output.say(table.name, "bold")
        if not table.rows:
            output.say(EMPTY)
        table.show()
    for origin in measured.origins:
        output.say(origin)


def written(document: str, measured: Measured) -> str:
    """*document* with the tables and origins of *measured*.

    Raises:
        ValueError: A marker is missing.
    """
    origins = "\n".join(f"> {origin}" for origin in measured.origins)
    return with_tables(written_between(document, "cost-origin", origins), tables(measured))
