"""The enqueuer: every object is queued, whatever interrupts it, and no faster than needed."""

import gzip
import hashlib
import json
import re
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any, Final
from unittest.mock import Mock
from urllib.parse import quote

import pytest
from moto import mock_aws
from tests.support.clients import shared_client
from tests.support.moto_state import set_up
from tests.support.sam_template import create_table

from bucketsum.backfill import enqueue, listing
from bucketsum.backfill.backfill_records import (
    Backfill,
    BackfillStatus,
    Part,
    Tally,
    is_complete,
)
from bucketsum.backfill.counts import object_hash
from bucketsum.backfill.enqueue import BackfillQueue, Enqueuer, reader_of
from bucketsum.backfill.inventory import ROWS_PER_PAGE, InventoryFile, InventoryReader, Manifest
from bucketsum.backfill.listing import Page
from bucketsum.backfill.messages import listed_objects_in
from bucketsum.backfill.plan import shares_of
from bucketsum.backfill.table import BackfillsTable
from bucketsum.errors import BadInventory, DamagedItem
from bucketsum.events.object_events import ObjectCreated
from bucketsum.invocation.deadline import Deadline

BUCKET: Final = "photos"
PLENTY: Final = Deadline(lambda: 900.0)
BACKFILL: Final = Backfill(
    "20261121T100000-3f9a1c", BUCKET, BackfillStatus.RUNNING, "2026-11-21T10:00:00.000+00:00"
)
BACKFILLS_KEY: Final = {"backfill": {"S": "backfills"}, "item": {"S": BACKFILL.backfill_id}}
FOLDERS: Final = "bcde"
MOMENT: Final = "2026-11-20T10:00:00.000Z"
KEYS: Final = sorted(
    [
        "a",
        "z+ü %",
        *(f"{folder}/" for folder in FOLDERS),  # moto skips a key after a marker that is not a key
        *(f"{folder}/{n:03d}" for folder in FOLDERS for n in range(12)),
    ]
)


def put_keys() -> None:
    """Put an object at each of `KEYS`."""
    for key in KEYS:
        shared_client("s3").put_object(Bucket=BUCKET, Key=key, Body=key.encode())


