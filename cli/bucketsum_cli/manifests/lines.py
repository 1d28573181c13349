"""Lines of a list: decompressed, and in UTF-8."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, Final

from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from _typeshed import SupportsRead, WriteableBuffer

_LINE_BYTES_MAX: Final = 1 << 20
_TOO_LONG: Final = b"\0 more than 1 MiB\n"
"""Stands for such a line; no format has an entry with a NUL."""
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_OPENERS: Final[Mapping[bytes, Callable[[Any], Any]]] = {
    b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open,
}  # fmt: skip
"""By the first bytes of the files that gzip, bzip2 and xz write."""
COMPRESSED: Final = r"(?:\.(?:gz|bz2|xz))?"
"""How such files' names end, as a regular expression."""
_REFUSED: Final = {b"PK\3\4": "a zip archive", b"\x28\xb5\x2f\xfd": "compressed by zstd"}
_DAMAGED: Final = (EOFError, OSError, UnicodeDecodeError, lzma.LZMAError, zlib.error)


class _Joined(io.RawIOBase):
    """Bytes, and after them those of a stream, which may be a pipe."""

    def __init__(self, head: bytes, rest: SupportsRead[bytes]) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        chunk = self._head[: len(view)] or self._rest.read(len(view))
        self._head = self._head[len(chunk) :]
        view[: len(chunk)] = chunk
        return len(chunk)


def peeked(stream: SupportsRead[bytes], size_bytes: int) -> tuple[bytes, IO[bytes]]:
    """The beginning of *stream*, and a stream that still has it."""
    whole = io.BufferedReader(_Joined(b"", stream))  # it reads until it has as many
    head = whole.read(size_bytes)
    return head, io.BufferedReader(_Joined(head, whole))


def lines_of(stream: IO[bytes], file: str) -> Iterator[bytes]:
    """Yield the lines of *stream*, with their ends; *file* is its name.

    Raises:
        CannotDoError: It cannot be decompressed or decoded, or not to its end.
    """
    head, stream = peeked(stream, 6)
    for start, kind in _REFUSED.items():
        if head.startswith(start):
            raise CannotDoError(f"{file} is {kind}; give a list, plain or as gzip, bzip2 or xz")
    try:
        opener = next((_OPENERS[start] for start in _OPENERS if head.startswith(start)), None)
        yield from _lines(_line_reader(opener(stream) if opener else stream))
    except _DAMAGED as error:
        raise CannotDoError(f"{file} cannot be read to its end: {error}") from error


def _line_reader(stream: IO[bytes]) -> Callable[[int], bytes]:
    """A function that reads a line; UTF-16 and UTF-32 are known by their marks or their NULs."""
    head, stream = peeked(stream, 4)
    encoding = json.detect_encoding(head)
    if encoding in ("utf-8", "utf-8-sig"):
        if head.startswith(BYTE_ORDER_MARK):
            stream.read(len(BYTE_ORDER_MARK))
        return stream.readline
    text = io.TextIOWrapper(stream, encoding, "surrogatepass", newline="\n")
    return lambda size: text.readline(size).encode("utf-8", "surrogatepass")


def _lines(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while line := read(_LINE_BYTES_MAX):
        is_whole = len(line) < _LINE_BYTES_MAX or line.endswith(b"\n")
        yield line if is_whole else _TOO_LONG
        while not is_whole:
            rest = read(_LINE_BYTES_MAX)
            is_whole = not rest or rest.endswith(b"\n")
