"""Archives like those of the articles, made of files that are on this machine."""

from __future__ import annotations

import random
import sys
import zipfile
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from bucketsum_cli import output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_SMALL_BYTES: Final = 200_000
_LARGE_ROOTS: Final = (Path("/usr/lib"), Path("/usr/local"), Path("/usr/bin"))
_MONTHS: Final = 12
_DAYS: Final = 4
_DAY_BYTES: Final = 10_000_000
_UNIQUE_LINES: Final = 30_000  # far more than deflate's window: longer makes it no different


@dataclass(frozen=True, slots=True)
class Made:
    """An archive and what is in it.

    Attributes:
        what: For people.
        path: Its file.
        archive_bytes: Its size.
        output_bytes: What its members come to.
        files: How many members it has.
        directories: How many folders they are in.
    """

    what: str
    path: Path
    archive_bytes: int
    output_bytes: int
    files: int
    directories: int


def _small() -> Iterator[Path]:
    """Source files of the interpreter that runs this, and of its packages."""
    for root in (Path(sys.base_prefix), Path(sys.prefix)):
        for path in sorted(root.rglob("*.py")):
            if path.is_file() and 0 < path.stat().st_size < _SMALL_BYTES:
                yield path


def _large() -> list[Path]:
    """The largest files of the system's libraries and programs, the very largest left out."""
    found: dict[int, Path] = {}
    for root in _LARGE_ROOTS:
        for path in root.rglob("*"):
            if path.is_file() and not path.is_symlink():
                found.setdefault(path.stat().st_size, path)
    return [found[size] for size in sorted(found, reverse=True)][2:]


def _files(paths: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        yield str(path).lstrip("/"), path.read_bytes()


def _like_theirs(number: int) -> Iterator[tuple[str, bytes]]:
    """163 small files and two large ones in 128 folders; the first article's had 165 in 129."""
    small = islice(_small(), number * 163, (number + 1) * 163)
    large = _large()[2 * number : 2 * number + 2]
    for place, (name, content) in enumerate(_files([*small, *large])):
        folder = place % 64
        yield f"{folder}.pdb/{folder:033X}/{place}-{PurePosixPath(name).name}", content


def _trades(month: int) -> Iterator[tuple[str, bytes]]:
    """A month of text files, lines of a few fields, as the second article's of short sales."""
    chance = random.Random(month)  # noqa: S311 - the same every time
    symbols = ["".join(chance.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=4)) for _ in range(3000)]
    for day in range(_DAYS):
        lines = (
            "|".join(
                [
                    f"Q|{chance.choice(symbols)}|2005{month:02}{day + 1:02}",
                    f"{chance.randrange(93000, 160000)}|S|{chance.randrange(1, 40) * 100}",
                    f"{chance.randrange(100, 9999) / 100:.2f}|\n",
                ]
            )
            for _ in range(_UNIQUE_LINES)
        )
        block = "".join(lines).encode()
        yield f"sh2005{month:02}{day + 1:02}.txt", block * (_DAY_BYTES // len(block))


LIKE_THEIRS: Final[Mapping[str, Callable[[], Iterable[tuple[str, bytes]]]]] = {
    f"article-{number + 1}": partial(_like_theirs, number) for number in range(5)
}
"""The first article's: many small files and two really large ones."""

OTHERS: Final[Mapping[str, Callable[[], Iterable[tuple[str, bytes]]]]] = {
    "4,000 small files and 2 large": lambda: _files([*islice(_small(), 4000), *_large()[10:12]]),
    "6 large files": lambda: _files(_large()[12:18]),
    "10,000 small files": lambda: _files(islice(_small(), 10_000)),
}
"""What else there is: where the time goes is different in each."""

MONTHS: Final[Mapping[str, Callable[[], Iterable[tuple[str, bytes]]]]] = {
    f"month-{month + 1:02}": partial(_trades, month + 1) for month in range(_MONTHS)
}
"""The second article's: twelve archives of a few large texts."""


def archives(
    wanted: Mapping[str, Callable[[], Iterable[tuple[str, bytes]]]], folder: Path
) -> Sequence[Made]:
    """Make those that are not there yet, with what `zipfile` and zlib make of them by default."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_made(what, members, folder) for what, members in wanted.items()]


def _made(what: str, members: Callable[[], Iterable[tuple[str, bytes]]], folder: Path) -> Made:
    path = folder / (what.replace(" ", "-").replace(",", "") + ".zip")
    if not path.exists():
        output.note(f"making {path} (once)")
        partial = path.with_suffix(".part")
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as zf:
            for name, content in members():
                zf.writestr(name, content)
        partial.rename(path)
    with zipfile.ZipFile(path) as zf:
        infos = [info for info in zf.infolist() if not info.is_dir()]
    folders = {parent for info in infos for parent in PurePosixPath(info.filename).parents[:-1]}
    size_bytes = sum(info.file_size for info in infos)
    return Made(what, path, path.stat().st_size, size_bytes, len(infos), len(folders))
