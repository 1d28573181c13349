"""Recorded rows are found again, whole, by key, by object and by content."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_dynamodb.type_defs import BatchGetItemOutputTypeDef
from tests.integration.table.rows import fresh_key, fresh_sha1, place, row

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.errors import TableBusy
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.items import SHA1_SHARDS, SIZE_MAX, item_of
from bucketsum.table.row_parts import ArchiveRecord, MemberRecord, ReadSetup, Timing
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum.table.sequencer import comparable_sequencer

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=256)
HEX = st.text("0123456789abcdef", min_size=40, max_size=40)
MOMENTS = st.datetimes().map(lambda moment: f"{moment.isoformat()}Z")
COUNTS = st.integers(0, 2**63 - 1)
THOUSANDTHS = st.integers(0, 10**12).map(lambda number: number / 1000)  # as precise as is kept

ROWS = st.builds(
    Row,
    bucket=st.text("abcdefghijklmnopqrstuvwxyz0123456789.-", min_size=3, max_size=63),
    key=KEYS,
    entry=st.just("null") | st.uuids().map(str),
    status=st.just(Status.HASHED),
    size_bytes=st.integers(0, SIZE_MAX),
    sequencer=st.text("0123456789ABCDEF", min_size=1, max_size=32).map(comparable_sequencer),
    arrived_at=MOMENTS,
    recorded_at=TEXTS,
    etag=st.none() | TEXTS,
    sha1=st.text("0123456789abcdef", min_size=40, max_size=40),
    digests=st.dictionaries(st.sampled_from(EXTRA_ALGORITHMS), HEX),
    reason=st.none() | TEXTS,
    timing=st.none() | st.builds(Timing, THOUSANDTHS, THOUSANDTHS),
    setup=st.none() | st.builds(ReadSetup, COUNTS, COUNTS, COUNTS),
    member=st.none() | st.builds(MemberRecord, TEXTS, TEXTS, TEXTS, COUNTS),
    remarks=st.lists(st.text("abc-", min_size=1)).map(tuple),
    archive=st.none()
    | st.builds(
        ArchiveRecord,
        *(st.sampled_from(ArchiveStatus), st.sampled_from(Mode)),
        *(COUNTS, COUNTS, COUNTS, COUNTS, THOUSANDTHS),
        reason=st.none() | TEXTS,
    ),
    deletion=st.none(),
)
UNREADABLE = ROWS.map(lambda row: replace(row, status=Status.UNREADABLE, sha1=None))


def by_place(rows: list[Row]) -> dict[RowKey, Row]:
    """Rows under where they are kept."""
    return {place(recorded): recorded for recorded in rows}


@given(drawn=ROWS | UNREADABLE)
def test_any_row_comes_back_the_same(digests_table: DigestsTable, drawn: Row) -> None:
    """Every field of a row, present or absent, survives the table."""
    recorded = replace(drawn, key=f"{drawn.key}{fresh_key()}")
    digests_table.record(recorded)
    assert digests_table.row_at(place(recorded)) == recorded


def test_what_was_not_recorded_is_none(digests_table: DigestsTable) -> None:
    """An absent row is an answer, not an error."""
    assert digests_table.row_at(RowKey("inbox", fresh_key(), "null")) is None


@pytest.mark.parametrize("entry", ["null", "v" * 1024])
def test_longest_names_are_recorded_and_found(digests_table: DigestsTable, entry: str) -> None:
    """S3's longest bucket, key and version fit the table's keys and its index."""
    longest = row("k" * 1024, "0A", bucket="b" * 255, entry=entry, sha1=fresh_sha1())
    digests_table.record(longest)
    assert digests_table.with_sha1(longest.sha1 or "") == [longest]


def test_rows_of_more_places_than_one_request_takes(digests_table: DigestsTable) -> None:
    """DynamoDB takes 100 keys at a time and refuses doubles; the caller need not know."""
    rows = [row(fresh_key(), "0A", sha1=fresh_sha1()) for _ in range(205)]
    for recorded in rows:
        digests_table.record(recorded)
    absent = [RowKey("inbox", fresh_key(), "null") for _ in range(10)]
    twice = [row_key for row_key in (*by_place(rows), *absent) for _ in range(2)]
    assert digests_table.rows_at(twice) == by_place(rows)


def test_rows_of_no_places_are_none(digests_table: DigestsTable) -> None:
    """DynamoDB would refuse an empty request; none is made."""
    assert digests_table.rows_at([]) == {}


class BetweenTheLines:
    """A DynamoDB whose BatchGetItem a test can bend; all else is the real one's."""

    def __init__(self, dynamodb: DynamoDBClient, bend: Callable[..., Any]) -> None:
        self._dynamodb = dynamodb
        self._bend = bend

    def batch_get_item(self, **request: Any) -> BatchGetItemOutputTypeDef:  # noqa: ANN401 - as boto3's
        """The test's own response to the request."""
        answer: BatchGetItemOutputTypeDef = self._bend(self._dynamodb.batch_get_item, request)
        return answer

    def __getattr__(self, name: str) -> object:
        return getattr(self._dynamodb, name)


