"""The contract of decoders, and the one that bounds each piece of a library's output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from bucketsum.archives.zip_model import MemberUnreadable, Problem, StreamEndsEarly

PIECE_BYTES: Final = 128 * 1024
"""Most output at a time: it is hashed while the CPU's cache holds it."""

FEED_BYTES: Final = 64 * 1024
"""Most compressed bytes that a decoder is given at a time."""

Compressed = Iterable[bytes | memoryview]
"""The compressed bytes of a member, which a decoder need not read beyond the stream's end."""

Pieces = Iterator[bytes | memoryview]
"""The output of a decoder. It raises `MemberUnreadable` if the stream is damaged or needs more
memory than is allowed, and `StreamEndsEarly`."""


@contextmanager
def naming_damage(*errors: type[Exception]) -> Iterator[None]:
    """Turn a library's *errors* into the member's problem."""
    try:
        yield
    except errors as error:
        raise MemberUnreadable(Problem.DAMAGED, f"it cannot be decoded ({error})") from None


def bounded(decompressor: Any, compressed: Compressed, *errors: type[Exception]) -> Pieces:  # noqa: ANN401 - as of `pieces_of`
    """Decode the stream of *decompressor*; see `pieces_of`."""
    for data in compressed:
        if decompressor.eof:
            return
        yield from pieces_of(decompressor, data, *errors)
    if not decompressor.eof:
        raise StreamEndsEarly


def pieces_of(decompressor: Any, data: bytes | memoryview, *errors: type[Exception]) -> Pieces:  # noqa: ANN401 - bz2's, lzma's, isal's, zstd's
    """The output that *data* adds, by anything with the interface of `bz2.BZ2Decompressor`."""
    with naming_damage(*errors, EOFError, ValueError):
        yield decompressor.decompress(data, PIECE_BYTES)
        while not (decompressor.needs_input or decompressor.eof):
            yield decompressor.decompress(b"", PIECE_BYTES)
