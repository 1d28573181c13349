"""Local files and their keys in the bucket, for `put` and `check`."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Final

from bucketsum.events.message_fields import KEY_MAX_BYTES
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import note

_VERSION_CONTROL: Final = ".git"


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file on this machine and its key in the bucket.

    Attributes:
        key: Its key, with ``/`` between the parts.
        size_bytes: Its size when it was listed.
    """

    path: Path
    key: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that cannot be read or uploaded."""

    path: Annotated[Path, "Path of a local file."]
    reason: str


class LeftOut(StrEnum):
    """Parts of folders that are not taken."""

    LINK = "links to folders, which are not followed"
    VERSION_CONTROL = "folders and files named .git, which are left out"


@dataclass(frozen=True, slots=True)
class FileSelection:
    """The files at and under some paths.

    Attributes:
        files: The files, in the order of the paths and by name in each folder.
        left_out: The number of each kind that is left out.
    """

    files: list[LocalFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    left_out: Counter[LeftOut] = field(default_factory=Counter)


def files_under(
    paths: Iterable[Path], prefix: str = "", exclude: Sequence[str] = ()
) -> FileSelection:
    """The files at and under *paths*.

    A file's key is *prefix* + its name; a folder's files have *prefix* + the folder's name +
    their path in it. Links to files are files; links to folders are followed only if they are in
    *paths* themselves. Anything else than a regular file, and names that S3 does not allow, are
    skipped. Left out are folders with the name ``.git``, and files and folders of which the name
    or the path below one of *paths* matches a pattern of *exclude*; not *paths* themselves.

    Raises:
        CannotDoError: A path does not exist, there are no files, or two files have the same key.
        UnicodeEncodeError: *prefix* is not UTF-8; a new name of a file would not help.
    """
    prefix.encode()
    given = list(dict.fromkeys(paths))
    for path in given:
        if not os.path.lexists(path):
            raise CannotDoError(f"there is no file or folder {path}")
    patterns = (_VERSION_CONTROL, *exclude)
    entries = [entry for path in given for entry in _entries(path, prefix, patterns)]
    if all(isinstance(entry, LeftOut) for entry in entries):
        raise CannotDoError(f"there are no files in {', '.join(map(str, given))}")
    files = [entry for entry in entries if isinstance(entry, LocalFile)]
    _refuse_double_keys(files)
    skipped = [entry for entry in entries if isinstance(entry, Skipped)]
    left_out = Counter(entry for entry in entries if isinstance(entry, LeftOut))
    return FileSelection(files, skipped, left_out)


def _entries(
    path: Path, prefix: str, exclude: Sequence[str]
) -> Iterator[LocalFile | Skipped | LeftOut]:
    """Yield the file *path*, or the files in the folder by name, and others."""
    name = os.path.basename(os.path.abspath(path))  # noqa: PTH100, PTH119 - links keep theirs
    if not path.is_dir():
        yield _entry(path, f"{prefix}{name}")
        return
    start = f"{prefix}{name}/" if name else prefix
    errors: list[OSError] = []
    for parent, folders, names in os.walk(path, onerror=errors.append):
        below = Path(parent).relative_to(path)
        if _VERSION_CONTROL in (*folders, *names):
            yield LeftOut.VERSION_CONTROL
        folders[:] = _kept(below, folders, exclude)
        yield from (LeftOut.LINK for name in folders if Path(parent, name).is_symlink())
        for name in _kept(below, names, exclude):
            yield _entry(Path(parent, name), start + (below / name).as_posix())
    for error in errors:
        yield Skipped(Path(error.filename), error.strerror or str(error))


def _kept(below: Path, names: Iterable[str], exclude: Sequence[str]) -> list[str]:
    """Sort the *names* in a folder, without those whose name or path matches *exclude*."""
    return sorted(
        name
        for name in names
        if not any(
            fnmatchcase(text, pattern)
            for pattern in exclude
            for text in (name, (below / name).as_posix())
        )
    )


def _entry(path: Path, key: str) -> LocalFile | Skipped:
    try:
        status = path.stat()
        size = len(key.encode())
    except UnicodeEncodeError:
        return Skipped(path, "its name is not UTF-8, which a key must be; rename it")
    except OSError as error:
        return Skipped(path, error.strerror or str(error))
    if not stat.S_ISREG(status.st_mode):
        return Skipped(path, "not a regular file")
    if size > KEY_MAX_BYTES:
        return Skipped(path, f"its key would have {size} bytes, S3 allows {KEY_MAX_BYTES}")
    return LocalFile(path, key, status.st_size)


def _refuse_double_keys(files: Iterable[LocalFile]) -> None:
    holders: dict[str, Path] = {}
    for file in files:
        other = holders.setdefault(file.key, file.path)
        if other is not file.path:
            raise CannotDoError(
                f"{other} and {file.path} would both have the key {file.key}; give them in "
                "separate commands with a --prefix each"
            )


def note_left_out(selection: FileSelection) -> None:
    """Show on stderr how much of a folder was left out."""
    for kind, number in selection.left_out.items():
        note(f"{kind}: {number:,}")


def note_skipped(skipped: Iterable[Skipped]) -> None:
    """Show on stderr which files were skipped, and why."""
    for file in skipped:
        note(f"skipped {file.path}: {file.reason}")
