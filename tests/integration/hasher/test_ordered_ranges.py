"""Objects read by several requests at a time: order, breaks, cost."""

import threading
import time
import tracemalloc
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from mypy_boto3_s3 import S3Client
from tests.integration.hasher.reading import BODY, PATH, Reader, arrival_of
from tests.integration.hasher.scripted_plan import REST, ScriptedPlan
from tests.support.s3_faults import Fault, StoredObject
from tests.support.s3_server import HostileS3

from bucketsum.errors import ObjectSuperseded, ObjectUnreadable, SourceInterrupted
from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.curl_connections import HELD_BYTES
from bucketsum.s3.read_plan import ReadPlan
from bucketsum.s3.source import OpenObject

MIB: Final = 1024 * 1024
RANGES: Final = Reader(3)
HELD_LIMIT_SECONDS: Final = 30
FAULTS: Final = st.one_of(
    st.builds(
        Fault,
        cut_after=st.integers(0, 20_000),
        gently=st.booleans(),
        piece_bytes=st.sampled_from([100, 4096, 65_536]),
    ),
    st.just(Fault(hang_up=True)),
    st.just(Fault(refuse=(503, "SlowDown", "Please reduce your request rate."))),
    st.just(Fault()),
)
PLANS: Final = st.builds(
    ScriptedPlan,
    streams=st.integers(1, 6),
    part_bytes=st.integers(1000, 20_000),
    script=st.lists(st.integers(1, 6) | st.just(REST), max_size=8).map(tuple),
)


def opened(client: S3Client, stored: StoredObject, plan: ReadPlan) -> OpenObject:
    """The object, opened by *plan*."""
    return RANGES.source(client, plan=plan).open(arrival_of(stored))


def ranges_asked(hostile: HostileS3) -> list[str]:
    """The ranges that were asked for, in the object's order; empty for a request of all of it."""
    ranges = [request.headers.get("range", "") for request in hostile.requests]
    return sorted(ranges, key=lambda text: int(text.removeprefix("bytes=").partition("-")[0] or 0))


def stall_the_first(hostile: HostileS3, body: bytes, held_bytes: int = 0) -> ObjectCreated:
    """An object whose first part stops after 100,000 bytes.

    It goes on half a second after *held_bytes* are held, if memory is traced: time to hold more.
    Its event names no entity tag, so that the first part is asked for alone, and first.
    """

    def go_on() -> None:
        give_up_at = time.monotonic() + HELD_LIMIT_SECONDS
        while tracemalloc.get_traced_memory()[0] < held_bytes and time.monotonic() < give_up_at:
            time.sleep(0.01)
        time.sleep(0.5)
        hostile.resume()

    hostile.script(
        Fault(piece_bytes=100_000, pause=lambda sent: hostile.stall(sent) if sent else None)
    )
    threading.Thread(target=go_on, daemon=True).start()
    return replace(arrival_of(hostile.put(PATH, body)), etag=None)


@given(
    size=st.integers(0, 60_000),
    offset=st.just(0) | st.integers(0, 59_999),
    reader=st.sampled_from([Reader(0), RANGES]),
    plan=PLANS,
    faults=st.lists(FAULTS, max_size=4),
)
@hypothesis_settings(max_examples=200)
def test_from_any_offset_the_rest_comes_once_and_in_order(
    running: tuple[HostileS3, S3Client],
    size: int,
    offset: int,
    reader: Reader,
    plan: ReadPlan,
    faults: list[Fault],
) -> None:
    """Any size, offset, reader, plan and fault: the bytes from the offset on."""
    s3, client = running
    stored = s3.put(PATH, (BODY * 6)[:size])
    client.close()  # a connection that an earlier example broke would be one more fault
    # Before a first byte, botocore tries four times, libcurl and botocore together five times.
    s3.script(*faults[: 4 if reader.streams else 3])
    offset %= size or 1
    rest = reader.source(client, plan=plan).open(arrival_of(stored), offset)
    assert rest.size_bytes == size - offset
    assert b"".join(rest.chunks) == stored.body[offset:]
    s3.forget_script()


def test_parts_cover_the_object_once(hostile: HostileS3, client: S3Client) -> None:
    """Each byte is asked for once, in parts of the size that was asked for."""
    reading = opened(client, hostile.put(PATH, BODY), ReadPlan(3, 4000))
    assert b"".join(reading.chunks) == BODY
    assert ranges_asked(hostile) == ["bytes=0-3999", "bytes=4000-7999", "bytes=8000-"]
    assert reading.streams == 3


