"""Local files → the keys they have in the bucket, the same for `put` and for `check`."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bucketsum.digest import digest_of
from bucketsum.notifications import KEY_MAX_BYTES
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.output import note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_CHUNK_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file on this machine and the key it belongs to.

    Attributes:
        path: Where it is.
        key: Its key, with ``/`` between the parts.
        size_bytes: Its size when it was found.
    """

    path: Path
    key: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that cannot be taken, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """What some paths lead to.

    Attributes:
        files: The files, in the order of the paths and by name in each folder.
        skipped: What cannot be taken.
    """

    files: list[LocalFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def files_under(paths: Iterable[Path], prefix: str = "") -> Found:
    """The files at and under *paths*.

    A file's key is *prefix* + its name; a folder's files have *prefix* + the folder's name +
    their path in it. Links to files are files; links to folders are followed only where they are
    named in *paths* themselves. What is no file, cannot be looked at, or has a name that S3
    cannot hold is skipped.

    Raises:
        CannotDoError: A path does not exist, there is nothing at all, or two files have one key.
    """
    found = Found()
    named = list(dict.fromkeys(paths))
    for path in named:
        if not os.path.lexists(path):
            raise CannotDoError(f"there is no file or folder {path}")
    for path in named:
        name = os.path.basename(os.path.abspath(path))  # noqa: PTH100, PTH119 - links keep theirs
        if path.is_dir():
            _add_folder(found, path, f"{prefix}{name}/" if name else prefix)
        else:
            _add(found, path, f"{prefix}{name}")
    if not found.files and not found.skipped:
        raise CannotDoError(f"there are no files in {', '.join(map(str, named))}")
    _refuse_double_keys(found.files)
    return found


def _add_folder(found: Found, folder: Path, prefix: str) -> None:
    for path in _walk(folder, found):
        _add(found, path, prefix + path.relative_to(folder).as_posix())


def _walk(folder: Path, found: Found) -> Iterator[Path]:
    """Every path in *folder* that is not a folder, by name; what cannot be listed is skipped."""

    def unlistable(error: OSError) -> None:
        found.skipped.append(Skipped(Path(error.filename), error.strerror or str(error)))

    for parent, folders, names in os.walk(folder, onerror=unlistable):
        folders.sort()
        for name in sorted(names):
            yield Path(parent, name)


def _add(found: Found, path: Path, key: str) -> None:
    try:
        status = path.stat()
        size = len(key.encode())
    except UnicodeEncodeError:
        found.skipped.append(Skipped(path, "its name is not UTF-8, which a key must be; rename it"))
    except OSError as error:
        found.skipped.append(Skipped(path, error.strerror or str(error)))
    else:
        if not stat.S_ISREG(status.st_mode):
            found.skipped.append(Skipped(path, "not a regular file"))
        elif size > KEY_MAX_BYTES:
            reason = f"its key would have {size} bytes, S3 allows {KEY_MAX_BYTES}"
            found.skipped.append(Skipped(path, reason))
        else:
            found.files.append(LocalFile(path, key, status.st_size))


def _refuse_double_keys(files: Iterable[LocalFile]) -> None:
    holders: dict[str, Path] = {}
    for file in files:
        other = holders.setdefault(file.key, file.path)
        if other is not file.path:
            raise CannotDoError(
                f"{other} and {file.path} would both have the key {file.key}; give them in "
                "separate commands with a --prefix each"
            )


def sha1_of_file(path: Path, on_bytes: Callable[[int], None] = lambda _size: None) -> str:
    """The SHA-1 of the file at *path*; calls *on_bytes* with the size of each piece hashed.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:

        def chunks() -> Iterator[bytes]:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk
                on_bytes(len(chunk))

        return digest_of(chunks()).sha1


def write_text(file: Path, text: str) -> None:
    """Write *text* to *file* as UTF-8, with its line ends as they are.

    Raises:
        CannotDoError: It cannot be written.
    """
    try:
        file.write_text(text, "utf-8", newline="")
    except OSError as error:
        raise CannotDoError(f"{file} cannot be written: {error.strerror or error}") from error


def note_skipped(skipped: Iterable[Skipped]) -> None:
    """Say on stderr what could not be taken, and why."""
    for one in skipped:
        note(f"skipped {one.path}: {one.reason}")
