"""Snapshots of many rows: ``python -m bench snapshot``."""

import json
import subprocess
import sys
from collections.abc import Iterator
from operator import itemgetter
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
_TURNS: Final = 3
_TARGETS: Final = {"load": "2 times", "count": "0.3 s", "compare": "3 times, 15 s, 1,000 MB"}


def measured(step: str, folder: Path, other: Path) -> dict[str, float]:
    """Seconds, CPU time and peak memory of *step*, in a process of its own."""
    command = [sys.executable, "-m", steps.__name__, step, str(folder), str(other)]
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout  # noqa: S603 - this program
    result: dict[str, float] = json.loads(printed)
    return result


def rows_of(count: int) -> Iterator[tuple[Any, ...]]:
    """Yield the line of each step over *count* rows: the turn with the least CPU time."""
    with TemporaryDirectory(prefix="bucketsum-bench-") as temporary:
        folders = [Path(temporary, name) for name in ("a", "b")]
        for edition, folder in enumerate(folders):
            output.note(f"writing {count:,} rows")
            snapshot_of(folder, count, edition)
        for step in steps.STEPS:
            output.note(step)
            turns = [
                [measured(kind + step, *folders) for kind in ("", steps.PLAIN)]
                for _ in range(1 if step == "load" else _TURNS)
            ]
            ours, plain = (
                min(of, key=itemgetter("cpu_seconds")) for of in zip(*turns, strict=True)
            )
            yield (
                f"{count:,}", step, ours["seconds"], ours["cpu_seconds"], plain["cpu_seconds"],
                ours["cpu_seconds"] / plain["cpu_seconds"], ours["peak_bytes"] / 1e6,
                plain["peak_bytes"] / 1e6, _TARGETS.get(step, "3 times"),
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
    """Measure snapshots: load, and each question, beside plain DuckDB over the same files.

    The rows are generated, with a listing. 10,000,000 rows need 6 GB in the folder for temporary
    files.
    """
    where = origin()
    lines = [line for count in rows or (100_000, 1_000_000) for line in rows_of(count)]
    columns: Columns = ("rows", "step", *numbers("seconds", "CPU seconds", decimals=2),
               *numbers("plain: CPU seconds", "times", decimals=2),
               *numbers("peak MB", "plain: peak MB", decimals=0), "target")  # fmt: skip
    table = Table("snapshot", columns, tuple(lines), remark=f"{where}.")
    show([table])
    if write_docs:
        write_tables(DOCUMENT, [table])
