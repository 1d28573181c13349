"""What was measured of unzipping → tables, JSON, and the page that has them."""

from __future__ import annotations

import os
import platform
import statistics
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from bench.unzip.turns import OURS, Spread, slowdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from bench.unzip.archives import Made
    from bench.unzip.side_by_side import SideBySide
    from bench.unzip.split import Split
    from bench.unzip.turns import Turns

BEGIN: Final = "<!-- bench unzip -->"
END: Final = "<!-- /bench unzip -->"
AGAINST: Final = ("zipfile.extractall", "zipfile to /dev/null", "zipfile, SHA-1 of all")
_ARTICLE: Final = (
    "zipfile.extractall", "zipfile to /dev/null", "unzip", "stream-unzip, discarded",
    OURS, "bucketsum stream, 2 threads", "bucketsum tmp", "bucketsum tmp, 2 threads",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people.

    Attributes:
        title: What it shows.
        heads: Its columns, the first of words, the others of numbers.
        rows: As many texts each.
        remark: What its numbers are.
    """

    title: str
    heads: tuple[str, ...]
    rows: list[list[str]]
    remark: str = ""

    def markdown(self) -> str:
        """The table as a page has it."""
        lines = [f"**{self.title}**", *((self.remark,) if self.remark else ()), ""]
        ruler = ["---", *("--:" for _ in self.heads[1:])]
        return "\n".join(
            [*lines, *(f"| {' | '.join(row)} |" for row in (self.heads, ruler, *self.rows))]
        )


@dataclass(frozen=True, slots=True)
class Report:
    """All that was measured.

    Attributes:
        theirs: Archives like the first article's, with every way's turns.
        others: Other archives, with the same.
        together: The second article's.
        splits: Where the time goes, by archive.
        turns: How many there were.
    """

    theirs: Sequence[tuple[Made, Turns]]
    others: Sequence[tuple[Made, Turns]]
    together: Sequence[tuple[float, SideBySide]]
    splits: Mapping[str, Split]
    turns: int

    def tables(self) -> Iterator[Table]:
        """Everything, in the order in which the articles have it."""
        yield _dump_and_extract(self.theirs)
        for made, turns in [*self.theirs[:1], *self.others[-1:]]:  # the others are in the JSON
            yield _ways(made, turns)
        yield _all_ratios([*self.theirs, *self.others])
        yield _together(self.together)
        yield _split(self.splits)

    def machine(self) -> str:
        """Where it was measured."""
        return (
            f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, Python "
            f"{platform.python_version()}, {self.turns} turns: medians, and in brackets the "
            "minimum and maximum"
        )

    def document(self) -> dict[str, Any]:
        """The same for a machine."""
        return {
            "python": sys.version.split()[0],
            "cores": os.cpu_count(),
            "turns": self.turns,
            "archives": [
                {
                    "what": made.what,
                    "archive_bytes": made.archive_bytes,
                    "output_bytes": made.output_bytes,
                    "files": made.files,
                    "directories": made.directories,
                    "ways": {way: [asdict(one) for one in ones] for way, ones in turns.items()},
                    "slowdown": {way: asdict(slowdown(turns, way)) for way in turns},
                }
                for made, turns in [*self.theirs, *self.others]
            ],
            "side_by_side": [{"archive_mb": mb, **asdict(one)} for mb, one in self.together],
            "split": {what: asdict(one) for what, one in self.splits.items()},
        }


def written_into(page: Path, report: Report) -> None:
    """Replace what lies between the marks of *page*."""
    text = page.read_text(encoding="utf-8")
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no {BEGIN!r} … {END!r} to write between")
    tables = "\n\n".join(table.markdown() for table in report.tables())
    page.write_text(
        f"{head}{BEGIN}\n\n{report.machine()}.\n\n{tables}\n\n{END}{tail}", encoding="utf-8"
    )


def _dump_and_extract(theirs: Sequence[tuple[Made, Turns]]) -> Table:
    ways = [way for way in _ARTICLE if way in theirs[0][1]]
    speeds = [[_mb_per_s(made, turns, way).median for way in ways] for made, turns in theirs]
    rows = [
        [made.what, f"{made.archive_bytes / 1e6:.1f}", *(f"{one:.1f}" for one in ones)]
        for (made, _), ones in zip(theirs, speeds, strict=True)
    ]
    columns = list(zip(*speeds, strict=True))
    rows.append(["average", "", *(f"{statistics.mean(one):.1f}" for one in columns)])
    rows.append(["median", "", *(f"{statistics.median(one):.1f}" for one in columns)])
    files = statistics.mean(made.files for made, _ in theirs)
    folders = statistics.mean(made.directories for made, _ in theirs)
    return Table(
        "Article 1: dump and extract, MB/s of archive",
        ("archive", "MB", *ways),
        rows,
        f"On average {files:.0f} files and {folders:.0f} directories in each archive; those that "
        "write to disk create them, `tmp` without the directories.",
    )


def _ways(made: Made, turns: Turns) -> Table:
    def row(way: str) -> list[str]:
        seconds = Spread.of(one.seconds for one in turns[way])
        return [
            way,
            _mb_per_s(made, turns, way).text(0),
            f"{made.files / seconds.median:.0f}",
            f"{seconds.median:.3f}",
            f"{statistics.median(one.cpu_seconds for one in turns[way]):.3f}",
            f"{max(one.peak_bytes for one in turns[way]) / 1e6:.0f}",
            slowdown(turns, way).text(2),
        ]

    return Table(
        f"{made.what}: {made.archive_bytes / 1e6:.1f} MB → {made.output_bytes / 1e6:.1f} MB in "
        f"{made.files} files and {made.directories} directories",
        ("mode", "MB/s", "files/s", "seconds", "CPU s", "peak MB", f"CPU: × {OURS}'s"),
        [row(way) for way in turns],
    )


def _all_ratios(measured: Sequence[tuple[Made, Turns]]) -> Table:
    rows = [
        [
            made.what,
            *(slowdown(turns, way).text(2) for way in AGAINST),
            _scaling(turns, OURS),
            _scaling(turns, "bucketsum tmp"),
            _scaling(turns, "bucketsum discard"),
        ]
        for made, turns in measured
    ]
    heads = ("archive", *AGAINST, "stream on two", "tmp on two", "discard on two")
    return Table(
        "Speed of bucketsum's stream relative to zipfile, and the gain from a second core",
        heads,
        rows,
        "The first three columns compare CPU time; the last three compare wall time on one core "
        "with that on two.",
    )


def _scaling(turns: Turns, way: str) -> str:
    pairs = zip(turns[way], turns[f"{way}, 2 threads"], strict=True)
    return Spread.of(one.seconds / two.seconds for one, two in pairs).text(2)


def _together(together: Sequence[tuple[float, SideBySide]]) -> Table:
    rows = [
        [
            one.way,
            "in memory" if one.cached else "on disk",
            one.serial.text(2),
            one.parallel.text(2),
            f"{mb / one.serial.median:.0f}",
            f"{mb / one.parallel.median:.0f}",
            f"{one.serial.median / one.parallel.median:.2f}",
        ]
        for mb, one in together
    ]
    return Table(
        "Article 2: twelve archives, serial and parallel, with and without disk",
        ("mode", "archives", "serial s", "parallel s", "serial MB/s", "parallel MB/s", "gain"),
        rows,
        "The first three modes write the extracted files, the others do not.",
    )


def _split(splits: Mapping[str, Split]) -> Table:
    rows = [
        [
            what,
            *(f"{1000 * part:.0f}" for part in (
                one.inflate, one.crc32, one.sha1_members, one.sha1_archive, one.overhead,
                one.stream, one.zlib, one.zipfile,
            )),
            f"{one.zipfile / one.stream:.2f}",
            f"{one.best_ratio:.2f}",
        ]
        for what, one in splits.items()
    ]  # fmt: skip
    return Table(
        "Where the time of bucketsum's stream goes: CPU milliseconds",
        (
            "archive", "inflate", "CRC-32", "SHA-1 of members", "SHA-1 of archive", "all else",
            "stream", "zlib and CRC-32", "zipfile to /dev/null", "× zipfile", "× at best",
        ),
        rows,
        "`× at best` is the factor that a reader without any overhead would reach: `zipfile`'s "
        "time divided by the time of the four parts alone.",
    )  # fmt: skip


def _mb_per_s(made: Made, turns: Turns, way: str) -> Spread:
    return Spread.of(made.archive_bytes / 1e6 / one.seconds for one in turns[way])
