"""Arithmetic on AWS's published limits: ``python -m bench scaling``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from bench.scaling.tables import tables
from bench.tables.document import write_tables
from bucketsum_cli import output

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "scaling.md"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--write-docs", is_flag=True, help="Write the tables to docs/scaling.md instead.")
def scaling(*, as_json: bool, write_docs: bool) -> None:
    """Estimate bursts and constant loads under AWS's published limits.

    Nothing is measured and nothing is called.
    """
    if write_docs:
        write_tables(DOCUMENT, tables())
    elif as_json:
        output.print_json({table.name: table.as_json() for table in tables()})
    else:
        for table in tables():
            output.say("")
            table.show()
