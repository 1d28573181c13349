"""`bucketsum repair`: a copy with the recorded digest takes the place of what is broken."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, hashed, put_and_record
from tests.cli.permissions import as_fake

from bucketsum.table.row_parts import Difference
from bucketsum.table.rows import Row, RowKey
from bucketsum.table.state import ObjectState, is_repaired, state_of
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands import repair
from bucketsum_cli.objects.upload import Upload

GOOD, ROTTEN = b"good", b"rotten"
OTHER = "attached-bucket"


@pytest.fixture(autouse=True)
def hasher(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each copy is hashed while the command waits for its row."""

    def rows(_: object, uploads: Iterable[Upload], __: float) -> Iterator[tuple[RowKey, Row]]:
        for upload in uploads:
            at = upload.row_key
            with as_fake():
                content = stack.client("s3").get_object(Bucket=at.bucket, Key=at.key)["Body"].read()
                row = hashed(at, content, "0F", etag=upload.etag)
                stack.digests_table().record(row)
            yield at, row

    monkeypatch.setattr(repair, "wait_for_rows", rows)
    with as_fake():
        stack.client("s3").create_bucket(Bucket=OTHER)
        stack.client("s3").put_bucket_versioning(
            Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"}
        )


def rot(stack: Stack, key: str = "a", sequencer: str = "02") -> Row:
    """Record an object whose bytes are others by now."""
    answer = stack.client("s3").put_object(
        Bucket=BUCKET, Key=key, Body=ROTTEN, Metadata={"of": "the old"}, ContentType="image/tiff",
        Tagging="kept=yes",
    )  # fmt: skip
    etag = hashlib.md5(ROTTEN).hexdigest()
    difference = Difference("sha1:" + "0" * 40, "2026-11-21T10:00:00.000Z")
    row = hashed(RowKey(BUCKET, key, answer["VersionId"]), GOOD, sequencer, etag=etag,
                 difference=difference)  # fmt: skip
    stack.digests_table().record(row)
    return row


def copy_elsewhere(stack: Stack, bucket: str = OTHER, **facts: str) -> None:
    """Put and record a copy of the right bytes."""
    answer = stack.client("s3").put_object(Bucket=bucket, Key="b", Body=GOOD, **facts)  # type: ignore[arg-type]
    stack.digests_table().record(hashed(RowKey(bucket, "b", answer.get("VersionId", "null")), GOOD))


def test_an_earlier_version_takes_its_place(run: Run, stack: Stack) -> None:
    """S3 copies it with the metadata and tags of the broken version, which is repaired then."""
    put_and_record(stack, "a", GOOD)
    row = rot(stack)
    planned = run("repair", "a", "--dry-run", "--json").document
    assert (planned["version"], planned["state"], planned["new_version"]) == (
        row.entry, "differs", None,
    )  # fmt: skip
    ended = run("repair", "a", "--yes", "--json")
    assert (ended.status, ended.document["new_sha1"]) == (0, row.sha1)
    s3 = stack.client("s3")
    now = s3.get_object(Bucket=BUCKET, Key="a")
    assert (now["Body"].read(), now["Metadata"], now["ContentType"]) == (
        GOOD, {"of": "the old"}, "image/tiff",
    )  # fmt: skip
    assert s3.get_object_tagging(Bucket=BUCKET, Key="a")["TagSet"][0]["Value"] == "yes"
    assert len(s3.list_object_versions(Bucket=BUCKET)["Versions"]) == 3
    rows = stack.digests_table().versions_of(BUCKET, "a")
    assert state_of(row, is_repaired=is_repaired(row, rows)) is ObjectState.REPAIRED
    again = run("repair", "a", "--yes")
    assert (again.status, "needs no repair" in again.err) == (0, True)


def test_what_is_lost_comes_back_from_another_bucket(run: Run, stack: Stack) -> None:
    """A person who declines changes nothing."""
    row = put_and_record(stack, "a", GOOD)
    stack.client("s3").delete_object(Bucket=BUCKET, Key="a", VersionId=row.entry)
    copy_elsewhere(stack)
    declined = run("repair", "a", answer="n\n")
    assert (declined.status, "nothing was copied" in declined.err) == (1, True)
    ended = run("repair", "a", answer="y\n")
    assert (ended.status, "repaired: the new version" in ended.err) == (0, True)
    assert f"copy: s3://{OTHER}/b" in ended.out


