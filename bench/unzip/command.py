"""Unzipping as in Bengtsson (2017): ``python -m bench unzip``.

Every variant runs in a process of its own, on one core unless it has two threads, in turns. MB/s
are of wall time; ratios are of CPU time, which other work on the machine hardly affects.
"""

import platform
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click

from bench.tables import options
from bench.tables.document import write, written_between
from bench.tables.machine import machine
from bench.tables.table import Columns, Spread, Table, numbers, show
from bench.unzip.archives import BENGTSSON, OTHERS, BenchArchive, archives
from bench.unzip.turns import OURS, Turns, measured, missing_programs, slowdown
from bench.unzip.variants import COMPARED
from bucketsum.measure import mb_per_s
from bucketsum_cli.terminal import output

DOCUMENT: Final = Path("bench", "measured", "unzip.md")

RIVALS: Final = ("zipfile.extractall", "zipfile to /dev/null", "zipfile, SHA-1 of all")
_BENGTSSON: Final = (
    "zipfile.extractall", "zipfile to /dev/null", "unzip", "stream-unzip, discarded",
    "Go archive/zip to disk", OURS, "bucketsum stream, 2 threads", "bucketsum tmp",
    "bucketsum tmp, 2 threads",
)  # fmt: skip


def dump_and_extract(measured: Sequence[tuple[BenchArchive, Turns]]) -> Table:
    """MB/s of the archives like those of Bengtsson (2017), with their average and median."""
    names = [name for name in _BENGTSSON if name in measured[0][1]]
    speeds = [
        [_mb_per_s(archive, turns, name).median for name in names] for archive, turns in measured
    ]
    rows: list[tuple[Any, ...]] = [
        (archive.name, archive.archive_bytes / 1e6, *row)
        for (archive, _), row in zip(measured, speeds, strict=True)
    ]
    for name, average in (("average", statistics.mean), ("median", statistics.median)):
        rows.append((name, None, *map(average, zip(*speeds, strict=True))))
    files = statistics.mean(archive.files for archive, _ in measured)
    folders = statistics.mean(archive.directories for archive, _ in measured)
    return Table(
        "unzip",
        ("archive", *numbers("MB", *names, decimals=1)),
        tuple(rows),
        "As in Bengtsson (2017): dump and extract, MB/s of archive",
        f"Each archive has on average {files:.0f} files and {folders:.0f} directories. Modes that "
        "write to disk create them; `tmp` creates no directories.",
    )


def variants(archive: BenchArchive, turns: Turns) -> Table:
    """Every variant with one archive."""
    rows = []
    for name, runs in turns.items():
        seconds = statistics.median(run.seconds for run in runs)
        cpu_seconds = statistics.median(run.cpu_seconds for run in runs)
        peak_mb = max(run.peak_bytes for run in runs) / 1e6
        speed = _mb_per_s(archive, turns, name)
        slower = slowdown(turns, name)
        rows.append((name, speed, archive.files / seconds, seconds, cpu_seconds, peak_mb, slower))
    columns: Columns = (
        "mode",
        *numbers("MB/s", "files/s", decimals=0),
        *numbers("seconds", "CPU s", decimals=3),
        *numbers("peak MB", decimals=0),
        *numbers(f"CPU: × {OURS}'s", decimals=2),
    )
    title = (
        f"{archive.name}: {archive.archive_bytes / 1e6:.1f} MB → {archive.output_bytes / 1e6:.1f} "
        f"MB in {archive.files} files and {archive.directories} directories"
    )
    return Table("unzip", columns, tuple(rows), title)


def ratios(measured: Sequence[tuple[BenchArchive, Turns]]) -> Table:
    """CPU time of `zipfile` ÷ that of `OURS`, and wall time on one core ÷ that on two."""
    two_cores = (OURS, "bucketsum tmp", "bucketsum discard")
    rows = (
        (
            archive.name,
            *(slowdown(turns, name) for name in RIVALS),
            *(_second_core(turns, name) for name in two_cores),
        )
        for archive, turns in measured
    )
    titles = (*RIVALS, "stream on two", "tmp on two", "discard on two")
    return Table(
        "unzip",
        ("archive", *numbers(*titles, decimals=2)),
        tuple(rows),
        "Speed of bucketsum's stream relative to zipfile, and the gain from a second core",
        "The first three columns compare CPU time; the last three compare wall time on one core "
        "with that on two.",
    )


def _second_core(turns: Turns, name: str) -> Spread:
    pairs = zip(turns[name], turns[f"{name}, 2 threads"], strict=True)
    return Spread.of(single.seconds / double.seconds for single, double in pairs)


def _mb_per_s(archive: BenchArchive, turns: Turns, name: str) -> Spread:
    return Spread.of(mb_per_s(archive.archive_bytes, run.seconds) for run in turns[name])


def comparison(runs: int) -> Iterator[Table]:
    """Measure every variant with every archive."""
    bengtsson, others = map(archives, (BENGTSSON, OTHERS))
    timed = [(sample, measured(sample.path, runs, COMPARED)) for sample in (*bengtsson, *others)]
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
