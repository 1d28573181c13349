"""Items of the digests table that somebody else changed are not rows."""

from typing import Any, Final

import pytest

from bucketsum.errors import DamagedRow
from bucketsum.events.object_events import DeletedBy
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.items import NOT_HASHED, deletion_of, item_of, row_of, rows_of
from bucketsum.table.row_parts import (
    ArchiveRecord,
    Deletion,
    Difference,
    FailedReading,
    MemberRecord,
    ReadSetup,
    Timing,
    Verified,
)
from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import comparable_sequencer

ROW: Final = Row(
    bucket="inbox",
    key="a.zip",
    entry="null",
    status=Status.HASHED,
    size_bytes=1024,
    sequencer=comparable_sequencer("0A"),
    arrived_at="2026-11-20T10:00:00.000Z",
    recorded_at="2026-11-20T10:00:01.000+00:00",
    etag="d41d8cd98f00b204e9800998ecf8427e",
    sha1="da39a3ee5e6b4b0d3255bfef95601890afd80709",
    digests={"crc32": "00000000"},
    reason="text",
    timing=Timing(1.5, 2.25),
    setup=ReadSetup(8, 4, 1024),
    member=MemberRecord("a", "deflate", "00000000", 7),
    remarks=("duplicate",),
    archive=ArchiveRecord(ArchiveStatus.READ, Mode.STREAM, 1, 0, 1, 9, 1.5, reason="text"),
    storage_class="GLACIER",
    verified=Verified("2026-11-22T10:00:00.000Z", 2),
    difference=Difference("sha1:00", "2026-11-23T10:00:00.000Z"),
    failed_reading=FailedReading("2026-11-24T10:00:00.000Z", "text"),
    deletion=Deletion("2026-11-20T11:00:00.000Z", DeletedBy.REQUEST, comparable_sequencer("0B"), 9),
)
"""With every attribute, as no object has."""

ITEM: Final = item_of(ROW)
KEY: Final = {"object", "entry"}
OPTIONAL: Final = {
    "etag", "sha1", "sha1_shard", "digest_crc32", "reason", "remarks", "archive_reason",
    "expires_at", "storage_class",
}  # fmt: skip
NEEDED: Final = ITEM.keys() - KEY - OPTIONAL
READ: Final = ITEM.keys() - KEY - {"sha1_shard"}
WRONG_TYPES: Final[list[dict[str, Any]]] = [
    {"NULL": True}, {"L": []}, {"M": {}}, {"B": b"x"}, {"BOOL": True},
]  # fmt: skip


def with_attribute(name: str, attribute: dict[str, Any] | None) -> dict[str, Any]:
    """The item with another attribute, or without it."""
    others = {other: value for other, value in ITEM.items() if other != name}
    return others if attribute is None else {**others, name: attribute}


def test_the_item_is_sound() -> None:
    """The item that the other tests change is a row, and each attribute is one of this module's."""
    assert row_of(ITEM) == ROW
    assert deletion_of(ITEM) == ROW.deletion


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_a_row_without_a_part_is_damaged(name: str) -> None:
    """A deletion without its cause is not "not deleted"; nor is any other part just left out."""
    with pytest.raises(DamagedRow, match=rf"the row of 'inbox/a\.zip', .*: {name} is missing; "):
        row_of(with_attribute(name, None))


@pytest.mark.parametrize("attribute", WRONG_TYPES, ids=str)
@pytest.mark.parametrize("name", sorted(READ))
def test_an_attribute_of_another_type_is_damage(name: str, attribute: dict[str, Any]) -> None:
    """A digest that is not a text is not "no digest"."""
    with pytest.raises(DamagedRow):
        row_of(with_attribute(name, attribute))


SOME: Final = ({"S": "some"}, {"N": "some"})
CLOSED: Final = (
    "status", "deleted_by", "archive_status", "archive_mode", "size_bytes", "mb_per_s",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in CLOSED for value in SOME),
        ("status", {"S": "damaged"}),
        ("sha1", {"S": "zz"}),
        ("sha1", {"S": "0" * 39}),
        ("digest_sha256", {"N": "5"}),
        ("size_bytes", {"N": "1.5"}),
        ("size_bytes", {"N": "-1"}),
        ("size_bytes", {"N": "1" + 30 * "0"}),
        ("expires_at", {"N": "-1"}),
        ("expires_at", {"N": "1" + 30 * "0"}),
        ("arrived_at", {"S": ""}),
        ("sequencer", {"S": "0A"}),
        ("sequencer", {"S": "weird".ljust(32, "0")}),
        ("deletion_sequencer", {"S": ""}),
    ],
)
def test_a_value_that_bucketsum_never_writes_is_damage(name: str, value: dict[str, str]) -> None:
    """The error shows the attribute: a redrive's message of it would be malformed for ever."""
    [shown] = value.values()
    with pytest.raises(DamagedRow, match=rf"{name} is .*{shown}"):
        row_of(with_attribute(name, value))


@pytest.mark.parametrize("name", ["deleted_at", "deleted_by", "deletion_sequencer"])
def test_part_of_a_deletion_is_damage(name: str) -> None:
    """A tombstone's, too: `DigestsTable.record` would try for ever if it were no deletion."""
    tombstone = {**with_attribute(name, None), "status": {"S": NOT_HASHED}}
    with pytest.raises(DamagedRow, match=f"{name} is missing"):
        deletion_of(tombstone)


@pytest.mark.parametrize("name", ["status", "sha1"])
def test_an_item_without_a_status_or_its_digest_is_damaged(name: str) -> None:
    """It is neither a row nor a tombstone; a hashed row has a digest."""
    with pytest.raises(DamagedRow, match=f"{name} is missing"):
        list(rows_of([with_attribute(name, None)]))


def test_attributes_of_others_are_ignored() -> None:
    """Of any type: a table may have more columns than these."""
    more: dict[str, Any] = {"note": {"S": "x"}, "tags": {"SS": ["a"]}, "list": {"L": []}}
    assert row_of({**more, **ITEM}) == ROW
    bare = {name: ITEM[name] for name in (*KEY, "status", "sha1", "size_bytes", "sequencer")}
    bare |= {"arrived_at": ITEM["arrived_at"], "recorded_at": {"S": "x"}, "expires_at": {"N": "5"}}
    assert row_of(bare).deletion is None
    assert deletion_of(bare) is None
