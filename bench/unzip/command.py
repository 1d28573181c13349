"""Unzipping as in two articles: ``python -m bench unzip``.

Every variant runs in a process of its own, on one core unless it has two threads, in turns. MB/s
are of wall time; ratios are of CPU time, which other work on the machine hardly affects.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.progress import MofNCompleteColumn

from bench.tables.document import write, written_between
from bench.unzip.archives import ARTICLE_1, ARTICLE_2, FOLDER, OTHERS, archives
from bench.unzip.side_by_side import COMPARED, side_by_side
from bench.unzip.split import split_of
from bench.unzip.tables import Report
from bench.unzip.turns import available, measured
from bucketsum_cli import output

if TYPE_CHECKING:
    from bench.unzip.split import Split

TURNS: Final = 3
DOCUMENT: Final = Path("docs", "archives.md")


def measure(turns: int, scratch: Path) -> Report:
    """Create the archives once, then measure all variants with all of them."""
    article_1, others, article_2 = (
        archives(contents, FOLDER) for contents in (ARTICLE_1, OTHERS, ARTICLE_2)
    )
    singles = [*article_1, *others]
    examined = [article_1[0], *others]
    runs = len(singles) * len(available()) * turns + len(examined)
    runs += len([name for name in COMPARED if name in available()]) * 4 * turns
    with output.progress(MofNCompleteColumn()) as progress:
        task = progress.add_task("runs", total=runs)

        def step() -> None:
            progress.advance(task)

        timed = {archive.name: measured(archive.path, scratch, turns, step) for archive in singles}
        paths = [archive.path for archive in article_2]
        total_mb = sum(archive.archive_bytes for archive in article_2) / 1e6
        together = [(total_mb, each) for each in side_by_side(paths, scratch, turns, step)]
        splits: dict[str, Split] = {}
        for archive in examined:
            splits[archive.name] = split_of(archive.path)
            step()
    return Report(
        [(archive, timed[archive.name]) for archive in article_1],
        [(archive, timed[archive.name]) for archive in others],
        together,
        splits,
        turns,
    )


@click.command()
@click.option(
    "--turns",
    default=TURNS,
    show_default=True,
    type=click.IntRange(1),
    help="Runs of each variant.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with every run.")
@click.option("--write-docs", is_flag=True, help=f"Write the tables to {DOCUMENT} too.")
@click.option(
    "--scratch",
    type=click.Path(path_type=Path, file_okay=False),
    default=FOLDER,
    show_default=True,
    help="Folder on a local disk for extracted files.",
)
def unzip(turns: int, *, as_json: bool, write_docs: bool, scratch: Path) -> None:
    """Compare unzipping with zipfile, unzip, stream-unzip and bucketsum.

    The archives are created once from files of this machine, some 650 MB under .bucketsum. Three
    turns take about a quarter of an hour; run them while the machine is idle.
    """
    if shutil.which("unzip") is None:
        output.note("unzip is not installed and left out; apt-get install unzip")
    scratch.mkdir(parents=True, exist_ok=True)
    report = measure(turns, scratch)
    if as_json:
        output.print_json(report.document())
    else:
        output.say(report.origin())
        for table in report.tables():
            table.show()
    if write_docs:
        text = written_between(DOCUMENT.read_text("utf-8"), "unzip", report.text())
        write(DOCUMENT, text)