class World:
    """A bucket, a queue and a table of moto."""

    def __init__(self) -> None:
        self.s3 = shared_client("s3")
        self.sqs = shared_client("sqs")
        dynamodb = shared_client("dynamodb")
        self.s3.create_bucket(Bucket=BUCKET)
        self.s3.create_bucket(Bucket="inventories")
        create_table(dynamodb, "BackfillsTable", "backfills")
        self.table = BackfillsTable(dynamodb, "backfills")
        self.url = self.sqs.create_queue(QueueName="backfill")["QueueUrl"]
        self.objects: list[ObjectCreated] = []

    def keep_versions(self) -> None:
        """Keep the versions of objects from now on."""
        status: Any = {"Status": "Enabled"}
        self.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration=status)

    def put(self, *keys: str) -> None:
        """Put an object at each key; its content is the key."""
        for key in keys:
            self.s3.put_object(Bucket=BUCKET, Key=key, Body=key.encode())

    def run(self, backfill: Backfill, concurrency: int = 10, deadline: Deadline = PLENTY) -> int:
        """Plan and queue once; returns the number of enqueuers."""
        current = self.table.backfill(backfill.backfill_id)
        if current is None:
            self.table.record(backfill)
            current = backfill
        shares = shares_of(self.s3, self.table, current, concurrency)
        enqueuer = Enqueuer(self.table, BackfillQueue(self.sqs, self.url, concurrency), 0)
        for share in shares:
            enqueuer.enqueue(current, share, reader_of(self.s3, current), deadline)
        return len(shares)

    def queued(self) -> list[tuple[str, str | None]]:
        """Keys and versions of the objects in the queue, which is empty afterwards."""
        objects: list[ObjectCreated] = []
        while messages := self.sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10).get(
            "Messages"
        ):
            for message in messages:
                self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
                objects += listed_objects_in(message["Body"]).objects
        self.objects = objects
        return sorted((listed.key, listed.version_id) for listed in objects)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A world whose pages are small."""
    monkeypatch.setattr(listing, "PAGE_OBJECTS", 7)
    with mock_aws():
        yield World()


@pytest.mark.parametrize("concurrency", [10, 40, 100])
def test_each_key_is_queued_once(world: World, concurrency: int) -> None:
    """Ranges of keys have neither gaps nor overlaps, and their end is recorded."""
    set_up(put_keys)
    world.run(BACKFILL, concurrency)

    assert world.queued() == [(key, None) for key in KEYS]
    parts = world.table.parts(BACKFILL.backfill_id)
    assert all(part.done for part in parts)
    assert (len(parts) > 1) is (concurrency > 20)
    assert sum(part.objects for part in parts) == len(KEYS)
    hashes = sum(map(object_hash, world.objects))
    assert is_complete(parts, Tally(hashed=len(KEYS), object_hashes=hashes))
    assert not is_complete(parts, Tally(hashed=len(KEYS), object_hashes=hashes + 1))
    assert not is_complete(parts, Tally(hashed=len(KEYS) - 1, object_hashes=hashes))
    assert world.run(BACKFILL, concurrency) == 0
    ended = world.table.backfill(BACKFILL.backfill_id)
    assert ended is not None
    assert ended.status is BackfillStatus.QUEUED


def test_parts_of_an_earlier_release_are_complete_by_number(world: World) -> None:
    """They have no sums of hashes, in part or at all; what the hasher counts since then has."""
    set_up(put_keys)
    world.run(replace(BACKFILL, limit=20))
    parts = world.table.parts(BACKFILL.backfill_id)
    old = [replace(part, object_hashes=0) for part in parts]
    assert is_complete(old, Tally(hashed=15, skipped=5, object_hashes=123))
    assert not is_complete(old, Tally(hashed=15, skipped=4, object_hashes=123))
    assert not is_complete(parts, Tally(hashed=15, skipped=5, object_hashes=123))
    assert is_complete([*old, Part(9)], Tally(hashed=20))


def test_a_part_that_an_earlier_release_began_gets_no_partial_sum(world: World) -> None:
    """The sum of some of its objects is of no use."""
    world.put(*KEYS[:20])
    table, backfill_id = world.table, BACKFILL.backfill_id
    table.record(BACKFILL)
    table.record_plan(backfill_id, [Part(0, position=KEYS[6], version="", objects=7)])
    world.run(BACKFILL)
    [part] = table.parts(backfill_id)
    assert (part.objects, part.object_hashes) == (20, 0)


@pytest.mark.parametrize("archived", [False, True])
def test_archived_objects_are_queued_to_be_recorded(world: World, *, archived: bool) -> None:
    """S3 refuses to read GLACIER and DEEP_ARCHIVE, at a price; --archived tries all the same."""
    world.put("a")
    for name in ("GLACIER", "DEEP_ARCHIVE", "STANDARD_IA"):
        storage_class: Any = name
        world.s3.put_object(Bucket=BUCKET, Key=name, Body=b"x", StorageClass=storage_class)
    world.run(replace(BACKFILL, archived=archived))
    assert {key for key, _ in world.queued()} == {"a", "STANDARD_IA", "GLACIER", "DEEP_ARCHIVE"}
    classes = {listed.storage_class for listed in world.objects if listed.storage_class}
    assert classes == (set() if archived else {"GLACIER", "DEEP_ARCHIVE"})
    parts = [part] = world.table.parts(BACKFILL.backfill_id)
    assert (part.archived, part.size_bytes) == ((0, 4) if archived else (2, 2))
    hashes = sum(map(object_hash, world.objects))
    assert is_complete(parts, Tally(hashed=2, archived=2, object_hashes=hashes))


def test_a_limit_does_not_count_what_is_not_read(world: World) -> None:
    """Archived objects before the limit are recorded, however many they are."""
    for number in range(20):
        key, archived = f"{number:03}", number < 15
        storage_class: Any = "GLACIER" if archived else "STANDARD"
        world.s3.put_object(Bucket=BUCKET, Key=key, Body=b"x", StorageClass=storage_class)
    world.run(replace(BACKFILL, limit=3))
    world.queued()
    assert [listed.key for listed in world.objects if not listed.storage_class] == [
        "015", "016", "017",
    ]  # fmt: skip


def test_prefix_and_limit(world: World) -> None:
    """Only keys with the prefix are queued, and no more than the limit."""
    set_up(put_keys)
    world.run(replace(BACKFILL, prefix="c/", limit=5))
    assert world.queued() == [("c/", None), *((f"c/{n:03d}", None) for n in range(4))]


def test_it_goes_on_after_the_last_page(world: World) -> None:
    """Invocations that end after each page queue every object once."""
    set_up(put_keys)
    rounds = 0
    while world.run(BACKFILL, deadline=Deadline(iter([900, 900, 900, 0] * 100).__next__)):
        rounds += 1
    assert rounds > 2
    assert world.queued() == [(key, None) for key in KEYS]


def test_a_page_that_was_sent_without_its_position_is_sent_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An enqueuer that dies between the two loses nothing; the hasher skips what is recorded."""
    set_up(put_keys)

    def dies(*_: object) -> bool:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(BackfillsTable, "advance", dies)
        with pytest.raises(RuntimeError):
            world.run(BACKFILL)
    world.run(BACKFILL)
    assert set(world.queued()) == {(key, None) for key in KEYS}


