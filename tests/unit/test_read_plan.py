"""The rule for connections and part sizes, and its use of memory."""

from hypothesis import given
from hypothesis import strategies as st

from bucketsum.s3.read_plan import STREAMS_MAX, ReadPolicy

MIB = 1024 * 1024
MEMORY = st.integers(128, 10_240)
CHUNKS = st.integers(16 * 1024, 512 * MIB)
SIZES = st.integers(0, 10**13)


@given(count=st.integers(1, STREAMS_MAX), chunk_bytes=CHUNKS, memory_mb=MEMORY, size=SIZES)
def test_a_number_is_a_number(count: int, chunk_bytes: int, memory_mb: int, size: int) -> None:
    """Who asks for so many connections gets them, and parts of the chunk's size, at any size."""
    plan = ReadPolicy(count, chunk_bytes, memory_mb).plan_for(size)
    assert (plan.streams, plan.part_bytes) == (count, chunk_bytes)
    assert plan.splits(size) == (count > 1 and size > chunk_bytes)


@given(
    count=st.none() | st.integers(1, STREAMS_MAX), chunk_bytes=CHUNKS, memory_mb=MEMORY, size=SIZES
)
def test_no_plan_holds_more_than_is_said(
    count: int | None, chunk_bytes: int, memory_mb: int, size: int
) -> None:
    """The memory that the settings check is that of the worst object, botocore's turn included."""
    streams = ReadPolicy(count, chunk_bytes, memory_mb)
    plan = streams.plan_for(size)
    assert streams.held_bytes >= 2 * chunk_bytes
    if plan.streams > 1:
        assert streams.held_bytes >= (plan.streams + 1) * plan.part_bytes


@given(memory_mb=MEMORY)
def test_auto_reads_small_objects_in_one_request(memory_mb: int) -> None:
    """A second request costs more than it brings, however large the function."""
    assert ReadPolicy(None, MIB, memory_mb).plan_for(16 * MIB - 1).streams == 1


@given(memory_mb=st.integers(128, 511), size=SIZES)
def test_auto_reads_in_one_stream_where_requests_cost_more_than_time(
    memory_mb: int, size: int
) -> None:
    """Below 512 MB a further request costs more than the time that it saves."""
    assert ReadPolicy(None, MIB, memory_mb).plan_for(size).streams == 1


@given(memory_mb=MEMORY, size=SIZES)
def test_auto_takes_little_of_the_memory(memory_mb: int, size: int) -> None:
    """Parts in order take less than an eighth of the function's memory, and are never tiny."""
    plan = ReadPolicy(None, MIB, memory_mb).plan_for(size)
    assert plan.held_bytes <= memory_mb * MIB / 8
    assert plan.streams == 1 or plan.part_bytes >= 8 * MIB


@given(low=MEMORY, high=MEMORY, size=SIZES)
def test_auto_never_has_fewer_streams_with_more_memory(low: int, high: int, size: int) -> None:
    """More memory is more CPU: it never makes reading narrower."""
    low, high = sorted((low, high))
    narrow, wide = (ReadPolicy(None, MIB, memory_mb).plan_for(size) for memory_mb in (low, high))
    assert narrow.streams <= wide.streams


@given(
    count=st.none() | st.integers(1, STREAMS_MAX), chunk_bytes=CHUNKS, memory_mb=MEMORY,
    size=st.integers(0, 10**10),
)  # fmt: skip
def test_requests_cover_the_object_once(
    count: int | None, chunk_bytes: int, memory_mb: int, size: int
) -> None:
    """So many parts are the object: one request fewer would not reach."""
    plan = ReadPolicy(count, chunk_bytes, memory_mb).plan_for(size)
    requests = plan.requests(size)
    if plan.splits(size):
        assert (requests - 1) * plan.part_bytes < size <= requests * plan.part_bytes
    else:
        assert requests == 1
