"""Tables and JSON of the unzip benchmark."""

from __future__ import annotations

import os
import platform
import statistics
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from bench.tables.machine import machine
from bench.tables.spread import Spread
from bench.tables.table import Column, Table
from bench.unzip.turns import OURS, slowdown
from bucketsum.measure import mb_per_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench.unzip.archives import Archive
    from bench.unzip.side_by_side import SideBySide
    from bench.unzip.split import Split
    from bench.unzip.turns import Turns

RIVALS: Final = ("zipfile.extractall", "zipfile to /dev/null", "zipfile, SHA-1 of all")
_ARTICLE: Final = (
    "zipfile.extractall", "zipfile to /dev/null", "unzip", "stream-unzip, discarded",
    OURS, "bucketsum stream, 2 threads", "bucketsum tmp", "bucketsum tmp, 2 threads",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Report:
    """All measurements.

    Attributes:
        article_1: Archives like those of unzip article 1, with every variant's turns.
        others: Other archives, with every variant's turns.
        article_2: Size in MB and times of the archives of unzip article 2.
        splits: Split of the time by archive.
        turns: Number of turns.
    """

    article_1: Sequence[tuple[Archive, Turns]]
    others: Sequence[tuple[Archive, Turns]]
    article_2: Sequence[tuple[float, SideBySide]]
    splits: Mapping[str, Split]
    turns: int

    def tables(self) -> Iterator[Table]:
        """All tables, in the order of the articles."""
        yield _dump_and_extract(self.article_1)
        yield _variants(*self.article_1[0])  # the JSON has those of the others
        yield _ratios([*self.article_1, *self.others])
        yield _side_by_side(self.article_2)
        yield _split(self.splits)

    def text(self) -> str:
        """All tables as Markdown."""
        return "\n\n".join(
            ["", f"{self.origin()}.", *(each.markdown() for each in self.tables()), ""]
        )

    def origin(self) -> str:
        """Machine and number of turns."""
        return (
            f"{machine()}, Python {platform.python_version()}, {self.turns} turns: medians, and in "
            "brackets the minimum and maximum"
        )

    def document(self) -> dict[str, Any]:
        """All measurements for JSON."""
        return {
            "python": sys.version.split()[0],
            "cores": os.cpu_count(),
            "turns": self.turns,
            "archives": [
                {
                    "name": archive.name,
                    "archive_bytes": archive.archive_bytes,
                    "output_bytes": archive.output_bytes,
                    "files": archive.files,
                    "directories": archive.directories,
                    "variants": {
                        name: [asdict(run) for run in runs] for name, runs in turns.items()
                    },
                    "slowdown": {name: asdict(slowdown(turns, name)) for name in turns},
                }
                for archive, turns in [*self.article_1, *self.others]
            ],
            "side_by_side": [{"archive_mb": mb, **asdict(each)} for mb, each in self.article_2],
            "split": {name: asdict(split) for name, split in self.splits.items()},
        }


def _numbers(*titles: str, decimals: int) -> tuple[Column, ...]:
    """Columns of numbers or spreads."""

    def text(value: float | Spread) -> str:
        return value.text(decimals) if isinstance(value, Spread) else f"{value:.{decimals}f}"

    return tuple(Column(title, title, text) for title in titles)


def _dump_and_extract(measured: Sequence[tuple[Archive, Turns]]) -> Table:
    variants = [name for name in _ARTICLE if name in measured[0][1]]
    speeds = [
        tuple(_mb_per_s(archive, turns, name).median for name in variants)
        for archive, turns in measured
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
        (Column("archive", "archive"), *_numbers("MB", *variants, decimals=1)),
        tuple(rows),
        "Article 1: dump and extract, MB/s of archive",
        f"On average {files:.0f} files and {folders:.0f} directories in each archive; those that "
        "write to disk create them, `tmp` without the directories.",
    )


def _variants(archive: Archive, turns: Turns) -> Table:
    def row(name: str) -> tuple[Any, ...]:
        runs = turns[name]
        seconds = statistics.median(run.seconds for run in runs)
        return (
            name,
            _mb_per_s(archive, turns, name),
            archive.files / seconds,
            seconds,
            statistics.median(run.cpu_seconds for run in runs),
            max(run.peak_bytes for run in runs) / 1e6,
            slowdown(turns, name),
        )

    columns = (
        Column("mode", "mode"),
        *_numbers("MB/s", "files/s", decimals=0),
        *_numbers("seconds", "CPU s", decimals=3),
        *_numbers("peak MB", decimals=0),
        *_numbers(f"CPU: × {OURS}'s", decimals=2),
    )
    title = (
        f"{archive.name}: {archive.archive_bytes / 1e6:.1f} MB → {archive.output_bytes / 1e6:.1f} "
        f"MB in {archive.files} files and {archive.directories} directories"
    )
    return Table("unzip", columns, tuple(row(name) for name in turns), title)


def _ratios(measured: Sequence[tuple[Archive, Turns]]) -> Table:
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
        (Column("archive", "archive"), *_numbers(*titles, decimals=2)),
        tuple(rows),
        "Speed of bucketsum's stream relative to zipfile, and the gain from a second core",
        "The first three columns compare CPU time; the last three compare wall time on one core "
        "with that on two.",
    )


def _second_core(turns: Turns, name: str) -> Spread:
    pairs = zip(turns[name], turns[f"{name}, 2 threads"], strict=True)
    return Spread.of(single.seconds / double.seconds for single, double in pairs)


def _side_by_side(measured: Sequence[tuple[float, SideBySide]]) -> Table:
    rows = (
        (
            each.variant,
            "in memory" if each.cached else "on disk",
            each.serial,
            each.parallel,
            mb / each.serial.median,
            mb / each.parallel.median,
            each.serial.median / each.parallel.median,
        )
        for mb, each in measured
    )
    columns = (
        Column("mode", "mode"),
        Column("archives", "archives"),
        *_numbers("serial s", "parallel s", decimals=2),
        *_numbers("serial MB/s", "parallel MB/s", decimals=0),
        *_numbers("gain", decimals=2),
    )
    return Table(
        "unzip",
        columns,
        tuple(rows),
        "Article 2: twelve archives, serial and parallel, with and without disk",
        "The first three modes write the extracted files, the others do not.",
    )


def _split(splits: Mapping[str, Split]) -> Table:
    parts = ("inflate", "crc32", "sha1_members", "sha1_archive", "overhead", "stream", "zlib",
             "zipfile")  # fmt: skip
    rows = (
        (name, *(1000 * getattr(split, part) for part in parts), split.zipfile / split.stream,
         split.best_ratio)
        for name, split in splits.items()
    )  # fmt: skip
    titles = (
        "inflate", "CRC-32", "SHA-1 of members", "SHA-1 of archive", "all else",
        "stream", "zlib and CRC-32", "zipfile to /dev/null",
    )  # fmt: skip
    columns = (
        Column("archive", "archive"),
        *_numbers(*titles, decimals=0),
        *_numbers("× zipfile", "× at best", decimals=2),
    )
    return Table(
        "unzip",
        columns,
        tuple(rows),
        "Where the time of bucketsum's stream goes: CPU milliseconds",
        "`× at best` is the factor that a reader without any overhead would reach: `zipfile`'s "
        "time divided by the time of the four parts alone.",
    )


def _mb_per_s(archive: Archive, turns: Turns, name: str) -> Spread:
    return Spread.of(mb_per_s(archive.archive_bytes, run.seconds) for run in turns[name])
