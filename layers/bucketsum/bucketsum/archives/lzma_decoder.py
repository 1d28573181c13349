"""Decoder of LZMA, as zip archives store it: without the header of .lzma files."""

from __future__ import annotations

import lzma
from contextlib import suppress
from itertools import chain
from typing import Final

from bucketsum.archives.bounded_decoder import Compressed, Pieces, bounded
from bucketsum.archives.zip_model import Member, MemberUnreadable, Problem, StreamEndsEarly
from bucketsum.table.archive_settings import Limits

_LEAD_BYTES: Final = 9  # version (2), length of properties (2), properties (5)
_DICTIONARY_MIN_BYTES: Final = 4096
_END_MARK_BIT: Final = 2


def lzma_decoded(compressed: Compressed, member: Member, limits: Limits) -> Pieces:
    """Decode raw LZMA after zip's own header, which may come in pieces of any size."""
    lead, rest = b"", iter(compressed)
    while len(lead) < _LEAD_BYTES:
        data = next(rest, None)
        if data is None:
            raise StreamEndsEarly
        lead += data
    del data  # else the first chunk would stay in memory until the member's end
    decompressor = _opened(lead, member, limits)
    views = chain([lead[_LEAD_BYTES:]], rest)
    pieces = bounded(decompressor, views, member.size_bytes, lzma.LZMAError)
    if member.flags & _END_MARK_BIT:
        return (yield from pieces)
    left_bytes = member.size_bytes  # the stream ends there; the decompressor would go on
    with suppress(StreamEndsEarly):
        for piece in pieces if left_bytes else ():
            yield piece[:left_bytes]
            left_bytes -= min(len(piece), left_bytes)
            if not left_bytes:
                break
    return None


def _opened(lead: bytes, member: Member, limits: Limits) -> lzma.LZMADecompressor:
    properties = lead[4]
    rest, lc = divmod(properties, 9)
    pb, lp = divmod(rest, 5)
    if int.from_bytes(lead[2:4], "little") != 5 or pb > 4 or lc + lp > 4:  # noqa: PLR2004 - as LZMA has it
        raise MemberUnreadable(Problem.DAMAGED, "its LZMA header is not one")
    declared = int.from_bytes(lead[5:9], "little")
    # A dictionary larger than the member is never used.
    dictionary = max(min(declared, member.size_bytes), _DICTIONARY_MIN_BYTES)
    if dictionary > limits.window_bytes:
        raise MemberUnreadable(
            Problem.MEMORY,
            f"its dictionary takes {dictionary} bytes, {limits.window_bytes} are allowed: raise "
            "MemorySize",
        )
    filters = [{"id": lzma.FILTER_LZMA1, "dict_size": dictionary, "lc": lc, "lp": lp, "pb": pb}]
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)