def test_a_stopped_backfill_queues_nothing(world: World) -> None:
    """A stop is felt at the next page, also by an enqueuer that still runs."""
    set_up(put_keys)
    world.table.record(BACKFILL)
    shares = shares_of(world.s3, world.table, BACKFILL, 10)
    assert world.table.end(BACKFILL.backfill_id, BackfillStatus.STOPPED, MOMENT)
    assert not world.table.end(BACKFILL.backfill_id, BackfillStatus.STOPPED, MOMENT)

    enqueuer = Enqueuer(world.table, BackfillQueue(world.sqs, world.url, 10), 0)
    for share in shares:
        queued = enqueuer.enqueue(BACKFILL, share, reader_of(world.s3, BACKFILL), PLENTY)
        assert queued == (0, ())  # with parts left, it would be invoked again

    assert world.queued() == []


def test_an_invocation_without_time_leaves_its_parts(world: World) -> None:
    """The next invocation goes on with the part that is not done, and with those after it."""
    set_up(put_keys)
    world.table.record(BACKFILL)
    [parts, *_] = shares_of(world.s3, world.table, BACKFILL, 21)
    enqueuer = Enqueuer(world.table, BackfillQueue(world.sqs, world.url, 21), 0)
    time = iter([900.0] * 3 + [0.0] * 9)
    page = reader_of(world.s3, BACKFILL)
    objects, left = enqueuer.enqueue(BACKFILL, parts, page, Deadline(time.__next__))
    assert 0 < objects < len(KEYS)
    assert left == parts[-len(left) :]
    assert enqueuer.enqueue(BACKFILL, left, page, PLENTY)[1] == ()


@pytest.mark.parametrize(("concurrency", "most"), [(2, 5_000), (10, 6_000), (1000, 600_000)])
def test_more_messages_may_wait_for_more_invocations(concurrency: int, most: int) -> None:
    """SQS's number is up to a minute old; 600 messages last an invocation for longer."""
    sqs = Mock()
    queue = BackfillQueue(sqs, "url", concurrency)
    for waiting, full in ((most - 1, False), (most, True)):
        attributes = {"ApproximateNumberOfMessages": str(waiting)}
        sqs.get_queue_attributes.return_value = {"Attributes": attributes}
        assert queue.is_full() is full


