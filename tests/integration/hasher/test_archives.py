"""The hasher with archives turned on, and the rows of members, in moto."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Never

import pytest
from botocore.exceptions import ClientError
from tests.integration.hasher.hasher_stack import HasherStack
from tests.support.events import BUCKET, message_of
from tests.support.log_lines import objects_in
from tests.support.sam_template import create_table
from tests.support.sha1 import sha1_of
from tests.support.zip_maker import Part, archive_of, named, zip_of

from bucketsum.archives.member_rows import MemberRows, MemberWriter, member_entry
from bucketsum.backfill.messages import bodies_of
from bucketsum.backfill.selection import Selection
from bucketsum.hashing.ending import Purpose
from bucketsum.s3.range_reads import range_reader
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.rows import Row
from bucketsum.table.sequencer import NO_SEQUENCER

ARCHIVES = {
    "ARCHIVE_SUFFIXES": ".zip,.JAR",
    "ARCHIVE_MODE": "stream",
    "ARCHIVE_MAX_MEMBERS": "50000",
    "ARCHIVE_MAX_TOTAL_BYTES": "1000000000",
    "ARCHIVE_MAX_RATIO": "200",
    "ARCHIVE_DEPTH": "1",
}
MODES = pytest.mark.parametrize("mode", ["stream", "tmp"])


def members_in(stack: HasherStack) -> dict[str, str]:
    """Path → SHA-1 of all rows of members."""
    return {row["member"]: row["sha1"] for row in stack.rows().values() if "member" in row}


@MODES
def test_members_have_rows(
    stack: HasherStack, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each beside the archive's row, which says what they came to; so does the log."""
    members = {f"d/{number}.txt": b"%d" % number * 1000 for number in range(60)}
    body = zip_of(members)
    stack.load(**ARCHIVES | {"ARCHIVE_MODE": mode})
    assert stack.deliver(message_of(stack.put("a.zip", body))) == []
    rows = stack.rows()
    archive = rows.pop(("a.zip", "null"))
    assert archive["sha1"] == sha1_of(body)
    assert (archive["archive_status"], archive["archive_mode"]) == ("read", mode)
    assert (archive["member_count"], archive["directory_count"]) == ("60", "1")
    assert archive["member_bytes"] == str(sum(map(len, members.values())))
    assert {entry: row["sha1"] for (_, entry), row in rows.items()} == {
        member_entry("null", archive["sequencer"], name): sha1_of(content)
        for name, content in members.items()
    }
    member = next(row for row in rows.values() if row["member"] == "d/7.txt")
    assert (member["member"], member["method"], member["size_bytes"]) == (
        "d/7.txt",
        "deflate",
        "1000",
    )
    assert member["crc32"] == f"{zlib.crc32(members['d/7.txt']):08x}"
    [line] = objects_in(capsys.readouterr().out)
    assert (line["outcome"], line["archive"], line["members"]) == ("hashed", "read", 60)


def test_whole_object_is_asked_for_once(stack: HasherStack) -> None:
    """The directory takes a ranged GET at the end; the object one, whatever it holds."""
    stack.load(**ARCHIVES)
    stack.deliver(message_of(stack.put("a.zip", zip_of({"x": bytes(200_000)}))))
    assert stack.requests.count("GetObject") == 2
    assert stack.requests.count("BatchWriteItem") == 1


def test_nothing_is_an_archive_by_default(stack: HasherStack) -> None:
    """Without suffixes, and for keys without one of them, a zip is a file as any other."""
    body = zip_of({"x": b"x"})
    stack.deliver(message_of(stack.put("a.zip", body)))
    stack.load(**ARCHIVES)
    stack.deliver(message_of(stack.put("a.zip.txt", body), stack.put("b.jAr", body)))
    assert {(key, row.get("member")) for (key, _), row in stack.rows().items()} == {
        ("a.zip", None), ("a.zip.txt", None), ("b.jAr", None), ("b.jAr", "x"),
    }  # fmt: skip


@MODES
def test_what_is_no_archive_is_hashed(stack: HasherStack, mode: str) -> None:
    """A suffix proves nothing: the row says so, and the SHA-1 is there; also of nothing at all."""
    stack.load(**ARCHIVES | {"ARCHIVE_MODE": mode})
    assert stack.deliver(message_of(stack.put("a.zip", b"text"), stack.put("b.zip", b""))) == []
    rows = stack.rows()
    assert set(rows) == {("a.zip", "null"), ("b.zip", "null")}
    for (key, _), body in zip(sorted(rows), (b"text", b""), strict=True):
        assert rows[key, "null"]["sha1"] == sha1_of(body)
        assert rows[key, "null"]["archive_status"] == "not-an-archive"


