"""Decoder of Zstandard, whose streams may have several frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from bucketsum.archives.bounded_decoder import BoundedDecoder
from bucketsum.archives.zip_model import Member, MemberUnreadable, Problem

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from bucketsum.table.archive_values import Limits

_FEED_BYTES: Final = 8192  # each frame's end copies the rest of it


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
        """See `bounded_decoder.Decoder` for the contract."""
        return self._frame.finished

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        """See `bounded_decoder.Decoder` for the contract."""
        view = memoryview(data)
        for at in range(0, len(view), _FEED_BYTES):
            try:
                yield from self._decode(view[at : at + _FEED_BYTES])
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