def test_a_full_queue_gets_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many messages never wait that they could expire."""
    monkeypatch.setattr(enqueue, "QUEUED_MESSAGES_MIN", 2)
    monkeypatch.setattr(enqueue, "MESSAGES_PER_INVOCATION", 0)
    set_up(put_keys)
    world.run(BACKFILL, deadline=Deadline(iter([*range(60, 0, -1)]).__next__))
    assert len(world.queued()) == 14  # two pages


def test_versions_are_queued_with_their_ids(world: World) -> None:
    """Only the latest without --versions, all with it; delete markers never."""
    world.keep_versions()
    for body in (b"1", b"2"):
        world.s3.put_object(Bucket=BUCKET, Key="twice", Body=body)
    world.put("deleted")
    world.s3.delete_object(Bucket=BUCKET, Key="deleted")

    world.run(BACKFILL)
    latest = world.queued()
    world.run(replace(BACKFILL, backfill_id="2", all_versions=True))
    versions = world.queued()

    assert [key for key, _ in latest] == ["twice"]
    assert [key for key, _ in versions] == ["deleted", "twice", "twice"]
    assert len({version for _, version in versions}) == 3
    assert None not in {version for _, version in versions}


def write_inventory(world: World, *rows: tuple[str, ...], **fields: Any) -> str:  # noqa: ANN401 - JSON
    """An inventory of the bucket in two files; returns the URL of its manifest."""
    files = []
    for number in range(2):
        text = "\n".join(",".join(f'"{value}"' for value in row) for row in rows[number::2])
        body = gzip.compress(text.encode())
        key = f"data/{number}.csv.gz"
        world.s3.put_object(Bucket="inventories", Key=key, Body=body)
        md5 = hashlib.md5(body, usedforsecurity=False).hexdigest()
        files.append({"key": key, "size": len(body), "MD5checksum": md5})
    manifest = {
        "sourceBucket": BUCKET, "destinationBucket": "arn:aws:s3:::inventories",
        "fileFormat": "CSV", "files": files,
        "fileSchema": "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, "
        "ETag",
    }  # fmt: skip
    world.s3.put_object(
        Bucket="inventories", Key="manifest.json", Body=json.dumps(manifest | fields)
    )
    return "s3://inventories/manifest.json"


def test_an_inventory_is_read(world: World) -> None:
    """Keys are decoded, delete markers and older versions left out, and every row is read."""
    rows = [(BUCKET, quote(key), "v1", "true", "false", "3", MOMENT, "e") for key in KEYS]
    rows += [
        (BUCKET, "gone", "v2", "true", "true", "", MOMENT, ""),
        (BUCKET, "old", "v0", "false", "false", "3", MOMENT, "e"),
    ]
    url = write_inventory(world, *rows)

    world.run(replace(BACKFILL, inventory=url))

    assert world.queued() == [(key, "v1") for key in KEYS]


def test_archived_rows_of_an_inventory_are_not_read(world: World) -> None:
    """As in a listing, where the inventory has the storage class."""
    schema = "Key, Size, LastModifiedDate, ETag, StorageClass, IntelligentTieringAccessTier"
    rows = [
        (name, "3", MOMENT, "e", name, "") for name in ("STANDARD_IA", "GLACIER", "DEEP_ARCHIVE")
    ]
    tiers = ("FREQUENT", "INFREQUENT", "ARCHIVE_INSTANT", "ARCHIVE", "DEEP_ARCHIVE")
    rows += [(tier.lower(), "3", MOMENT, "e", "INTELLIGENT_TIERING", tier) for tier in tiers]
    world.run(replace(BACKFILL, inventory=write_inventory(world, *rows, fileSchema=schema)))
    assert len(world.queued()) == len(rows)
    read = sorted(listed.key for listed in world.objects if not listed.storage_class)
    assert read == ["STANDARD_IA", "archive_instant", "frequent", "infrequent"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"fileFormat": "ORC"}, "ORC, not CSV"),
        ({"sourceBucket": "other"}, "lists the bucket other"),
        ({"fileSchema": "Bucket, Key, Size, ETag"}, "no column LastModifiedDate"),
        ({"fileSchema": "Bucket, Key, Size, LastModifiedDate, ETag"}, "all versions"),
        ({"files": 3}, "not the manifest"),
    ],
)
def test_an_inventory_that_cannot_be_used_says_why(
    world: World, fields: dict[str, Any], text: str
) -> None:
    """Before anything is queued; without version IDs, its rows would be other versions'."""
    world.keep_versions()
    url = write_inventory(world, **fields)
    with pytest.raises(BadInventory, match=text):
        world.run(replace(BACKFILL, inventory=url))


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ((BUCKET, "%FF", "v1", "true", "false", "3", MOMENT, "e"), "decode"),
        ((BUCKET, "k" * 1025, "v1", "true", "false", "3", MOMENT, "e"), "1025 bytes"),
        ((BUCKET, "k", "v1", "true", "false", "3 MB", MOMENT, "e"), "invalid literal"),
        ((BUCKET, "k", "v1", "true", "false", "3", "yesterday", "e"), "last_modified"),
        ((BUCKET, "k", "v1", "true", "false", "3", MOMENT, ""), "etag is missing"),
        ((BUCKET, "k", "v1", "true"), "has 4 columns"),
        ((BUCKET, "k\x1b[31m" + "x" * 200_000, "v1"), "field larger|columns"),
        (
            ("another", "k", "v1", "true", "false", "3", MOMENT, "e"),
            r"row 1 of .* is of the bucket 'another'",
        ),
    ],
)
def test_a_row_that_describes_no_object_is_refused(
    world: World, row: tuple[str, ...], text: str
) -> None:
    """The hasher would refuse its message, or hash an object of another key or bucket."""
    url = write_inventory(world, row)
    with pytest.raises(BadInventory, match=text) as error:
        world.run(replace(BACKFILL, inventory=url))
    assert str(error.value).isprintable()