def test_hostile_members_have_rows(stack: HasherStack) -> None:
    """Names that DynamoDB could refuse, twins and what cannot be read: each a row, none lost."""
    long = "n" * 1500
    body = archive_of(
        named("../../etc/passwd"), named("a\0b\x1b"), named(long), named("twin", b"1"),
        named("twin", b"2"), named("in.zip!/x"), named("in.zip", archive_of(named("x", b"inner"))),
        Part(name=b"secret", flags=1), named(b"\xff\xfe"),
    )  # fmt: skip
    stack.load(**ARCHIVES)
    assert stack.deliver(message_of(stack.put("a.zip", body))) == []
    rows = {row["member"]: row for row in stack.rows().values() if "member" in row}
    assert rows["../../etc/passwd"]["remarks"] == "climbs"
    assert rows["twin"]["sha1"] == sha1_of(b"2")
    assert rows["twin~2"]["sha1"] == sha1_of(b"1")
    assert rows["secret"]["status"] == "unreadable"
    assert rows["secret"]["reason"].startswith("encrypted: ")
    assert rows[long]["sha1"] == sha1_of(b"hello")
    assert rows["in.zip"]["archive_status"] == "read"
    assert rows["in.zip!/x"]["sha1"] == sha1_of(b"hello")
    assert rows["in.zip!/x~2"]["sha1"] == sha1_of(b"inner")
    assert stack.rows()["a.zip", "null"]["members_unreadable"] == "1"


def test_same_event_again_reads_nothing(stack: HasherStack) -> None:
    """An archive is looked up before it is read, however small."""
    stack.load(**ARCHIVES)
    arrival = stack.put("a.zip", zip_of({"x": b"x"}))
    stack.deliver(message_of(arrival))
    stack.deliver(message_of(arrival))
    assert "GetObject" not in stack.requests


def test_overwritten_archive_takes_its_members_along(stack: HasherStack) -> None:
    """Where no versions are kept, rows of members that are gone go with them."""
    stack.load(**ARCHIVES)
    stack.deliver(message_of(stack.put("a.zip", zip_of({"old": b"1", "both": b"1"}))))
    stack.deliver(message_of(stack.put("a.zip", zip_of({"new": b"2", "both": b"2"}))))
    assert members_in(stack) == {"new": sha1_of(b"2"), "both": sha1_of(b"2")}


def test_a_stale_listing_leaves_the_members_of_the_archive_that_overwrote_it(
    stack: HasherStack,
) -> None:
    """Only if S3 still has the listed archive, those of the row are removed."""
    create_table(stack.dynamodb, "BackfillsTable", "backfills")
    stack.load(**ARCHIVES)
    listed = stack.put("a.zip", zip_of({"old": b"1"}))
    newer = stack.put("a.zip", zip_of({"new": b"2"}))
    stack.deliver(message_of(newer))
    late = replace(listed, sequencer=NO_SEQUENCER, event_time="9999-12-31T23:59:59Z")
    assert stack.deliver(*bodies_of("b", [late])) == []
    assert members_in(stack) == {"new": sha1_of(b"2")}


def test_only_members_of_version_null_go_and_damaged_ones_too(stack: HasherStack) -> None:
    """Their entry decides: another program took a sequencer; a version ID begins with `null`."""
    stack.load(**ARCHIVES)
    stack.deliver(message_of(stack.put("a.zip", zip_of({"old": b"1"}))))
    [item] = (
        item for item in stack.dynamodb.scan(TableName="digests")["Items"] if "member" in item
    )
    other = {**item, "entry": {"S": "nullptr!/kept"}, "member": {"S": "kept"}}
    del item["sequencer"]
    for changed in (item, other):
        stack.dynamodb.put_item(TableName="digests", Item=changed)
    assert stack.deliver(message_of(stack.put("a.zip", zip_of({"new": b"2"})))) == []
    assert set(members_in(stack)) == {"new", "kept"}


@pytest.mark.parametrize("dies", [False, True])
def test_archives_of_one_key_that_are_read_at_once_keep_apart(
    stack: HasherStack, monkeypatch: pytest.MonkeyPatch, *, dies: bool
) -> None:
    """The older one writes after the newer is done: it removes its own rows and no other.

    If it dies with its rows written, they go when its message comes again.
    """
    stack.load(**ARCHIVES)
    older = stack.put("a.zip", zip_of({"old": b"1", "both": b"1"}))
    put = MemberWriter.put
    record = DigestsTable.record

    def newer_first(writer: MemberWriter, row: Row) -> None:
        monkeypatch.setattr(MemberWriter, "put", put)
        newer = stack.put("a.zip", zip_of({"new": b"2", "both": b"2"}))
        assert stack.deliver(message_of(newer)) == []
        if dies:
            monkeypatch.setattr(DigestsTable, "record", _die)
        put(writer, row)

    monkeypatch.setattr(MemberWriter, "put", newer_first)
    stack.deliver(message_of(older))
    if dies:
        assert set(members_in(stack)) == {"old", "new", "both"}
        monkeypatch.setattr(DigestsTable, "record", record)
        assert stack.deliver(message_of(older)) == []
    assert members_in(stack) == {"new": sha1_of(b"2"), "both": sha1_of(b"2")}
    assert len(stack.rows()) == 3


def _die(_table: DigestsTable, _row: Row) -> Never:
    raise MemoryError


