"""Answers that cannot be right: what is known of an object is compared with each of them.

An object is recorded from its own bytes, or its message fails with the reason.
"""

import hashlib
from dataclasses import replace
from typing import Final

import pytest
from mypy_boto3_s3 import S3Client
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.reading import BODY, PATH, Reading, arrival_of, every_reader, put_at
from tests.integration.hasher.test_archives import ARCHIVES
from tests.support.events import message_of
from tests.support.log_lines import objects_in
from tests.support.s3_faults import Fault
from tests.support.s3_server import HostileS3
from tests.support.sam_template import create_table
from tests.support.sha1 import sha1_of
from tests.support.zip_maker import zip_of

from bucketsum.backfill.messages import bodies_of
from bucketsum.errors import ObjectGone, ObjectSuperseded, SourceInterrupted
from bucketsum.s3.range_reads import range_reader
from bucketsum.table.sequencer import NO_SEQUENCER

OTHER_LENGTHS: Final = {
    "shorter": Fault(body=lambda body: body[: len(body) // 2]),
    "empty": Fault(body=lambda _: b""),
    "longer": Fault(body=lambda body: body + b"\0"),
    "an error's document": Fault(body=lambda _: b"<Error><Code>InternalError</Code></Error>"),
}
OTHER_OBJECTS: Final = {
    "another entity tag": Fault(headers={"ETag": '"0123456789abcdef0123456789abcdef"'}),
    "no entity tag": Fault(headers={"ETag": ""}),
    "another version": Fault(headers={"x-amz-version-id": "v9"}),
    "412": Fault(refuse=(412, "PreconditionFailed", "because")),
    "404": Fault(refuse=(404, "NoSuchKey", "because")),
    "405": Fault(refuse=(405, "MethodNotAllowed", "because")),
}
WRONG: Final = {**OTHER_LENGTHS, **OTHER_OBJECTS}
FOREVER: Final = 200

wrong = pytest.mark.parametrize("fault", WRONG.values(), ids=WRONG)
versions = pytest.mark.parametrize("version_id", [None, "v1"], ids=["null", "version"])


@every_reader
@wrong
@versions
def test_an_answer_that_cannot_be_is_a_failed_reading(
    reading: Reading, fault: Fault, version_id: str | None
) -> None:
    """Neither a digest nor an outcome: S3 has the object unchanged, as one HEAD shows."""
    stored = reading.s3.put(PATH, BODY, version_id)
    reading.s3.script(*[fault] * FOREVER)
    with pytest.raises(SourceInterrupted):
        reading.content_of(stored)


@every_reader
@wrong
@versions
def test_an_answer_that_cannot_be_is_asked_for_again(
    reading: Reading, fault: Fault, version_id: str | None
) -> None:
    """A passing fault at the beginning costs two requests more at most; the object is read."""
    stored = reading.s3.put(PATH, BODY, version_id)
    reading.s3.script_from(0, fault)
    assert reading.content_of(stored) == BODY


@every_reader
@pytest.mark.parametrize("etag", ['W/"{}"', "{}", '"{}-2"', '"{}-gzip"', ""])
@pytest.mark.parametrize("is_412", [False, True])
def test_an_entity_tag_written_in_another_form_is_no_other_object(
    reading: Reading, etag: str, *, is_412: bool
) -> None:
    """A proxy may rewrite it in each answer, and compare its own."""
    stored = reading.s3.put(PATH, BODY)
    rewritten = Fault(headers={"ETag": etag.format(stored.etag)})
    reading.s3.heads = rewritten
    reading.s3.always = OTHER_OBJECTS["412"] if is_412 else rewritten
    with pytest.raises(SourceInterrupted):
        reading.content_of(stored)


@every_reader
def test_another_entity_tag_in_spite_of_if_match_is_no_other_object(reading: Reading) -> None:
    """S3 answers such a request with 412; a HEAD of the same entity tag changes nothing."""
    stored = reading.s3.put(PATH, BODY)
    reading.s3.always = reading.s3.heads = OTHER_OBJECTS["another entity tag"]
    with pytest.raises(SourceInterrupted):
        reading.content_of(stored)


@every_reader
@versions
def test_a_head_alone_makes_no_object_gone(reading: Reading, version_id: str | None) -> None:
    """Its 404 is bare, as any proxy sends it: after an impossible GET, another GET must agree."""
    stored = reading.s3.put(PATH, BODY, version_id)
    reading.s3.heads = Fault(refuse=(404, "", ""))
    reading.s3.script(*[OTHER_LENGTHS["shorter"]] * FOREVER)
    with pytest.raises(SourceInterrupted):
        reading.content_of(stored)
    reading.s3.delete(PATH)
    reading.s3.forget_script()
    reading.s3.script(Fault(refuse=(200, "", "")))
    with pytest.raises(ObjectGone if version_id else (ObjectGone, ObjectSuperseded)):
        reading.content_of(stored)


@every_reader
@pytest.mark.parametrize("first", [0, 4096])
def test_a_length_that_does_not_count_is_a_failed_reading(reading: Reading, first: int) -> None:
    """With a transfer encoding, a body may be longer than its head says: no byte is hashed."""
    stored = reading.s3.put(PATH, BODY, "v1")
    of_range = reading.reader.streams > 1
    headers = {
        "Transfer-Encoding": "chunked",
        "Content-Length": str(4096 if of_range else len(BODY)),
    }
    fault = Fault(
        headers=headers,
        body=lambda body: b"%x\r\n%s\r\n7\r\nGARBAGE\r\n0\r\n\r\n" % (len(body), body),
    )
    reading.s3.script_from(first if of_range else 0, *[fault] * FOREVER)
    with pytest.raises(SourceInterrupted, match="Transfer-Encoding is 'chunked'"):
        reading.content_of(stored)


@pytest.mark.parametrize(
    "fault", [Fault(refuse=(400, "InvalidRequest", "because")), OTHER_LENGTHS["shorter"]]
)
def test_an_object_that_is_sent_wrong_once_is_recorded(
    hostile_stack: HasherStack, hostile: HostileS3, fault: Fault
) -> None:
    """S3 is asked again before the object counts as one that it cannot read as asked."""
    hostile.script(fault)
    assert hostile_stack.deliver(message_of(put_at(hostile, "k", BODY))) == []
    assert hostile_stack.digests() == {"k": sha1_of(BODY)}


@every_reader
@pytest.mark.parametrize("fault", OTHER_LENGTHS.values(), ids=OTHER_LENGTHS)
def test_without_an_entity_tag_the_size_tells(reading: Reading, fault: Fault) -> None:
    """Another size is a fault if S3 has the event's object, and an overwritten object if not."""
    created = replace(arrival_of(reading.s3.put(PATH, BODY)), etag=None)
    reading.s3.script(*[fault] * FOREVER)
    with pytest.raises(SourceInterrupted):
        list(reading.source().open(created).chunks)
    reading.s3.forget_script()
    reading.s3.put(PATH, b"its successor")
    with pytest.raises(ObjectSuperseded):
        list(reading.source().open(created).chunks)


@every_reader
@pytest.mark.parametrize(("version_id", "error"), [(None, ObjectSuperseded), ("v1", ObjectGone)])
def test_what_is_gone_or_overwritten_costs_one_head_more(
    reading: Reading, version_id: str | None, error: type[Exception]
) -> None:
    """The HEAD agrees with the GET, whoever sent that."""
    stored = reading.s3.put(PATH, BODY, version_id)
    reading.s3.delete(PATH)
    reading.s3.put(PATH, b"its successor", "v2" if version_id else None)
    with pytest.raises(error):
        reading.content_of(stored)
    methods = [request.method for request in reading.s3.requests if not request.by_libcurl]
    assert methods == ["HEAD"] if reading.reader.streams else ["GET", "HEAD"]


@pytest.mark.parametrize(
    ("code", "status", "outcome"),
    [
        ("AccessDenied", 403, "unreadable"),
        ("KMS.DisabledException", 400, "unreadable"),
        ("NoSuchKey", 404, "gone"),
        ("PreconditionFailed", 412, "gone"),
    ],
)
def test_a_refusal_of_a_small_object_is_asked_for_once(
    hostile_stack: HasherStack,
    hostile: HostileS3,
    capsys: pytest.CaptureFixture[str],
    code: str,
    status: int,
    outcome: str,
) -> None:
    """Libcurl's answer counts as botocore's would, with S3's own words."""
    created = arrival_of(hostile.put("inbox/k", BODY, "v1"), "inbox/k")
    hostile.always = Fault(refuse=(status, code, "a &lt;reason&gt;"))
    hostile.delete("inbox/k")
    assert hostile_stack.deliver(message_of(created)) == []
    [line] = objects_in(capsys.readouterr().out)
    assert line["outcome"] == outcome
    assert f"{code}: a <reason>" in line["reason"]
    methods = [request.method for request in hostile.requests]
    assert methods == ["GET", "HEAD"] if outcome == "gone" else ["GET"]


@pytest.mark.parametrize(
    ("size", "fault"),
    [
        (1000, OTHER_LENGTHS["an error's document"]),
        (1000, OTHER_OBJECTS["another entity tag"]),
        (17_000_000, OTHER_LENGTHS["shorter"]),
        (17_000_000, OTHER_OBJECTS["412"]),
    ],
)
def test_a_message_whose_object_is_never_sent_right_is_a_dead_letter(
    hostile_stack: HasherStack, hostile: HostileS3, size: int, fault: Fault
) -> None:
    """After its last receive it waits for a person, with the reason; there is no row."""
    message = message_of(put_at(hostile, "k", bytes(size)))
    hostile.script(*[fault] * FOREVER)
    received = hostile_stack.deliver(message)
    while received:
        assert received == [message]
        hostile_stack.pass_seconds(90)
        received = hostile_stack.deliver()
    assert hostile_stack.rows() == {}
    [reason] = hostile_stack.dead_letters().values()
    assert reason.startswith("SourceInterrupted: ")


def test_a_row_of_another_size_is_read_by_a_backfill_and_differs(stack: HasherStack) -> None:
    """A recorded digest is the only evidence: the object of the same entity tag is not its."""
    create_table(stack.dynamodb, "BackfillsTable", "backfills")
    created = stack.put("k", BODY)
    stack.deliver(message_of(created))
    stack.change_row("k", {"sha1": {"S": sha1_of(b"")}, "size_bytes": {"N": "0"}})
    listed = replace(created, sequencer=NO_SEQUENCER)
    assert stack.deliver(*bodies_of("b", [listed])) == []
    [row] = stack.rows().values()
    assert row["sha1"] == sha1_of(b"")
    assert row["differing_digest"] == f"sha1:{sha1_of(BODY)}"


RANGES: Final = {
    **OTHER_OBJECTS,
    "several ranges": Fault(
        headers={"Content-Range": "", "Content-Type": "multipart/byteranges; boundary=x"},
        body=lambda body: b"--x\r\n"[: len(body)].ljust(len(body)),
    ),
    "another range": Fault(headers={"Content-Range": "bytes 0-21/10240"}),
    "of another size": Fault(headers={"Content-Range": "bytes 100-199/10241"}),
    "fewer bytes": Fault(body=lambda body: body[1:]),
    "more bytes": Fault(body=lambda body: body + b"\0"),
    "a part of it all": Fault(ignore_range=True, body=lambda body: body[:5000]),
}


@pytest.mark.parametrize("fault", RANGES.values(), ids=RANGES)
@versions
def test_a_wrong_range_is_a_failed_reading(
    hostile: HostileS3, client: S3Client, fault: Fault, version_id: str | None
) -> None:
    """Exactly the requested bytes, of the requested object, or an error."""
    read = range_reader(client, arrival_of(hostile.put(PATH, BODY, version_id)))
    assert read(100, 100) == BODY[100:200]
    hostile.script(fault)
    assert read(100, 100) == BODY[100:200]
    hostile.script(*[fault] * FOREVER)
    with pytest.raises(SourceInterrupted):
        read(100, 100)


@every_reader
@pytest.mark.parametrize("fault", RANGES.values(), ids=RANGES)
def test_a_slice_begins_with_its_own_bytes(reading: Reading, fault: Fault) -> None:
    """From an offset on, the rest of the requested object comes, or an error."""
    created = arrival_of(reading.s3.put(PATH, BODY, "v1"))
    reading.s3.script(*[fault] * FOREVER)
    with pytest.raises(SourceInterrupted):
        list(reading.source().open(created, 5000).chunks)


@pytest.mark.parametrize("fault", RANGES.values(), ids=RANGES)
def test_a_wrong_range_says_nothing_of_an_archive(
    hostile_stack: HasherStack, hostile: HostileS3, fault: Fault
) -> None:
    """It is not called broken, or no archive: the message returns."""
    hostile_stack.load(**ARCHIVES)
    body = zip_of({"member": hashlib.shake_128().digest(10_000)})
    message = message_of(put_at(hostile, "a.zip", body))
    hostile.script(*[fault] * FOREVER)
    assert hostile_stack.deliver(message) == [message]
    assert hostile_stack.rows() == {}
