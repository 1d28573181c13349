"""Spans to request: blocks around a record, and merged ranges."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bucketsum_lab.workloads.records.index import Span
from bucketsum_lab.workloads.records.s3_readers import block_span, merged

SPANS = st.builds(
    lambda offset, length: Span(offset, offset + length),
    st.integers(0, 5_000),
    st.integers(1, 200),
)


@given(SPANS, st.integers(1, 600))
def test_blocks_cover_the_record_and_no_more(wanted: Span, block_bytes: int) -> None:
    """Whole blocks, of which the first and the last have a byte of the record."""
    size_bytes = 5_300
    offset, end = block_span(wanted, block_bytes, size_bytes)
    assert offset % block_bytes == 0
    assert end % block_bytes == 0 or end == size_bytes
    assert offset <= wanted.offset < offset + block_bytes
    assert end - block_bytes < wanted.end <= end


@given(st.lists(SPANS, max_size=40), st.integers(0, 400), st.integers(1, 3_000))
def test_merged_spans_cover_all_and_keep_the_limits(
    wanted: list[Span], gap_bytes: int, longest_bytes: int
) -> None:
    """They are in order, do not overlap, and join what may be joined."""
    spans = list(merged(wanted, gap_bytes, longest_bytes))
    needed = {place for offset, end in wanted for place in range(offset, end)}
    read = {place for offset, end in spans for place in range(offset, end)}
    assert needed <= read
    assert sum(end - offset for offset, end in spans) == len(read)
    for before, other in pairwise(spans):
        assert other.offset >= before.end
        too_far = other.offset - before.end > gap_bytes
        next_end = min(end for offset, end in wanted if offset == other.offset)
        assert too_far or next_end - before.offset > longest_bytes
    for offset, end in spans:
        ends = {span.end for span in wanted}
        assert offset in {span.offset for span in wanted}
        assert end in ends
        for place in set(range(offset, end)) - needed:
            hole = next(later for later in range(place, end) if later in needed)
            start = next(earlier for earlier in range(place, offset - 1, -1) if earlier in needed)
            assert hole - start - 1 <= gap_bytes


@given(st.lists(SPANS, max_size=40))
def test_without_limits_there_is_one_span(wanted: list[Span]) -> None:
    """And without records there is none."""
    spans = list(merged(wanted, gap_bytes=10_000, longest_bytes=10_000))
    assert len(spans) == bool(wanted)