def test_long_rows_take_no_memory() -> None:
    """A page keeps its objects, not the other columns: a small file can expand to long rows."""
    row = f'"k","3","{MOMENT}","e","{"x" * 20_000}"\n'.encode()
    body = gzip.compress(row * ROWS_PER_PAGE, 1)
    s3: Any = Mock(get_object=lambda **_: {"Body": BytesIO(body)})
    columns = ("Key", "Size", "LastModifiedDate", "ETag", "ObjectAccessControlList")
    file = InventoryFile("data/0.csv.gz", len(body), "")
    reader = InventoryReader(s3, BACKFILL, Manifest("inventories", BUCKET, columns, (file,)))
    tracemalloc.start()
    try:
        page = reader.next_page(Part(0, file="data/0.csv.gz"))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(page.objects) == ROWS_PER_PAGE
    assert peak_bytes < len(row) * ROWS_PER_PAGE / 10


@pytest.mark.parametrize(
    "body",
    [b"no gzip", gzip.compress(b"\xff\n"), gzip.compress(b"a" * 999)[:-9]],
    ids=["no gzip", "no UTF-8", "cut off"],  # gzip has the time, and workers collect apart
)
def test_a_file_that_is_no_csv_in_gzip_is_refused(world: World, body: bytes) -> None:
    """Its name is in the text."""
    url = write_inventory(world)
    world.s3.put_object(Bucket="inventories", Key="data/0.csv.gz", Body=body)
    with pytest.raises(BadInventory, match=r"data/0\.csv\.gz"):
        world.run(replace(BACKFILL, inventory=url))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "size is 0, not"),
        (gzip.compress(b""), "size is"),
        (None, "MD5 is"),
    ],
    ids=["empty", "shorter", "another"],
)
def test_a_file_that_is_not_the_manifests_is_refused(
    world: World, body: bytes | None, text: str
) -> None:
    """An inventory is complete or an error: a file with fewer rows never passes for a whole one."""
    url = write_inventory(world, *[(BUCKET, "k", "v1", "true", "false", "3", MOMENT, "e")] * 2)
    if body is None:  # of the same size
        whole = world.s3.get_object(Bucket="inventories", Key="data/0.csv.gz")["Body"].read()
        body = whole[:4] + b"TIME" + whole[8:]  # gzip does not check it
    world.s3.put_object(Bucket="inventories", Key="data/0.csv.gz", Body=body)
    with pytest.raises(BadInventory, match=rf"data/0\.csv\.gz.*{text}"):
        world.run(replace(BACKFILL, inventory=url))
    [unfinished] = [part for part in world.table.parts(BACKFILL.backfill_id) if part.number == 0]
    assert not unfinished.done


