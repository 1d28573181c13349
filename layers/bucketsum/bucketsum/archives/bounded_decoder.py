"""The protocol of decoders, and the decoder that bounds each piece of a library's output."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from bucketsum.archives.zip_model import MemberUnreadable, Problem

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

PIECE_BYTES: Final = 128 * 1024
"""Most output at a time: it is hashed while the CPU's cache holds it."""


class Decoder(Protocol):
    """Decodes one member of an archive."""

    @property
    def finished(self) -> bool:
        """Whether the compressed stream has come to its end."""
        ...

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        """The output that *data* adds, in pieces; bytes after the stream's end are ignored.

        Raises:
            MemberUnreadable: It is damaged, or needs more memory than is allowed.
        """
        ...


@contextmanager
def naming_damage(*errors: type[Exception]) -> Iterator[None]:
    """Turn a library's *errors* into the member's problem."""
    try:
        yield
    except errors as error:
        raise MemberUnreadable(Problem.DAMAGED, f"it cannot be decoded ({error})") from None


class BoundedDecoder:
    """Any decompressor with the interface of `bz2.BZ2Decompressor`, and the *errors* it raises."""

    def __init__(self, decompressor: Any, *errors: type[Exception]) -> None:  # noqa: ANN401 - bz2's, lzma's, isal's, zstd's
        self._decompressor = decompressor
        self._errors = errors

    @property
    def finished(self) -> bool:
        """See `Decoder` for the contract."""
        return bool(self._decompressor.eof)

    @property
    def unused(self) -> bytes:
        """Input after the stream's end."""
        return bytes(self._decompressor.unused_data)

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        """See `Decoder` for the contract."""
        decompressor = self._decompressor
        if decompressor.eof:
            return
        with naming_damage(*self._errors, EOFError, ValueError):
            yield decompressor.decompress(data, PIECE_BYTES)
            while not (decompressor.needs_input or decompressor.eof):
                yield decompressor.decompress(b"", PIECE_BYTES)
