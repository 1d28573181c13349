"""Decoders that bound each piece of their output: any library's, LZMA's, Zstandard's.

LZMA comes without the header of .lzma files, Zstandard in several frames.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from bucketsum.archives.zip_model import Member, MemberUnreadable, Problem

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from bucketsum.table.archive_values import Limits

PIECE_BYTES: Final = 128 * 1024
"""Most output at a time: it is hashed while the CPU's cache holds it."""

_LZMA_LEAD_BYTES: Final = 9  # version (2), length of properties (2), properties (5)
_DICTIONARY_MIN_BYTES: Final = 4096
_END_MARK_BIT: Final = 2
_ZSTANDARD_FEED_BYTES: Final = 8192  # each frame's end copies the rest of it


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


class LzmaDecoder:
    """Raw LZMA after zip's own header, which may come in pieces of any size."""

    def __init__(self, member: Member, limits: Limits) -> None:
        self._lead = b""
        self._inner: BoundedDecoder | None = None
        self._left_bytes = self._size_bytes = member.size_bytes
        self._window_bytes = limits.window_bytes
        self._has_end_mark = bool(member.flags & _END_MARK_BIT)

    @property
    def finished(self) -> bool:
        """See `Decoder` for the contract."""
        if self._inner is None:
            return False
        return self._inner.finished or not self._has_end_mark

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        """See `Decoder` for the contract."""
        if self._inner is None:
            self._lead += bytes(data)
            if len(self._lead) < _LZMA_LEAD_BYTES:
                return
            self._inner = BoundedDecoder(self._opened(self._lead), lzma.LZMAError)
            data, self._lead = self._lead[_LZMA_LEAD_BYTES:], b""
        if self._has_end_mark:
            yield from self._inner.decode(data)
        elif self._left_bytes:  # the stream ends at the declared size; the decoder would go on
            for piece in self._inner.decode(data):
                yield piece[: self._left_bytes]
                self._left_bytes -= min(len(piece), self._left_bytes)
                if not self._left_bytes:
                    return

    def _opened(self, lead: bytes) -> lzma.LZMADecompressor:
        properties = lead[4]
        rest, lc = divmod(properties, 9)
        pb, lp = divmod(rest, 5)
        if int.from_bytes(lead[2:4], "little") != 5 or pb > 4 or lc + lp > 4:  # noqa: PLR2004 - as LZMA has it
            raise MemberUnreadable(Problem.DAMAGED, "its LZMA header is not one")
        declared = int.from_bytes(lead[5:9], "little")
        # A dictionary larger than the member is never used.
        dictionary = max(min(declared, self._size_bytes), _DICTIONARY_MIN_BYTES)
        if dictionary > self._window_bytes:
            raise MemberUnreadable(
                Problem.MEMORY,
                f"its dictionary takes {dictionary} bytes, {self._window_bytes} are allowed: raise "
                "MemorySize",
            )
        chain = [{"id": lzma.FILTER_LZMA1, "dict_size": dictionary, "lc": lc, "lp": lp, "pb": pb}]
        return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=chain)


class ZstandardDecoder:
    """Any number of frames, some of which may be skippable, with a bounded window."""

    def __init__(self, zstd: Any, member: Member, limits: Limits) -> None:  # noqa: ANN401 - the module
        log = max(10, limits.window_bytes.bit_length() - 1)
        self._zstd = zstd
        self._options = {zstd.DecompressionParameter.window_log_max: min(log, 31)}
        self._left_bytes = member.size_bytes
        self._allowed_bytes = limits.window_bytes
        self._frame = self._next_frame()

    @property
    def finished(self) -> bool:
        """See `Decoder` for the contract."""
        return self._frame.finished

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        """See `Decoder` for the contract."""
        view = memoryview(data)
        for at in range(0, len(view), _ZSTANDARD_FEED_BYTES):
            try:
                yield from self._decode(view[at : at + _ZSTANDARD_FEED_BYTES])
            except self._zstd.ZstdError as error:
                if "memory" not in str(error):  # zstd has a single error class
                    raise MemberUnreadable(
                        Problem.DAMAGED, f"it cannot be decoded ({error})"
                    ) from None
                raise MemberUnreadable(
                    Problem.MEMORY,
                    f"its window takes more than the {self._allowed_bytes} bytes allowed: raise "
                    "MemorySize",
                ) from None

    def _decode(self, data: bytes | memoryview) -> Iterator[bytes | memoryview]:
        while data:
            if self._frame.finished:
                if not self._left_bytes:
                    return  # bytes after the last frame
                self._frame = self._next_frame()
            for piece in self._frame.decode(data):
                self._left_bytes -= len(piece)
                yield piece
            data = self._frame.unused if self._frame.finished else b""

    def _next_frame(self) -> BoundedDecoder:
        return BoundedDecoder(self._zstd.ZstdDecompressor(options=self._options))