@pytest.mark.parametrize(("plan", "parts"), [(ReadPlan(2, 1000), 11), (ReadPlan(16, 8000), 2)])
def test_no_more_connections_than_streams_and_parts(
    hostile: HostileS3, client: S3Client, plan: ReadPlan, parts: int
) -> None:
    """A part takes the connection that another has left; two parts are read by two connections."""
    reading = opened(client, hostile.put(PATH, BODY), plan)
    assert b"".join(reading.chunks) == BODY
    assert (len(hostile.requests), hostile.connections, reading.streams) == (parts, 2, 2)


def test_an_object_of_one_part_is_read_in_one_request(hostile: HostileS3, client: S3Client) -> None:
    """A range that is all of the object is not asked for as a range: an empty one has none."""
    reading = opened(client, hostile.put(PATH, BODY), ReadPlan(16, len(BODY)))
    assert b"".join(reading.chunks) == BODY
    assert (ranges_asked(hostile), reading.streams) == ([""], 1)


def test_when_one_stream_is_enough_one_request_brings_the_rest(
    hostile: HostileS3, client: S3Client
) -> None:
    """Parts are asked for as long as they pay; those that have begun are read to their end."""
    plan = ScriptedPlan(2, 1000, script=(REST,))
    assert b"".join(opened(client, hostile.put(PATH, BODY), plan).chunks) == BODY
    *parts, rest = ranges_asked(hostile)
    assert len(parts) <= plan.streams + 1
    assert rest == f"bytes={1000 * len(parts)}-"


def test_with_one_stream_a_part_waits_for_the_one_before(
    hostile: HostileS3, client: S3Client
) -> None:
    """While a response is held back, nothing else is asked for."""
    plan = ScriptedPlan(3, 1000, script=(1,))
    counts: list[int] = []

    def hold(sent: int) -> None:
        counts.append(len(hostile.requests))
        hostile.stall(sent)
        counts.append(len(hostile.requests))

    beginning = [Fault()] * (plan.streams + 1)
    hostile.script(*beginning, Fault(pause=hold))
    threading.Timer(0.3, hostile.resume).start()
    assert b"".join(opened(client, hostile.put(PATH, BODY), plan).chunks) == BODY
    before, after = counts
    assert before == after


def test_more_streams_are_used_at_once(hostile: HostileS3, client: S3Client) -> None:
    """After a number that was too small, the next requests run at the same time."""
    together = threading.Barrier(3, timeout=60)
    for first_byte in (0, 1000):
        hostile.script_from(first_byte, Fault())
    hostile.always = Fault(pause=lambda _: together.wait())
    plan = ScriptedPlan(3, 1000, script=(1, 3))
    stored = hostile.put(PATH, BODY[:8000])
    assert b"".join(opened(client, stored, plan).chunks) == stored.body


def test_parts_wait_for_their_turn_within_bounds(hostile: HostileS3, client: S3Client) -> None:
    """While the first part stalls, no more than streams + 1 parts are asked for and held."""
    arrival = stall_the_first(hostile, bytes(32 * MIB), 3 * MIB)
    plan = ReadPlan(3, MIB)
    chunks = RANGES.source(client, plan=plan).open(arrival).chunks
    tracemalloc.start()
    try:
        got = 0
        while got <= 100_000:  # more came only after the stall
            requests = len(hostile.requests)
            got += len(next(chunks))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        chunks.close()
    assert requests <= plan.streams + 1
    assert 2 * MIB < peak <= (plan.streams + 1) * plan.part_bytes + HELD_BYTES


def test_without_an_etag_the_first_response_gives_it(hostile: HostileS3, client: S3Client) -> None:
    """An event that names no entity tag still gets all its parts from one object."""
    arrival = replace(arrival_of(hostile.put(PATH, BODY)), etag=None)
    source = RANGES.source(client, plan=ReadPlan(3, 1000))
    assert b"".join(source.open(arrival).chunks) == BODY
    conditions = [request.headers.get("if-match") for request in hostile.requests]
    assert conditions == [None, *[f'"{hostile.put(PATH, BODY).etag}"'] * 10]


def test_overwritten_between_parts(hostile: HostileS3, client: S3Client) -> None:
    """Parts of two objects never make one digest: superseded."""
    stored = hostile.put(PATH, BODY)
    hostile.script(Fault(), Fault(pause=lambda _: hostile.put(PATH, BODY[::-1])))
    with pytest.raises(ObjectSuperseded):
        b"".join(opened(client, stored, ReadPlan(2, 1000)).chunks)


def test_a_store_that_ignores_ranges_is_read_in_one_stream(
    hostile: HostileS3, client: S3Client
) -> None:
    """The embedded AWS sends all of an object where a version is named: then that is read."""
    stored = hostile.put(PATH, BODY, "v1")
    hostile.always = Fault(ignore_range=True)
    reading = opened(client, stored, ReadPlan(3, 1000))
    assert b"".join(reading.chunks) == BODY
    assert reading.streams == 1
    assert all(request.by_libcurl for request in hostile.requests)


