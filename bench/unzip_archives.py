"""Archives like those of the articles, made of files that are on this machine."""

from __future__ import annotations

import sys
import zipfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_SMALL_BYTES: Final = 200_000
_LARGE_ROOTS: Final = (Path("/usr/lib"), Path("/usr/local"), Path("/usr/bin"))


def _small() -> Iterator[Path]:
    """Source files of the interpreter that runs this, and of its packages."""
    for root in (Path(sys.base_prefix), Path(sys.prefix)):
        for path in sorted(root.rglob("*.py")):
            if path.is_file() and 0 < path.stat().st_size < _SMALL_BYTES:
                yield path


def _large() -> list[Path]:
    """The largest files of the system's libraries and programs."""
    found: dict[int, Path] = {}
    for root in _LARGE_ROOTS:
        for path in root.rglob("*"):
            if path.is_file() and not path.is_symlink():
                found.setdefault(path.stat().st_size, path)
    return [found[size] for size in sorted(found, reverse=True)]


ARCHIVES: Final[Mapping[str, Callable[[], Iterable[Path]]]] = {
    "163 small files and 2 large": lambda: [*islice(_small(), 163), *_large()[2:4]],
    "4,000 small files and 2 large": lambda: [*islice(_small(), 4000), *_large()[4:6]],
    "6 large files": lambda: _large()[6:12],
    "10,000 small files": lambda: islice(_small(), 10_000),
}


def archives(folder: Path) -> dict[str, Path]:
    """Make those that are not there yet: what they are → their files."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for number, (what, paths) in enumerate(ARCHIVES.items()):
        archive = folder / f"{number}.zip"
        if not archive.exists():
            partial = archive.with_suffix(".part")
            with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as zf:
                for path in paths():
                    zf.write(path)
            partial.rename(archive)
        made[what] = archive
    return made