def bent(dynamodb: DynamoDBClient, table: str, bend: Callable[..., Any]) -> DigestsTable:
    """A table on a DynamoDB that *bend* gets in the way of."""
    return DigestsTable(cast("DynamoDBClient", BetweenTheLines(dynamodb, bend)), table)


def test_unprocessed_keys_are_asked_for_again(
    dynamodb: DynamoDBClient, table_name: str, digests_table: DigestsTable
) -> None:
    """DynamoDB may leave keys unprocessed under load; no row may be missing for it."""
    rows = [row(fresh_key(), "0A") for _ in range(110)]
    for recorded in rows:
        digests_table.record(recorded)

    def process_seven(get: Callable[..., Any], request: dict[str, Any]) -> dict[str, Any]:
        keys = request["RequestItems"][table_name]["Keys"]
        answer = get(RequestItems={table_name: {"Keys": keys[:7]}})
        left = {table_name: {"Keys": keys[7:]}} if keys[7:] else {}
        return {**answer, "UnprocessedKeys": left}

    reluctant = bent(dynamodb, table_name, process_seven)
    assert reluctant.rows_at(by_place(rows)) == by_place(rows)


def test_a_table_that_reads_nothing_ends_the_wait(
    dynamodb: DynamoDBClient, table_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys that stay unprocessed are an error after some attempts, not a loop without end."""
    monkeypatch.setattr("bucketsum.table.digests_table._THROTTLED_PAUSE_SECONDS", 0)

    def process_none(_: object, request: dict[str, Any]) -> dict[str, Any]:
        return {"Responses": {}, "UnprocessedKeys": request["RequestItems"]}

    throttled = bent(dynamodb, table_name, process_none)
    with pytest.raises(TableBusy, match="none of 110 rows in 8 attempts"):
        throttled.rows_at(by_place([row(fresh_key(), "0A") for _ in range(110)]))


@contextmanager
def pages_of(dynamodb: DynamoDBClient, limit: int) -> Iterator[None]:
    """DynamoDB answers queries in pages of 1 MB; here they end after *limit* items."""

    def limited(params: dict[str, Any], **_: object) -> None:
        params["Limit"] = limit

    event = "provide-client-params.dynamodb.Query"
    dynamodb.meta.events.register(event, limited)
    try:
        yield
    finally:
        dynamodb.meta.events.unregister(event, limited)


def test_versions_come_newest_first(digests_table: DigestsTable, dynamodb: DynamoDBClient) -> None:
    """Version ids say nothing of time; the sequencer does. Every page is read."""
    key = fresh_key()
    rows = [row(key, f"{number:04X}", entry=f"v{number * 7 % 10}") for number in range(10)]
    for recorded in rows:
        digests_table.record(recorded)
    with pages_of(dynamodb, limit=3):
        assert digests_table.versions_of("inbox", key) == rows[::-1]


def test_versions_are_of_one_object_alone(digests_table: DigestsTable) -> None:
    """Neither a longer key nor the same key in another bucket is this object."""
    wanted = row(fresh_key(), "0A")
    for other in (
        replace(wanted, key=f"{wanted.key}/x"),
        replace(wanted, bucket="inbox-2"),
        wanted,
    ):
        digests_table.record(other)
    assert digests_table.versions_of(wanted.bucket, wanted.key) == [wanted]
    assert digests_table.versions_of(wanted.bucket, "never-seen") == []


def test_content_is_found_wherever_it_is(
    digests_table: DigestsTable, dynamodb: DynamoDBClient
) -> None:
    """Every bucket, key and version with this content, in order; nothing else. All pages."""
    sha1, key = fresh_sha1(), fresh_key()
    expected = [
        row(key, "0A", sha1=sha1, bucket="aaa"),
        row(f"{key}/1", "0A", sha1=sha1, entry="z", arrived_at="2026-01-01T00:00:00Z"),
        row(f"{key}/1", "0B", sha1=sha1, entry="a", arrived_at="2026-01-02T00:00:00Z"),
        *(row(f"{key}/{number}", "0A", sha1=sha1) for number in range(2, 10)),
    ]
    for recorded in reversed(expected):
        digests_table.record(recorded)
    digests_table.record(row(f"{key}/other", "0A", sha1=fresh_sha1()))
    with pages_of(dynamodb, limit=3):
        assert digests_table.with_sha1(sha1) == expected


def test_unknown_content_is_nowhere(digests_table: DigestsTable) -> None:
    """Content that never landed has no rows."""
    assert digests_table.with_sha1(fresh_sha1()) == []


def test_content_that_has_changed_is_not_found(
    dynamodb: DynamoDBClient, table_name: str, digests_table: DigestsTable
) -> None:
    """An index trails its table: what it still names but is gone is left out."""
    sha1 = fresh_sha1()
    kept, changed = (row(fresh_key(), "0A", sha1=sha1) for _ in range(2))
    digests_table.record(kept)
    digests_table.record(changed)

    def overwritten(get: Callable[..., Any], request: dict[str, Any]) -> object:
        digests_table.record(row(changed.key, "0B", sha1=fresh_sha1()))
        return get(**request)

    assert bent(dynamodb, table_name, overwritten).with_sha1(sha1) == [kept]


def test_equal_content_is_spread_over_shards_and_found(digests_table: DigestsTable) -> None:
    """Many objects of one SHA-1 do not share one key of the index, and each of them is found."""
    sha1 = fresh_sha1()
    rows = [row(fresh_key(), "0A", sha1=sha1) for _ in range(64)]
    for equal in rows:
        digests_table.record(equal)
    assert {(match.key, match.sha1) for match in digests_table.with_sha1(sha1)} == {
        (equal.key, sha1) for equal in rows
    }
    items = [item_of(equal)["sha1_shard"]["S"] for equal in rows]
    assert len(set(items)) > SHA1_SHARDS // 2
    assert {item.partition("#")[0] for item in items} == {sha1}


def test_the_index_can_be_left_out_and_used_again(
    dynamodb: DynamoDBClient, table_name: str
) -> None:
    """A row is in the index if it was written with it, whatever the table says of older rows."""
    with_index = DigestsTable(dynamodb, table_name)
    without = DigestsTable(dynamodb, table_name, has_sha1_index=False)
    sha1 = fresh_sha1()
    before, meanwhile, after = (row(fresh_key(), "0A", sha1=sha1) for _ in range(3))
    for table, written in ((with_index, before), (without, meanwhile), (with_index, after)):
        table.record(written)
    keys = {match.key for match in with_index.with_sha1(sha1)}
    assert keys == {match.key for match in without.with_sha1(sha1)} == {before.key, after.key}
    assert with_index.row_at(RowKey(meanwhile.bucket, meanwhile.key, meanwhile.entry)) == meanwhile
    newer = [
        replace(digest, sequencer=comparable_sequencer("0B")) for digest in (before, meanwhile)
    ]
    without.record(newer[0])
    with_index.record(newer[1])
    keys = {match.key for match in with_index.with_sha1(sha1)}
    assert keys == {meanwhile.key, after.key}