def test_a_throttled_part_is_asked_for_again(hostile: HostileS3, client: S3Client) -> None:
    """One SlowDown costs one request, not the other parts and not the object."""
    slow_down = Fault(refuse=(503, "SlowDown", "Please reduce your request rate."))
    hostile.script(Fault(), Fault(), slow_down)
    reading = opened(client, hostile.put(PATH, BODY), ReadPlan(2, 1000))
    assert b"".join(reading.chunks) == BODY
    assert len(hostile.requests) == 12
    assert all(request.by_libcurl for request in hostile.requests)


def test_a_refused_part_is_explained_by_botocore(hostile: HostileS3, client: S3Client) -> None:
    """After an unusual response, botocore continues at the first byte not yet passed on."""
    stored = hostile.put(PATH, BODY)

    def close_up(_sent: int) -> None:
        hostile.always = Fault(refuse=(403, "AccessDenied", "Access Denied"))

    hostile.script(Fault(pause=close_up), Fault())
    chunks = opened(client, stored, ReadPlan(2, 1000)).chunks
    got: list[bytes] = []
    with pytest.raises(ObjectUnreadable, match="Access Denied"):
        got.extend(chunks)
    [last] = [request for request in hostile.requests if not request.by_libcurl]
    assert last.headers["range"] == f"bytes={len(b''.join(got))}-"


def test_parts_resume_within_bounds(hostile: HostileS3, client: S3Client) -> None:
    """However many parts there are, an object is continued ten times and no more."""
    hostile.always = Fault(cut_after=5, gently=True)
    with pytest.raises(SourceInterrupted, match=r"broke 11 times, last at byte \d+ of 10240"):
        b"".join(opened(client, hostile.put(PATH, BODY), ReadPlan(3, 1000)).chunks)


def test_a_part_resumes_where_it_broke(hostile: HostileS3, client: S3Client) -> None:
    """Bytes of a part that have come are not requested again."""
    hostile.script(Fault(), Fault(cut_after=300, gently=True))
    reading = opened(client, hostile.put(PATH, BODY), ReadPlan(2, 6000))
    assert b"".join(reading.chunks) == BODY
    assert ranges_asked(hostile) in (
        ["bytes=0-5999", "bytes=6000-", "bytes=6300-"],
        ["bytes=0-5999", "bytes=300-5999", "bytes=6000-"],  # the second request came in first
    )


def peak_of(client: S3Client, arrival: ObjectCreated, plan: ReadPlan) -> int:
    """The most memory that reading *arrival* to its end takes."""
    tracemalloc.start()
    try:
        size = sum(map(len, RANGES.source(client, plan=plan).open(arrival).chunks))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size == arrival.size_bytes
    return peak


def test_the_last_request_waits_for_its_turn(hostile: HostileS3, client: S3Client) -> None:
    """One request for all the rest comes when nothing is left to hold it back for."""
    arrival = stall_the_first(hostile, bytes(48 * MIB))
    peak = peak_of(client, arrival, ScriptedPlan(2, MIB, script=(REST,)))
    assert peak <= 3 * MIB + HELD_BYTES


def test_answers_that_are_too_long_are_given_up(hostile: HostileS3, client: S3Client) -> None:
    """Where ranges are ignored, one answer is read and the others are not held beside it."""
    hostile.always = Fault(ignore_range=True)
    arrival = arrival_of(hostile.put(PATH, bytes(48 * MIB)))
    assert peak_of(client, arrival, ReadPlan(3, MIB)) <= 4 * MIB + HELD_BYTES


def test_stopping_early_lets_go_of_what_came(hostile: HostileS3, client: S3Client) -> None:
    """Who closes the chunks has the memory back, though the connections wait for another object."""
    arrival = stall_the_first(hostile, bytes(32 * MIB), 3 * MIB)
    source = RANGES.source(client, plan=ReadPlan(3, 4 * MIB))
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        chunks = source.open(arrival).chunks
        got = 0
        while got <= 100_000:
            got += len(next(chunks))
        chunks.close()
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before > 2 * MIB
    assert after - before < MIB


def test_stopping_early_asks_for_nothing_more(hostile: HostileS3, client: S3Client) -> None:
    """Who closes the chunks gives up every part, and the next object finds a clean slate."""
    stored = hostile.put(PATH, bytes(8 * MIB))
    source = RANGES.source(client, plan=ReadPlan(3, MIB))
    chunks = source.open(arrival_of(stored)).chunks
    next(chunks)
    chunks.close()
    assert len(hostile.requests) <= 4
    other = hostile.put(PATH, BODY)
    assert b"".join(source.open(arrival_of(other)).chunks) == BODY
