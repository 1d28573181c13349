"""Deleted and restored objects, from the bucket to the row."""

import hashlib
from collections.abc import Callable

import pytest
from tests.e2e.command import answer, until

from bucketsum.events.object_events import DeletedBy
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum_cli.aws import stack_changes
from bucketsum_cli.aws.stack import Stack


def awaited(stack: Stack, row_key: RowKey, is_so: Callable[[Row], object]) -> Row:
    """The row, as soon as it *is_so*."""

    def look() -> Row | None:
        row = stack.digests_table().row_at(row_key)
        return row if row and is_so(row) else None

    return until(look, f"{row_key} to be as expected")


def is_hashed(row: Row) -> bool:
    """Whether it exists and has a digest."""
    return row.status is Status.HASHED and row.deletion is None


@pytest.mark.usefixtures("at_project")
def test_a_deleted_version_is_marked_and_keeps_its_digest(stack: Stack) -> None:
    """A marker deletes nothing; the version that is deleted for ever is found as deleted."""
    s3, key = stack.client("s3"), "deleted/by version"
    content = b"deleted by version"
    versions = [
        s3.put_object(Bucket=stack.bucket, Key=key, Body=content)["VersionId"] for _ in range(2)
    ]
    first, second = (RowKey(stack.bucket, key, version) for version in versions)
    before = awaited(stack, first, is_hashed)
    awaited(stack, second, is_hashed)
    s3.delete_object(Bucket=stack.bucket, Key=key)
    s3.delete_object(Bucket=stack.bucket, Key=key, VersionId=versions[0])
    after = awaited(stack, first, lambda row: row.deletion)
    assert after.deletion
    assert (after.deletion.by, after.sha1) == (DeletedBy.REQUEST, before.sha1)
    objects = answer("find", hashlib.sha1(content).hexdigest())["objects"]
    assert {version["version"]: bool(version["deleted_at"]) for version in objects} == {
        versions[0]: True,
        versions[1]: False,
    }


@pytest.mark.usefixtures("at_project")
@pytest.mark.parametrize("via", ["s3", "eventbridge"])
def test_an_attached_bucket_reports_deletions_and_restores(
    stack: Stack, via: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without versions: deleted, put again in Glacier, archived, restored, hashed by itself."""
    monkeypatch.setattr(stack_changes, "_POLL_SECONDS", 0.2)
    s3, bucket, key = stack.client("s3"), f"deleting-{via}", "a key"
    s3.create_bucket(Bucket=bucket)
    answer("attach", bucket, "--via", via, "--deploy", "--yes")
    place = RowKey(bucket, key, "null")
    s3.put_object(Bucket=bucket, Key=key, Body=b"first")
    awaited(stack, place, is_hashed)
    s3.delete_object(Bucket=bucket, Key=key)
    awaited(stack, place, lambda row: row.deletion)
    s3.put_object(Bucket=bucket, Key=key, Body=b"second", StorageClass="GLACIER")
    awaited(stack, place, lambda row: row.status is Status.ARCHIVED and not row.deletion)
    s3.restore_object(Bucket=bucket, Key=key, RestoreRequest={"Days": 1})
    restored = awaited(stack, place, is_hashed)
    assert restored.sha1 == hashlib.sha1(b"second").hexdigest()
    answer("detach", bucket, "--eventbridge-off", "--deploy", "--yes")