def test_every_version_keeps_its_members(stack: HasherStack) -> None:
    """Members are read back for the version that they are of, in order, and by their beginning."""
    stack.keep_versions()
    stack.load(**ARCHIVES)
    for content in (b"1", b"2"):
        stack.deliver(message_of(stack.put("a.zip", zip_of({"d/x": content, "e": content}))))
    table = DigestsTable(stack.dynamodb, "digests")
    members = MemberRows(stack.dynamodb, "digests")
    newest, oldest = table.versions_of(BUCKET, "a.zip")
    assert [row.member and row.member.path for row in members.of(newest)] == ["d/x", "e"]
    assert [row.sha1 for row in members.of(oldest, "d/")] == [sha1_of(b"1")]
    assert len(table.with_sha1(sha1_of(b"2"))) == 2


def _throttled(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": ""}}, "BatchWriteItem")


@pytest.mark.parametrize(
    "answer",
    [
        {"UnprocessedItems": {"digests": [{"PutRequest": {"Item": {}}}]}},
        _throttled("ProvisionedThroughputExceededException"),
        _throttled("ThrottlingException"),
    ],
)
def test_members_wait_for_a_table_that_is_busy(
    stack: HasherStack, monkeypatch: pytest.MonkeyPatch, answer: dict[str, object] | ClientError
) -> None:
    """Rows that DynamoDB does not take are retried; then the message returns."""
    stack.load(**ARCHIVES)
    members = {f"{number}": b"x" for number in range(30)}
    created = stack.put("a.zip", zip_of(members))
    with monkeypatch.context() as patch:
        patch.setattr("bucketsum.archives.member_rows._LONGEST_PAUSE_SECONDS", 0)
        patch.setattr("botocore.client.BaseClient._make_api_call", _answers(answer))
        assert len(stack.deliver(message_of(created))) == 1
    assert stack.rows() == {}
    assert stack.deliver(message_of(created)) == []
    assert set(members_in(stack)) == set(members)


def _answers(answer: dict[str, object] | ClientError) -> object:
    """`_make_api_call` in which BatchWriteItem never takes anything."""
    from botocore.client import BaseClient  # noqa: PLC0415 - the original, at the time of patching

    call = BaseClient._make_api_call  # type: ignore[attr-defined]  # noqa: SLF001 - as moto does

    def make_api_call(client: BaseClient, name: str, arguments: dict[str, object]) -> object:
        if name != "BatchWriteItem":
            return call(client, name, arguments)
        if isinstance(answer, ClientError):
            raise answer
        return answer

    return make_api_call


def test_range_is_read_where_the_whole_object_comes(
    stack: HasherStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store may ignore the range, and what was asked for is what is read."""
    arrival = stack.put("a", bytes(range(256)) * 20)
    get_object = stack.s3.get_object

    def ignore_range(**request: str) -> object:
        del request["Range"]
        return get_object(**request)  # type: ignore[arg-type]

    monkeypatch.setattr(stack.s3, "get_object", ignore_range)
    assert range_reader(stack.s3, arrival)(300, 5) == bytes(range(44, 49))


def test_a_verification_writes_the_members_that_have_no_rows(stack: HasherStack) -> None:
    """The archive came before its suffix was switched on; only if its digest is the recorded one.

    Members that have rows keep them, and nothing is read for them.
    """
    create_table(stack.dynamodb, "BackfillsTable", "backfills")
    stack.load()
    created = stack.put("a.zip", zip_of({"x": b"1"}))
    stack.deliver(message_of(created))
    recorded = stack.rows()["a.zip", "null"]
    stack.load(**ARCHIVES)
    [verify] = bodies_of(
        "b",
        [replace(created, sequencer=NO_SEQUENCER)],
        Selection(Purpose.VERIFY, missing="members"),
    )
    assert stack.deliver(verify) == []
    assert members_in(stack) == {"x": sha1_of(b"1")}
    row = stack.rows()["a.zip", "null"]
    assert (row["sha1"], row["archive_status"], row["verifications"]) == (
        recorded["sha1"], "read", "1",
    )  # fmt: skip
    assert stack.deliver(verify) == []
    assert stack.rows()["a.zip", "null"] == row


def test_members_of_an_archive_that_differs_are_not_kept(stack: HasherStack) -> None:
    """Their digests would be those of rotten bytes."""
    create_table(stack.dynamodb, "BackfillsTable", "backfills")
    stack.load()
    created = stack.put("a.zip", zip_of({"x": b"1"}))
    stack.deliver(message_of(created))
    stack.change_row("a.zip", {"sha1": {"S": "0" * 40}})
    stack.load(**ARCHIVES)
    [verify] = bodies_of("b", [replace(created, sequencer=NO_SEQUENCER)], Selection(Purpose.VERIFY))
    assert stack.deliver(verify) == []
    assert members_in(stack) == {}
    row = stack.rows()["a.zip", "null"]
    assert row["differing_digest"].startswith("sha1:")
    assert "archive_status" not in row
