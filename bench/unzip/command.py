"""How fast archives are unzipped here, beside the articles' ways: ``python -m bench unzip``.

Every way runs in a process of its own, on one core except where two are named, in turns. MB/s are
of wall time; how many times as fast one is as another is of processor time, which is hardly
disturbed by what else this machine does.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.progress import MofNCompleteColumn

from bench.unzip.archives import LIKE_THEIRS, MONTHS, OTHERS, archives
from bench.unzip.side_by_side import SIDE_BY_SIDE, side_by_side
from bench.unzip.split import Split, split_of
from bench.unzip.tables import Report, written_into
from bench.unzip.turns import available, measured
from bucketsum_cli import output

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.unzip.tables import Table

TURNS: Final = 3
FOLDER: Final = Path(".bucketsum", "bench-unzip")
PAGE: Final = Path("docs", "archives.md")


def measure(turns: int, scratch: Path) -> Report:
    """Make the archives once, then measure all ways on all of them."""
    theirs, others, months = (archives(one, FOLDER) for one in (LIKE_THEIRS, OTHERS, MONTHS))
    singles = [*theirs, *others]
    looked_into = [theirs[0], *others]
    runs = len(singles) * len(available()) * turns + len(looked_into)
    runs += len([way for way in SIDE_BY_SIDE if way in available()]) * 4 * turns
    with output.progress(MofNCompleteColumn()) as shown:
        task = shown.add_task("runs", total=runs)

        def step() -> None:
            shown.advance(task)

        timed = {made.what: measured(made.path, scratch, turns, step) for made in singles}
        paths = [made.path for made in months]
        total_mb = sum(made.archive_bytes for made in months) / 1e6
        together = [(total_mb, one) for one in side_by_side(paths, scratch, turns, step)]
        splits = {made.what: _stepped(step, made.path) for made in looked_into}
    return Report(
        [(made, timed[made.what]) for made in theirs],
        [(made, timed[made.what]) for made in others],
        together,
        splits,
        turns,
    )


def _stepped(step: Callable[[], None], archive: Path) -> Split:
    split = split_of(archive)
    step()
    return split


def show(table: Table) -> None:
    """One table on the terminal."""
    output.say("")
    output.say(table.title, "bold")
    if table.remark:
        output.say(table.remark)
    columns = [output.Column(table.heads[0])]
    for place, head in enumerate(table.heads[1:], 1):
        width = max(len(head), *(len(row[place]) for row in table.rows))
        columns.append(output.Column(head, width, right=True))
    output.print_table(columns, table.rows)


@click.command()
@click.option("--turns", default=TURNS, show_default=True, type=click.IntRange(1))
@click.option("--json", "as_json", is_flag=True, help="One JSON document with every run.")
@click.option("--write-docs", is_flag=True, help=f"Put the tables into {PAGE} as well.")
@click.option(
    "--scratch",
    type=click.Path(path_type=Path, file_okay=False),
    default=FOLDER,
    show_default=True,
    help="Where is extracted to: a folder on a local disk.",
)
def unzip(turns: int, *, as_json: bool, write_docs: bool, scratch: Path) -> None:
    """Ways of unzipping: zipfile, unzip, stream-unzip and bucketsum's, as two articles did.

    Archives are made once, of files that are on this machine, some 650 MB under .bucketsum. Three
    turns take about a quarter of an hour, and are best taken while nothing else runs.
    """
    if shutil.which("unzip") is None:
        output.note("unzip is not installed and left out: apt-get install unzip")
    scratch.mkdir(parents=True, exist_ok=True)
    report = measure(turns, scratch)
    if as_json:
        output.print_json(report.document())
    else:
        output.say(report.machine())
        for table in report.tables():
            show(table)
    if write_docs:
        written_into(PAGE, report)
