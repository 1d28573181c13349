"""Unzipping as in Bengtsson (2017): ``python -m bench unzip``.

Every variant runs in a process of its own, on one core unless it has two threads, in turns. MB/s
are of wall time; ratios are of CPU time, which other work on the machine hardly affects.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bench.tables import options
from bench.tables.document import write, written_between
from bench.tables.machine import machine
from bench.tables.table import show
from bench.unzip.archives import BENGTSSON, OTHERS, archives
from bench.unzip.tables import dump_and_extract, ratios, variants
from bench.unzip.turns import measured, missing_programs
from bench.unzip.variants import COMPARED
from bucketsum_cli.terminal import output

if TYPE_CHECKING:
    from bench.tables.table import Table

DOCUMENT: Final = Path("bench", "measured", "unzip.md")


def comparison(runs: int) -> Iterator[Table]:
    """Measure every variant with every archive."""
    bengtsson, others = map(archives, (BENGTSSON, OTHERS))
    timed = [(each, measured(each.path, runs, COMPARED)) for each in (*bengtsson, *others)]
    yield dump_and_extract(timed[: len(bengtsson)])
    yield variants(*timed[0])
    yield ratios(timed)


@click.command()
@options.runs(3)
@options.write_docs(str(DOCUMENT))
def unzip(runs: int, *, write_docs: bool) -> None:
    """Compare bucketsum with other unzip programs and libraries.

    These are zipfile, unzip, stream-unzip and Go's archive/zip. The archives (in .bucketsum) are
    created once, from files on this machine. The default of three runs takes about 10 minutes; use
    an idle machine.
    """
    for program, remedy in missing_programs().items():
        output.note(f"{program} is not installed and left out; {remedy}")
    origin = (
        f"{machine()}, Python {platform.python_version()}, {runs} runs: medians, and in brackets "
        "the minimum and maximum"
    )
    tables = list(comparison(runs))
    show(tables, origin=origin)
    if write_docs:
        text = "\n\n".join(["", f"{origin}.", *(table.markdown() for table in tables), ""])
        write(DOCUMENT, written_between(DOCUMENT.read_text("utf-8"), "unzip", text))