def test_a_part_keeps_the_reason_of_its_failure_until_it_goes_on(world: World) -> None:
    """A row that is not valid is named with its file and number; the next page removes the text."""
    good = (BUCKET, "k", "v1", "true", "false", "3", MOMENT, "e")
    bad = (*good[:5], "3 MB", MOMENT, "e")
    backfill = replace(BACKFILL, inventory=write_inventory(world, *[good] * 3, bad))
    with pytest.raises(BadInventory):
        world.run(backfill)
    [failed] = [part for part in world.table.parts(BACKFILL.backfill_id) if part.failure]
    assert re.match(
        r"BadInventory: row 2 of .*data/1\.csv\.gz.* invalid literal", failed.failure or ""
    )

    write_inventory(world, *[good] * 4)
    world.run(backfill)
    assert [part.failure for part in world.table.parts(BACKFILL.backfill_id)] == [None] * 2


def test_a_failure_never_makes_a_part_of_its_own(world: World) -> None:
    """Another program deletes the part: without its position, no enqueuer could ever end it."""
    world.put("a")
    [share] = shares_of(world.s3, world.table, _recorded(world), 10)

    def fail(_: Part) -> Page:
        remove(part_key(0), None, world)
        raise BadInventory("a reason")

    with pytest.raises(BadInventory, match="a reason"):
        Enqueuer(world.table, BackfillQueue(world.sqs, world.url, 10)).enqueue(
            BACKFILL, share, fail, PLENTY
        )
    assert world.table.parts(BACKFILL.backfill_id) == []


@pytest.mark.parametrize("name", ["position", "done"])
def test_a_part_without_what_enqueuers_compare_is_damaged(world: World, name: str) -> None:
    """Its defaults would never equal what is stored: the execution would queue it for ever."""
    world.put("a")
    shares_of(world.s3, world.table, _recorded(world), 10)
    remove(part_key(0), name, world)
    with pytest.raises(DamagedItem, match=f"part 000000 of the backfill .*: {name} is missing"):
        world.table.parts(BACKFILL.backfill_id)


def test_a_backfill_without_what_chooses_its_objects_leaves_none_out(world: World) -> None:
    """It is damaged, or as the releases that wrote no such attribute."""
    remove(BACKFILLS_KEY, "archived", world)
    assert world.table.backfill(BACKFILL.backfill_id) == replace(BACKFILL, archived=True)
    remove(BACKFILLS_KEY, "all_versions", world)
    with pytest.raises(DamagedItem, match="all_versions is missing"):
        world.table.backfill(BACKFILL.backfill_id)


def test_a_position_without_its_version_is_damaged(world: World) -> None:
    """S3 would leave out the other versions of the key."""
    set_up(put_keys)
    world.run(BACKFILL, deadline=Deadline(iter([900, 900, 0, 0]).__next__))
    remove(part_key(0), "version", world)
    with pytest.raises(DamagedItem, match="version is missing"):
        world.run(BACKFILL)


