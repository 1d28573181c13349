"""Decoder of LZMA, as zip archives store it: without the header of .lzma files."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from bucketsum.archives.bounded_decoder import BoundedDecoder
from bucketsum.archives.zip_model import Member, MemberUnreadable, Problem

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from bucketsum.table.archive_values import Limits

_LEAD_BYTES: Final = 9  # version (2), length of properties (2), properties (5)
_DICTIONARY_MIN_BYTES: Final = 4096
_END_MARK_BIT: Final = 2


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
        """See `bounded_decoder.Decoder` for the contract."""
        if self._inner is None:
            return False
        return self._inner.finished or not self._has_end_mark

    def decode(self, data: ReadableBuffer) -> Iterator[bytes | memoryview]:
        """See `bounded_decoder.Decoder` for the contract."""
        if self._inner is None:
            self._lead += bytes(data)
            if len(self._lead) < _LEAD_BYTES:
                return
            self._inner = BoundedDecoder(self._opened(self._lead), lzma.LZMAError)
            data, self._lead = self._lead[_LEAD_BYTES:], b""
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