def test_a_replica_is_read_before_it_is_copied(run: Run, stack: Stack) -> None:
    """Nobody recorded its digest: another content is refused, and nothing is written."""
    rot(stack)
    s3 = stack.client("s3")
    s3.put_object(Bucket=OTHER, Key="c", Body=b"another")
    run("repair", "a", "--from", f"s3://{OTHER}/c", "--yes").assert_refused("nothing was copied")
    run("repair", "a", "--from", f"s3://{OTHER}", "--yes").assert_refused("has no key")
    s3.put_object(Bucket=OTHER, Key="c", Body=GOOD)
    assert run("repair", "a", "--from", f"s3://{OTHER}/c", "--yes").status == 0


def test_what_cannot_be_copied_is_named(run: Run, stack: Stack) -> None:
    """An archived copy, one that S3 no longer has, one that differs itself, or none at all."""
    rot(stack)
    none = run("repair", "a", "--yes")
    assert (none.status, "--from names one elsewhere" in " ".join(none.err.split())) == (1, True)
    rot(stack, "d")
    copy_elsewhere(stack, StorageClass="GLACIER")
    lost = put_and_record(stack, "e", GOOD)
    stack.client("s3").delete_object(Bucket=BUCKET, Key="e", VersionId=lost.entry)
    text = " ".join((ended := run("repair", "a", "--yes")).err.split())
    assert ended.status == 1
    assert f"s3://{OTHER}/b cannot be copied: it is archived (GLACIER)" in text
    assert f"s3://{BUCKET}/e {lost.entry} cannot be copied: S3 no longer has it" in text
    assert f"s3://{BUCKET}/d" not in text


def test_an_object_from_before_versioning_is_a_copy(run: Run, stack: Stack) -> None:
    """S3 copies the version `null`, not the newer one above it."""
    s3 = stack.client("s3")
    for status, content in (("Suspended", GOOD), ("Enabled", b"newer")):
        versioning: Any = {"Status": status}
        s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration=versioning)
        s3.put_object(Bucket=BUCKET, Key="b", Body=content)
    etag = hashlib.md5(GOOD).hexdigest()
    stack.digests_table().record(hashed(RowKey(BUCKET, "b", "null"), GOOD, etag=etag))
    rot(stack)
    assert run("repair", "a", "--yes").status == 0
    assert s3.get_object(Bucket=BUCKET, Key="a")["Body"].read() == GOOD


def test_a_newer_version_or_a_deletion_is_kept(run: Run, stack: Stack) -> None:
    """A copy would be the newest: that must be wanted."""
    rot(stack)
    copy_elsewhere(stack)
    put_and_record(stack, "a", b"edited since", "03")
    run("repair", "a", "--yes").assert_refused("has a newer version or was deleted")
    rot(stack, "f")
    stack.client("s3").delete_object(Bucket=BUCKET, Key="f")
    run("repair", "f", "--yes").assert_refused("has a newer version or was deleted")
    assert run("repair", "f", "--overwrite", "--yes").status == 0


def test_without_versions_nothing_is_replaced(run: Run, stack: Stack) -> None:
    """The broken bytes would be gone: that must be wanted."""
    rot(stack)
    copy_elsewhere(stack)
    stack.client("s3").put_bucket_versioning(
        Bucket=BUCKET, VersioningConfiguration={"Status": "Suspended"}
    )
    run("repair", "a", "--yes").assert_refused("keeps no versions")
    run("repair", "no-such-key", "--yes").assert_refused("nothing is recorded for no-such-key")


def test_a_copy_with_another_digest_is_no_repair(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is one without a digest in time: the exit status says so."""
    rot(stack)
    copy_elsewhere(stack)
    monkeypatch.setattr(repair, "wait_for_rows", lambda *_: ())
    ended = run("repair", "a", "--yes")
    assert (ended.status, "has no digest yet" in " ".join(ended.err.split())) == (1, True)
