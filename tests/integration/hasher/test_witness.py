"""S3's own checksum is compared with the bytes that are hashed, on every path."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.reading import arrival_of
from tests.integration.hasher.test_archives import ARCHIVES
from tests.support.checksums import base64_of, crc32, in_parts, whole
from tests.support.events import message_of
from tests.support.log_lines import metrics_in, objects_in
from tests.support.s3_faults import HEALTHY, Fault
from tests.support.s3_server import HostileS3
from tests.support.sam_template import create_table
from tests.support.zip_maker import zip_of

from bucketsum.backfill.messages import bodies_of
from bucketsum.backfill.selection import Selection
from bucketsum.hashing.ending import Purpose
from bucketsum.s3.read_plan import SPLIT_FROM_BYTES
from bucketsum.table.sequencer import NO_SEQUENCER

COMPARES: Final = {"COMPARE_CHECKSUMS": "yes"}
LARGE_MEMORY: Final = {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769"}
"""With it, an object from 16 MiB on is read in ranges."""
SMALL: Final = b"small content"
LARGE: Final = os.urandom(SPLIT_FROM_BYTES + 4321)


def rotten(body: bytes) -> bytes:
    """*body* with its last byte changed."""
    return body[:-1] + bytes([body[-1] ^ 1])


def recorded(
    stack: HasherStack, hostile: HostileS3, body: bytes, stored: Mapping[str, Any], key: str = "a"
) -> dict[str, str]:
    """The row of *body* after its event; *stored* is what S3 keeps of it."""
    path = f"inbox/{key}"
    created = arrival_of(hostile.put(path, body, **stored), path)
    assert stack.deliver(message_of(created)) == []
    return stack.rows()[key, "null"]


@pytest.mark.parametrize("body", [SMALL, LARGE, b""], ids=["small", "large", "empty"])
@pytest.mark.parametrize("memory", [{}, LARGE_MEMORY], ids=["whole", "ranges"])
def test_an_equal_checksum_is_recorded(
    hostile_stack: HasherStack, hostile: HostileS3, body: bytes, memory: dict[str, str]
) -> None:
    """The row has S3's checksum and that it is equal, whether one response or many brought it."""
    hostile_stack.load(**COMPARES, **memory)
    row = recorded(hostile_stack, hostile, body, whole(body).stored)
    assert row["sha1"] == hashlib.sha1(body).hexdigest()
    assert row["s3_checksum"] == f"crc32:{base64_of(crc32(body))}"
    assert row["s3_checksum_result"] == "equal"
    assert "s3_checksum_reason" not in row


