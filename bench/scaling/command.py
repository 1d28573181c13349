"""Arithmetic on AWS's published limits: ``python -m bench scaling``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from bench.scaling.tables import tables
from bench.tables import options
from bench.tables.document import write_tables
from bench.tables.table import show

DOCUMENT: Final = Path(__file__).parents[2] / "bench" / "measured" / "scaling.md"


@click.command()
@options.as_json
@options.write_docs("bench/measured/scaling.md")
def scaling(*, as_json: bool, write_docs: bool) -> None:
    """Estimate how fast objects can be hashed within AWS's limits.

    The limits are those that AWS publishes; nothing is measured.
    """
    show(tables(), as_json=as_json)
    if write_docs:
        write_tables(DOCUMENT, tables())
