"""The contract of decoders, and the one that bounds each piece of a library's output."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from bucketsum.archives.zip_model import MemberUnreadable, Problem, StreamEndsEarly

PIECE_BYTES: Final = 128 * 1024
"""Most output at a time: it is hashed while the CPU's cache holds it."""

FEED_BYTES: Final = 64 * 1024
"""Most compressed bytes that a decoder is given at a time."""

Compressed = Iterable[bytes | memoryview]
"""The compressed bytes of a member, which a decoder need not read beyond the stream's end."""

Pieces = Generator[bytes | memoryview, None, int | None]
"""The output of a decoder. It raises `MemberUnreadable` if the stream is damaged or needs more
memory than is allowed, and `StreamEndsEarly`. It returns how many bytes of the last input lie
behind the stream, if it knows."""


@contextmanager
def naming_damage(*errors: type[Exception]) -> Iterator[None]:
    """Turn a library's *errors* into the member's problem."""
    try:
        yield
    except errors as error:
        raise MemberUnreadable(Problem.DAMAGED, f"it cannot be decoded ({error})") from None


def bounded(
    decompressor: Any,  # noqa: ANN401 - as of `pieces_of`
    compressed: Compressed,
    size_bytes: int,
    *errors: type[Exception],
) -> Pieces:
    """Decode the stream of *decompressor*, which should be of *size_bytes*; see `pieces_of`."""
    for data in compressed:
        for piece in pieces_of(decompressor, data, size_bytes, *errors):
            size_bytes -= len(piece)
            yield piece
        if decompressor.eof:
            return len(decompressor.unused_data)
    raise StreamEndsEarly


def pieces_of(
    decompressor: Any,  # noqa: ANN401 - bz2's, lzma's, isal's, zstd's
    data: bytes | memoryview,
    left_bytes: int,
    *errors: type[Exception],
) -> Iterator[bytes | memoryview]:
    """The output that *data* adds, by anything with the interface of `bz2.BZ2Decompressor`.

    A piece ends with the *left_bytes* that should come: damage after them does not take them along.
    """
    with naming_damage(*errors, EOFError, ValueError):
        piece = decompressor.decompress(data, piece_bytes(left_bytes))
        yield piece
        while not (decompressor.needs_input or decompressor.eof):
            left_bytes -= len(piece)
            piece = decompressor.decompress(b"", piece_bytes(left_bytes))
            yield piece


def piece_bytes(left_bytes: int) -> int:
    """Most output of the next piece, if *left_bytes* should come."""
    return min(left_bytes, PIECE_BYTES) if left_bytes > 0 else PIECE_BYTES