@pytest.mark.parametrize("body", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("memory", [{}, LARGE_MEMORY], ids=["whole", "ranges"])
def test_a_composite_checksum_is_compared_part_by_part(
    hostile_stack: HasherStack, hostile: HostileS3, body: bytes, memory: dict[str, str]
) -> None:
    """One list of the parts suffices, and the part that differs is named."""
    hostile_stack.load(**COMPARES, **memory)
    row = recorded(hostile_stack, hostile, body, in_parts(body, 3).stored)
    assert row["s3_checksum_result"] == "equal"
    assert row["s3_checksum"].endswith("-3")
    row = recorded(hostile_stack, hostile, rotten(body), in_parts(body, 3).stored, "b")
    assert row["s3_checksum_result"] == "differs"
    assert row["s3_checksum_reason"].startswith("part 3 has crc32:")


@pytest.mark.parametrize("body", [SMALL, LARGE], ids=["small", "large"])
def test_a_difference_is_read_twice_and_never_only_hashed(
    hostile_stack: HasherStack,
    hostile: HostileS3,
    body: bytes,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The row has both values, and the outcome, the log and the metric say that it differs."""
    hostile_stack.load(**COMPARES)
    row = recorded(hostile_stack, hostile, body, whole(rotten(body)).stored)
    assert row["sha1"] == hashlib.sha1(body).hexdigest()
    assert row["s3_checksum"] == f"crc32:{base64_of(crc32(rotten(body)))}"
    assert row["s3_checksum_result"] == "differs"
    assert row["s3_checksum_reason"] == f"crc32:{base64_of(crc32(body))} as read"
    out = capsys.readouterr().out
    [line] = objects_in(out)
    assert line["outcome"] == "differs"
    assert "two readings" in line["reason"]
    assert sum(metrics_in(out)["ObjectsDiffers"]) == 1
    begun = [get for get in hostile.requests if get.headers.get("range", "bytes=0-")[6:8] == "0-"]
    assert [get.method for get in begun if get.method != "HEAD"] == ["GET", "GET"]


@pytest.mark.parametrize("body", [SMALL, LARGE], ids=["small", "large"])
def test_a_difference_that_the_second_reading_has_not_wakes_nobody(
    hostile_stack: HasherStack, hostile: HostileS3, body: bytes
) -> None:
    """A change by the network is not recorded: the second reading is."""
    hostile_stack.load(**COMPARES)
    hostile.script(Fault(body=rotten))
    row = recorded(hostile_stack, hostile, body, whole(body).stored)
    assert row["sha1"] == hashlib.sha1(body).hexdigest()
    assert row["s3_checksum_result"] == "equal"


def test_two_readings_that_differ_are_not_recorded(
    hostile_stack: HasherStack, hostile: HostileS3
) -> None:
    """If S3's checksum is that of neither, the message returns to the queue."""
    hostile_stack.load(**COMPARES)
    path = "inbox/a"
    created = arrival_of(hostile.put(path, SMALL, checksum=whole(b"other").headers), path)
    hostile.script(Fault(body=rotten))
    assert hostile_stack.deliver(message_of(created)) == [message_of(created)]
    assert hostile_stack.rows() == {}


@pytest.mark.parametrize("body", [SMALL, LARGE], ids=["small", "large"])
def test_a_verification_compares_it_too(
    hostile_stack: HasherStack, hostile: HostileS3, body: bytes
) -> None:
    """Digests that agree are not enough; what the last reading found is in the row."""
    create_table(hostile_stack.dynamodb, "BackfillsTable", "backfills")
    hostile_stack.load(**COMPARES)
    before = recorded(hostile_stack, hostile, body, whole(rotten(body)).stored)
    assert before["s3_checksum_result"] == "differs"
    for checksum, result in (
        (whole(body).headers, "equal"),
        (whole(rotten(body)).headers, "differs"),
        ({}, "differs"),  # until a comparison is equal
    ):
        created = arrival_of(hostile.put("inbox/a", body, checksum=checksum), "inbox/a")
        listed = replace(created, sequencer=NO_SEQUENCER)
        hostile_stack.pass_seconds(600)  # the message is newer than the last reading
        assert hostile_stack.deliver(*bodies_of("b", [listed], Selection(Purpose.VERIFY))) == []
        [row] = hostile_stack.rows().values()
        assert row["sha1"] == before["sha1"]
        assert row["s3_checksum_result"] == result
        assert ("s3_checksum_reason" in row) == (result == "differs")
        assert ("differing_digest" in row) == (result == "differs")
        assert row["verifications"] == "1"


def test_an_event_after_a_listing_confirms_the_difference(
    hostile_stack: HasherStack, hostile: HostileS3
) -> None:
    """The event of a version whose row a backfill wrote is not a dead letter."""
    create_table(hostile_stack.dynamodb, "BackfillsTable", "backfills")
    hostile_stack.load(**COMPARES)
    stored = hostile.put("inbox/a", SMALL, "v1", **whole(rotten(SMALL)).stored)
    created = arrival_of(stored, "inbox/a")
    [listed] = bodies_of("b", [replace(created, sequencer=NO_SEQUENCER)])
    for body in (listed, message_of(created)):
        assert hostile_stack.deliver(body) == []
        assert hostile_stack.rows()["a", "v1"]["s3_checksum_result"] == "differs"


def test_an_archive_is_compared_too(hostile_stack: HasherStack, hostile: HostileS3) -> None:
    """Its bytes are S3's business, its members are not."""
    body = zip_of({"x": b"1"})
    hostile_stack.load(**COMPARES, **ARCHIVES)
    row = recorded(hostile_stack, hostile, body, whole(body).stored, "a.zip")
    assert (row["archive_status"], row["s3_checksum_result"]) == ("read", "equal")
    row = recorded(hostile_stack, hostile, body, whole(b"other").stored, "b.zip")
    assert (row["archive_status"], row["s3_checksum_result"]) == ("read", "differs")


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        ({}, "S3 keeps no checksum of it"),
        ({"checksum": {"x-amz-checksum-crc32": "?"}}, "not base64"),
        (
            {"checksum": whole(SMALL).headers | {"x-amz-checksum-sha1": "AAAA"}},
            "S3 sent 2 checksums",
        ),
        ({"checksum": {"x-amz-checksum-xxhash3": base64_of(bytes(8))}}, "xxhash3 is not computed"),
        (in_parts(SMALL, 2).stored | {"parts": ()}, "lists 0 parts"),
        (in_parts(SMALL + b"more", 2).stored, "not the object's size"),
        (in_parts(SMALL, 2).stored | {"parts": ["<Size>many</Size>"] * 2}, "did not send"),
        (in_parts(SMALL, 2).stored | {"parts": ["<Size>"]}, "did not send"),
    ],
)
def test_what_cannot_be_compared_has_its_reason(
    hostile_stack: HasherStack, hostile: HostileS3, stored: dict[str, Any], reason: str
) -> None:
    """The object's own SHA-1 is recorded, whatever S3 sends."""
    hostile_stack.load(**COMPARES)
    row = recorded(hostile_stack, hostile, SMALL, stored)
    assert (row["status"], row["sha1"]) == ("hashed", hashlib.sha1(SMALL).hexdigest())
    assert row["s3_checksum_result"] == "not compared"
    assert reason in row["s3_checksum_reason"]


def test_a_difference_outlives_a_second_reading_that_is_not_compared(
    hostile_stack: HasherStack, hostile: HostileS3
) -> None:
    """S3 sends the same bytes again, but no parts: they still differ."""
    hostile_stack.load(**COMPARES)
    refused = Fault(refuse=(403, "AccessDenied", "not now"))
    hostile.script_of("inbox/a", *[HEALTHY] * 4, refused)  # the first GET has no list of parts
    row = recorded(hostile_stack, hostile, SMALL, in_parts(rotten(SMALL), 3).stored)
    assert row["s3_checksum_result"] == "differs"
    assert row["s3_checksum_reason"].startswith("part 3 has crc32:")


def test_it_can_be_switched_off(hostile_stack: HasherStack, hostile: HostileS3) -> None:
    """Then S3 is not asked, and rows say nothing of its checksum."""
    hostile_stack.load(COMPARE_CHECKSUMS="no")
    row = recorded(hostile_stack, hostile, SMALL, whole(SMALL).stored)
    assert not [name for name in row if name.startswith("s3_")]
    assert not [get for get in hostile.requests if "x-amz-checksum-mode" in get.headers]
