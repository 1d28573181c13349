"""The file that an option such as ``--output`` names: replaced when it is whole."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import print_text

STDOUT: Final = Path("-")
"""Stands for stdout as the file of an option."""

_DESCRIPTOR: Final = re.compile(r"/(?:dev|proc/(?:self|\d+))/fd/(\d+)")
_STREAMS: Final = {"/dev/stdout": 1, "/dev/stderr": 2}
_CLOSED_FOLDER: Final = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextlib.contextmanager
def output_file(file: Path) -> Iterator[IO[bytes]]:
    """Yield the bytes of *file*, which has them when the block ends; ``-`` is stdout.

    They are written beside the file and renamed, so a full disk leaves the file as it was. A link
    stays a link, and the mode stays. Devices, pipes and descriptors are written to as they are.

    Raises:
        CannotDoError: It cannot be written.
    """
    if file == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.flush()
        return
    try:
        with _stream(file) or _replacement(Path(os.path.realpath(file))) as written:
            yield written
    except OSError as error:
        raise CannotDoError(f"{file} cannot be written: {error.strerror or error}") from error


def _stream(file: Path) -> IO[bytes] | None:
    """The descriptor, device or pipe that *file* names, opened; None for a regular file."""
    match = _DESCRIPTOR.fullmatch(str(file))
    descriptor = int(match[1]) if match else _STREAMS.get(str(file))
    if descriptor is not None:
        return os.fdopen(os.dup(descriptor), "wb")
    return file.open("wb") if file.exists() and not file.is_file() else None


@contextlib.contextmanager
def _replacement(file: Path) -> Iterator[IO[bytes]]:
    """Yield a new file that becomes *file*, or is copied into it where that must stay."""
    before = file.stat() if os.path.lexists(file) else None  # raises for links in a circle
    beside = file.with_name(f".bucketsum-{os.getpid()}")
    try:
        with _new_file(beside, before) as new:
            yield new
            new.flush()
            if not _is_renamed(beside, file, before):
                new.seek(0)
                with file.open("wb") as old:
                    shutil.copyfileobj(new, old)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def _new_file(beside: Path, before: os.stat_result | None) -> IO[bytes]:
    """The file *beside*, closed to others; a temporary one if only the old can be written."""
    try:
        beside.unlink(missing_ok=True)  # of a process that was killed
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        return os.fdopen(os.open(beside, flags, 0o600 if before else 0o666), "w+b")
    except OSError as error:
        if before is None or error.errno not in _CLOSED_FOLDER:
            raise
        return tempfile.TemporaryFile()


def _is_renamed(beside: Path, file: Path, before: os.stat_result | None) -> bool:
    """Give *beside* the owner and mode *before*, and rename it; False if *file* must stay.

    A mounted file must, and one with a second name, or of an owner that we cannot give.
    """
    if before is None:
        beside.replace(file)
        return True
    if before.st_nlink > 1:
        return False
    try:
        new = beside.stat()
        if (new.st_uid, new.st_gid) != (before.st_uid, before.st_gid):
            os.chown(beside, before.st_uid, before.st_gid)
        shutil.copymode(file, beside)
        beside.replace(file)
    except OSError:  # copying says why, if it fails too
        return False
    return True


def write_text(file: Path, text: str) -> None:
    """Write *text* to *file* as UTF-8, with its line ends as they are; see `output_file`."""
    if file == STDOUT:
        print_text(text)
        return
    with output_file(file) as written:
        written.write(text.encode())


def append_line(file: Path, line: str) -> None:
    """Add *line* to the end of a *file* that is kept; makes it, and its folder.

    Raises:
        CannotDoError: It cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{line}\n")
    except OSError as error:
        raise CannotDoError(f"{file} cannot be written: {error.strerror or error}") from error