@pytest.mark.parametrize(
    ("number", "name"), [(0, None), (1, None), (-1, None), (0, "until"), (1, "after")]
)
def test_a_backfill_without_all_parts_of_its_plan_never_ends(
    world: World, number: int, name: str | None
) -> None:
    """Another program changed them, or two plans were written at once: keys would be left out."""
    set_up(put_keys)
    shares = shares_of(world.s3, world.table, _recorded(world), 40)
    share = sorted(number for share in shares for number in share)
    remove(part_key(share[number]), name, world)
    with pytest.raises(DamagedItem, match="start another backfill"):
        world.run(BACKFILL, 40)
    enqueuer = Enqueuer(world.table, BackfillQueue(world.sqs, world.url, 40), 0)
    if name is None:
        with pytest.raises(DamagedItem, match="start another backfill"):
            enqueuer.enqueue(BACKFILL, share, reader_of(world.s3, BACKFILL), PLENTY)


def test_parts_of_a_plan_that_died_are_left_out(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had more parts, and did not record their number: the next plan has every key."""
    set_up(put_keys)
    parts = [Part(number, after=f"{number}", until=f"{number + 1}") for number in range(9)]
    with monkeypatch.context() as patch:
        patch.setattr(shared_client("dynamodb"), "update_item", Mock(side_effect=RuntimeError))
        with pytest.raises(RuntimeError):
            world.table.record_plan(BACKFILL.backfill_id, parts)
    world.run(BACKFILL, 40)
    assert world.run(BACKFILL, 40) == 0
    assert world.queued() == [(key, None) for key in KEYS]


@pytest.mark.parametrize("moment", ["yesterday", "2026-11-21", "0000-00-00T00:00:00Z"])
def test_a_time_that_no_duration_can_begin_at_is_damage(world: World, moment: str) -> None:
    """Of a backfill and of its counts: a time without a time zone is none."""
    world.table.record(replace(BACKFILL, started_at=moment))
    with pytest.raises(DamagedItem, match=r"the backfill .* is damaged"):
        world.table.backfill(BACKFILL.backfill_id)
    world.table.count("2", Tally(hashed=1))
    shared_client("dynamodb").update_item(
        TableName="backfills",
        Key={"backfill": {"S": "2"}, "item": {"S": "tally"}},
        UpdateExpression="SET counted_at = :moment",
        ExpressionAttributeValues={":moment": {"S": moment}},
    )
    with pytest.raises(DamagedItem, match=r"counts of the backfill .* damaged"):
        world.table.tally("2")


def part_key(number: int) -> dict[str, Any]:
    """The key of the item of a part."""
    return {"backfill": {"S": BACKFILL.backfill_id}, "item": {"S": f"part#{number:06d}"}}


def remove(key: dict[str, Any], name: str | None, world: World) -> None:
    """Let another program remove an attribute, or the item."""
    dynamodb = shared_client("dynamodb")
    if name is None:
        dynamodb.delete_item(TableName="backfills", Key=key)
        return
    if key == BACKFILLS_KEY:
        world.table.record(BACKFILL)
    dynamodb.update_item(
        TableName="backfills",
        Key=key,
        UpdateExpression="REMOVE #name",
        ExpressionAttributeNames={"#name": name},
    )


def _recorded(world: World) -> Backfill:
    world.table.record(BACKFILL)
    return BACKFILL


def test_counts_add_up(world: World) -> None:
    """The counts of all invocations are one tally."""
    world.table.count("2", Tally(hashed=3, hashed_bytes=30, invocations=1))
    world.table.count("2", Tally(hashed=1, long=2, invocations=1))
    tally, counted_at = world.table.tally("2")
    assert tally == Tally(hashed=4, hashed_bytes=30, long=2, invocations=2)
    assert tally.objects == 6
    assert counted_at is not None
    assert world.table.tally("3") == (Tally(), None)
