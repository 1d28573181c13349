"""Snapshots of many rows: ``python -m bench snapshot``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import click

from bench.snapshot import steps
from bench.snapshot.rows import snapshot_of
from bench.tables import options
from bench.tables.document import write_tables
from bench.tables.machine import origin
from bench.tables.table import Columns, Table, numbers, show
from bucketsum_cli.terminal import output

DOCUMENT: Final = Path("bench", "measured", "snapshot.md")
_PYTHON: Final = "python "
_TARGETS: Final = {
    ("compare", 1_000_000): "15 s, 1,000 MB",
    ("duplicates", 10_000_000): "60 s, 2,000 MB",
}


def measured(step: str, folder: Path, other: Path) -> dict[str, float]:
    """Seconds, CPU time and peak memory of *step*, in a process of its own."""
    command = [sys.executable, "-m", steps.__name__, step, str(folder), str(other)]
    environment = os.environ | {"AWS_DEFAULT_REGION": "us-east-1"}
    printed = subprocess.run(  # noqa: S603 - this program
        command, stdout=subprocess.PIPE, check=True, env=environment
    ).stdout
    result: dict[str, float] = json.loads(printed)
    return result


def rows_of(count: int) -> Iterator[tuple[Any, ...]]:
    """Yield the line of each step over *count* rows; of a comparison, over twice as many."""
    with TemporaryDirectory(prefix="bucketsum-bench-") as temporary:
        folders = [Path(temporary, name) for name in ("a", "b")]
        for edition, folder in enumerate(folders):
            output.note(f"writing {count:,} rows")
            snapshot_of(folder, count, edition)
        measured("load", *reversed(folders))
        for step in (steps.SCAN, *steps.STEPS):
            if step.startswith(_PYTHON):
                continue
            output.note(step)
            got = measured(step, *folders)
            loop = f"{_PYTHON}{step}"
            plain = measured(loop, *folders) if loop in steps.STEPS else None
            rows = steps.SCANNED_ROWS if step == steps.SCAN else count * (1 + (step == "compare"))
            yield (
                f"{rows:,}", step, got["seconds"], rows / got["seconds"], got["peak_bytes"] / 1e6,
                plain and plain["seconds"], plain and plain["peak_bytes"] / 1e6,
                _TARGETS.get((step, count)),
            )  # fmt: skip


@click.command()
@click.option(
    "--rows",
    multiple=True,
    type=click.IntRange(1),
    metavar="N",
    help="Rows of a snapshot; may be repeated. By default 100,000 and 1,000,000.",
)
@options.write_docs(str(DOCUMENT))
def snapshot(rows: tuple[int, ...], *, write_docs: bool) -> None:
    """Measure snapshots: scan, load, and each question, beside a plain loop in Python.

    The rows are generated; those of the scan are in moto, in the same process. 10,000,000 rows need
    3 GB in the folder for temporary files.
    """
    where = origin()
    lines = [line for count in rows or (100_000, 1_000_000) for line in rows_of(count)]
    columns: Columns = ("rows", "step", *numbers("seconds", decimals=2),
               *numbers("rows/s", "peak MB", decimals=0), *numbers("Python: seconds", decimals=2),
               *numbers("Python: peak MB", decimals=0), "target")  # fmt: skip
    table = Table("snapshot", columns, tuple(lines), remark=f"{where}.")
    show([table])
    if write_docs:
        write_tables(DOCUMENT, [table])
