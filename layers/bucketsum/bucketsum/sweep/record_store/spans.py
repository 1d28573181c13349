"""Spans of an object to request: aligned to blocks, or merged over short gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bucketsum.sweep.record_store.index import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def block_span(wanted: Span, block_bytes: int, size_bytes: int) -> Span:
    """The whole blocks that *wanted* lies in; the object's last block may be shorter."""
    offset = wanted.offset // block_bytes * block_bytes
    end = -(-wanted.end // block_bytes) * block_bytes
    return Span(offset, min(end, size_bytes))


def merged(wanted: Iterable[Span], gap_bytes: int, longest_bytes: int) -> Iterator[Span]:
    """Spans that cover all of *wanted*, in order and without overlap: O(n log n).

    Neighbours at most *gap_bytes* apart are joined as long as the result has at most
    *longest_bytes*; a longer one in *wanted* stays whole.
    """
    ordered = sorted(wanted)
    if not ordered:
        return
    offset, end = ordered[0]
    for following in ordered[1:]:
        joined = max(end, following.end)
        overlaps = following.offset < end
        if overlaps or (following.offset - end <= gap_bytes and joined - offset <= longest_bytes):
            end = joined
        else:
            yield Span(offset, end)
            offset, end = following
    yield Span(offset, end)
