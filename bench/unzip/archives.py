"""Archives like those of an article on unzipping, made of this machine's files."""

import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from bench.unzip.variants import FOLDER
from bucketsum_cli.terminal import output

Members = Callable[[], Iterable[tuple[str, bytes]]]
Contents = Mapping[str, Members]

_SMALL_BYTES: Final = 200_000
_LARGE_ROOTS: Final = (Path("/usr/lib"), Path("/usr/local"), Path("/usr/bin"))


@dataclass(frozen=True, slots=True)
class BenchArchive:
    """An archive: its size, that of all members, and the number of members and their folders."""

    name: str
    path: Path
    archive_bytes: int
    output_bytes: int
    files: int
    directories: int


def _small() -> Iterator[Path]:
    """Source files of this interpreter and its packages."""
    for root in (Path(sys.base_prefix), Path(sys.prefix)):
        for path in sorted(root.rglob("*.py")):
            if path.is_file() and 0 < path.stat().st_size < _SMALL_BYTES:
                yield path


def _large() -> list[Path]:
    """The largest files of the system's libraries and programs, without the two largest."""
    by_size: dict[int, Path] = {}
    for root in _LARGE_ROOTS:
        for path in root.rglob("*"):
            if path.is_file() and not path.is_symlink():
                by_size.setdefault(path.stat().st_size, path)
    return [by_size[size] for size in sorted(by_size, reverse=True)][2:]


def _files(paths: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        yield str(path).lstrip("/"), path.read_bytes()


def _like_bengtsson(number: int) -> Iterator[tuple[str, bytes]]:
    """163 small files and two large ones in 128 folders; Bengtsson (2017) had 165 in 129."""
    small = islice(_small(), number * 163, (number + 1) * 163)
    large = _large()[2 * number : 2 * number + 2]
    for index, (name, content) in enumerate(_files([*small, *large])):
        folder = index % 64
        yield f"{folder}.pdb/{folder:033X}/{index}-{PurePosixPath(name).name}", content


BENGTSSON: Final[Contents] = {
    f"bengtsson-{number + 1}": partial(_like_bengtsson, number) for number in range(5)
}
"""Like those of Bengtsson (2017): many small files and two large ones."""

OTHERS: Final[Contents] = {
    "4,000 small files and 2 large": lambda: _files([*islice(_small(), 4000), *_large()[10:12]]),
    "6 large files": lambda: _files(_large()[12:18]),
    "10,000 small files": lambda: _files(islice(_small(), 10_000)),
}
"""Other archives, each with another distribution of time."""


def archives(contents: Contents) -> list[BenchArchive]:
    """The archives of *contents*; missing ones are created with the defaults of `zipfile`."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return [_archive(name, members) for name, members in contents.items()]


def _archive(name: str, members: Members) -> BenchArchive:
    path = FOLDER / (name.replace(" ", "-").replace(",", "") + ".zip")
    if not path.exists():
        output.note(f"creating {path} (once)")
        unfinished = path.with_suffix(".part")
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as zf:
            for member, content in members():
                zf.writestr(member, content)
        unfinished.rename(path)
    with zipfile.ZipFile(path) as zf:
        infos = [info for info in zf.infolist() if not info.is_dir()]
    folders = {parent for info in infos for parent in PurePosixPath(info.filename).parents[:-1]}
    size_bytes = sum(info.file_size for info in infos)
    return BenchArchive(name, path, path.stat().st_size, size_bytes, len(infos), len(folders))
