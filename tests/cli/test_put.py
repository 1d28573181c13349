"""`bucketsum put`: files in, digests out, and the exit status that a script needs."""

import base64
import hashlib
import os
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from boto3.exceptions import S3UploadFailedError
from boto3.s3.transfer import S3Transfer
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.parsers import ResponseParserError
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, HOSTILE, HOSTILE_SHOWN, hashed, unreadable

from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.rows import Row, RowKey
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.objects import upload
from bucketsum_cli.objects.files import LocalFile
from bucketsum_cli.objects.upload import put_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder ``in`` with an ordinary, an empty and a hostile name."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.bin").write_bytes(b"a" * 1500)
    (folder / "empty").touch()
    hostile = folder / HOSTILE
    hostile.parent.mkdir()  # the slash of its markup makes a folder
    hostile.write_bytes(b"hostile")
    return folder


@pytest.mark.usefixtures("prompt_hasher")
def test_every_file_is_in_the_bucket_and_has_hashlibs_digest(
    run: Run, folder: Path, stack: Stack
) -> None:
    """Exit status 0 means: sent, hashed, and this is what came out."""
    ended = run("put", folder, "--prefix", "x/", "--json").assert_done()
    assert ended.document["bucket"] == BUCKET
    assert ended.document["skipped"] == []
    shown = {uploaded["key"]: uploaded for uploaded in ended.document["objects"]}
    assert set(shown) == {"x/in/a.bin", "x/in/empty", f"x/in/{HOSTILE}"}
    for path in filter(Path.is_file, folder.rglob("*")):
        uploaded = shown[f"x/{path.relative_to(folder.parent)}"]
        assert uploaded["sha1"] == hashlib.sha1(path.read_bytes()).hexdigest()
        assert (uploaded["status"], uploaded["size_bytes"]) == ("hashed", path.stat().st_size)
        answer = stack.client("s3").get_object(
            Bucket=BUCKET, Key=uploaded["key"], VersionId=uploaded["version"]
        )
        assert answer["Body"].read() == path.read_bytes()


@pytest.mark.usefixtures("prompt_hasher")
def test_table_has_a_line_for_each_file_and_nothing_in_a_key_acts(run: Run, folder: Path) -> None:
    """Behind a pipe a row is a line; a hostile key is shown as text."""
    ended = run("put", folder)
    heading, *lines = ended.out.splitlines()
    assert heading.split() == ["key", "size", "SHA-1", "MB/s"]
    assert len(lines) == 3
    line = next(line for line in lines if "a.bin" in line)
    assert line.split() == [
        "in/a.bin", "1.5", "kB", hashlib.sha1(b"a" * 1500).hexdigest(), "12.5",
    ]  # fmt: skip
    assert f"in/{HOSTILE_SHOWN}" in ended.out
    assert "\x9b" not in ended.out + ended.err
    assert "\u202e" not in ended.out + ended.err


@pytest.mark.usefixtures("prompt_hasher")
def test_large_file_in_parts_is_one_object_with_one_digest(
    run: Run, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts are S3's business: version, size, digest and S3's checksum are the whole file's."""
    monkeypatch.setattr(upload, "MULTIPART_FROM_BYTES", 5 * 1024 * 1024)
    monkeypatch.setattr(upload, "_PART_BYTES", 8 * 1024 * 1024)
    content = os.urandom(11 * 1024 * 1024)
    (tmp_path / "large").write_bytes(content)
    (uploaded,) = run("put", tmp_path / "large", "--json").document["objects"]
    assert uploaded["etag"].endswith("-2")
    assert uploaded["sha1"] == hashlib.sha1(content).hexdigest()
    head = stack.client("s3").head_object(
        Bucket=stack.bucket, Key=uploaded["key"], ChecksumMode="ENABLED"
    )
    crc32 = base64.b64encode(zlib.crc32(content).to_bytes(4, "big")).decode()
    assert (head["ChecksumType"], head["ChecksumCRC32"]) == ("FULL_OBJECT", crc32)


def test_the_version_waited_for_is_the_one_that_was_put(
    run: Run, folder: Path, stack: Stack
) -> None:
    """A row of an earlier version, even of the same bytes, is not this upload's digest."""
    run("put", folder / "a.bin", "--no-wait")
    (version,) = stack.client("s3").list_object_versions(Bucket=BUCKET)["Versions"]
    place = RowKey(BUCKET, "a.bin", version["VersionId"])
    stack.digests_table().record(hashed(place, b"a" * 1500))
    ended = run("put", folder / "a.bin", "--timeout", 0, "--json")
    (uploaded,) = ended.document["objects"]
    assert ended.status == 1
    assert (uploaded["status"], uploaded["sha1"]) == ("not hashed yet", None)
    assert uploaded["version"] != version["VersionId"]


def test_in_a_bucket_without_versions_another_objects_row_does_not_count(
    run: Run, folder: Path, stack: Stack
) -> None:
    """The place is the same for all objects of a key; the entity tag tells them apart."""
    stack.client("s3").delete_bucket(Bucket=BUCKET)
    stack.client("s3").create_bucket(Bucket=BUCKET)
    place = RowKey(BUCKET, "a.bin", "null")
    stack.digests_table().record(hashed(place, b"before", "01"))
    assert run("put", folder / "a.bin", "--timeout", 0).status == 1
    now = replace(hashed(place, b"a" * 1500, "02"), recorded_at="2026-11-20T11:00:00.000+00:00")
    stack.digests_table().record(now)
    assert run("put", folder / "a.bin", "--timeout", 0).status == 0


@pytest.mark.usefixtures("stack")
def test_a_timeout_names_the_missing_digests(run: Run, folder: Path) -> None:
    """A file without a digest in time is shown as waiting, and the exit status is 1."""
    ended = run("put", folder, "--timeout", 0).assert_no()
    assert ended.out.count("not hashed yet") == 3
    assert "no digest after 0 s: 3 of 3" in ended.err
    assert f"run `bucketsum backfill {BUCKET}` ten minutes later" in ended.err


@pytest.mark.usefixtures("stack")
def test_no_wait_ends_well_as_soon_as_all_is_sent(run: Run, folder: Path) -> None:
    """Who does not wait is not told that digests are missing."""
    ended = run("put", folder, "--no-wait", "--json").assert_done()
    assert {uploaded["status"] for uploaded in ended.document["objects"]} == {"not hashed yet"}


class RefusedTable(DigestsTable):
    """Behind it works a hasher that S3 lets read nothing."""

    def rows_at(self, places: Iterable[RowKey]) -> dict[RowKey, Row]:
        """Every object is unreadable."""
        return {
            place: unreadable(place, b"a" * 1500, "access denied; [b]ask[/b]") for place in places
        }


@pytest.mark.usefixtures("stack")
def test_unreadable_object_is_told_with_its_reason(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row without a digest ends the wait, and badly."""

    def refused_table(stack: Stack) -> DigestsTable:
        return RefusedTable(stack.client("dynamodb"), stack.table)

    monkeypatch.setattr(Stack, "digests_table", refused_table)
    ended = run("put", folder / "a.bin").assert_no()
    assert "unreadable: access denied; [b]ask[/b]" in ended.err


@pytest.mark.usefixtures("prompt_hasher")
def test_file_that_cannot_be_read_does_not_keep_the_others(run: Run, folder: Path) -> None:
    """The rest is sent and shown; what was not is named, and the exit status says so."""
    (folder / "broken\x1b[2J").symlink_to("nowhere")
    ended = run("put", folder, "--json").assert_no()
    assert len(ended.document["objects"]) == 3
    assert ended.document["skipped"] == [
        {"path": str(folder / "broken\x1b[2J"), "reason": "No such file or directory"}
    ]
    assert r"broken\x1b[2J" in ended.err
    assert "\x1b" not in ended.err


def test_file_that_vanishes_before_it_is_sent_is_skipped(stack: Stack, folder: Path) -> None:
    """Found and sent are two moments."""
    there = LocalFile(folder / "a.bin", "there", 1500)
    gone = LocalFile(folder / "gone", "gone", 5)
    sent, skipped = put_files(stack, [gone, there])
    assert [uploaded.file for uploaded in sent] == [there]
    assert [(uploaded.path, uploaded.reason) for uploaded in skipped] == [
        (gone.path, "No such file or directory")
    ]


def test_progress_is_told_every_byte_and_every_file(stack: Stack, folder: Path) -> None:
    """A bar that follows them ends full."""
    sizes: list[int] = []
    ends: list[None] = []
    files = [LocalFile(folder / name, name, 0) for name in ("a.bin", "empty")]
    put_files(stack, files, sizes.append, lambda: ends.append(None))
    assert (sum(sizes), len(ends)) == (1500, 2)


@pytest.mark.usefixtures("stack")
def test_a_table_that_refuses_is_an_error(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is not shown as waiting if its state is unknown."""

    def refuse(_: object, __: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "BatchGetItem")

    monkeypatch.setattr(DigestsTable, "rows_at", refuse)
    run("put", folder).assert_refused("do not allow BatchGetItem")


@pytest.mark.usefixtures("stack")
def test_a_transfer_shows_what_s3_refused(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """boto3 wraps the refusal in an error of its own, which says neither what nor what to do."""

    def refuse(*_: object) -> None:
        error = S3UploadFailedError("Failed to upload")
        error.__context__ = ClientError({"Error": {"Code": "ExpiredToken"}}, "PutObject")
        raise error

    monkeypatch.setattr(S3Transfer, "upload_file", refuse)
    run("put", folder).assert_refused("your session has expired", "PutObject: ExpiredToken")


def test_a_dry_run_uploads_nothing(run: Run, stack: Stack, tmp_path: Path) -> None:
    """It shows each file with its key and size, as a table and as JSON."""
    (tmp_path / "a.txt").write_bytes(b"four")
    shown = run("put", tmp_path / "a.txt", "--prefix", "x/", "--dry-run")
    assert (shown.status, "x/a.txt" in shown.out) == (0, True)
    assert "1 file, 4 B; nothing was uploaded" in shown.out
    document = run("put", tmp_path / "a.txt", "--dry-run", "--json").document
    assert document["files"] == [{"key": "a.txt", "path": str(tmp_path / "a.txt"), "size_bytes": 4}]
    assert stack.client("s3").list_objects_v2(Bucket=stack.bucket)["KeyCount"] == 0


@pytest.mark.usefixtures("prompt_hasher")
def test_every_machine_uploads_with_the_client_that_returns_the_version(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On some EC2 types, boto3 prefers its C client if that is installed."""
    fast = SimpleNamespace(is_optimized_for_system=lambda: True)
    for name, value in {
        "HAS_CRT": True, "awscrt": SimpleNamespace(__version__="1.0.0", s3=fast),
        "create_crt_transfer_manager": lambda *_: pytest.fail("it returns no version"),
    }.items():  # fmt: skip
        monkeypatch.setattr(f"boto3.s3.transfer.{name}", value, raising=False)
    assert run("put", folder).status == 0


@pytest.mark.usefixtures("prompt_hasher")
def test_a_refused_file_ends_no_other(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named with the refusal, and the others are shown; the exit status is 1."""
    upload_file: Any = S3Transfer.upload_file

    def refuse(transfer: S3Transfer, path: str, *arguments: str) -> None:
        if path.endswith("a.bin"):
            raise ResponseParserError("not well-formed")
        upload_file(transfer, path, *arguments)

    monkeypatch.setattr(S3Transfer, "upload_file", refuse)
    ended = run("put", folder, "--json")
    assert (ended.status, len(ended.document["objects"])) == (1, 2)
    [skipped] = ended.document["skipped"]
    assert (skipped["path"], skipped["reason"]) == (str(folder / "a.bin"), "not well-formed")


def test_after_a_lost_connection_no_further_file_is_sent(
    stack: Stack, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would wait for the time-out again; the sent ones are kept."""
    sent = LocalFile(folder / "a.bin", "sent", 1500)
    others = [LocalFile(folder / "a.bin", f"lost-{number}", 1500) for number in range(20)]
    upload_file: Any = S3Transfer.upload_file
    attempts: list[str] = []

    def lose(transfer: S3Transfer, path: str, *arguments: str) -> None:
        attempts.append(arguments[1])
        if arguments[1] != "sent":
            raise EndpointConnectionError(endpoint_url="https://s3")
        upload_file(transfer, path, *arguments)

    monkeypatch.setattr(upload, "_FILES_AT_A_TIME", 1)
    monkeypatch.setattr(S3Transfer, "upload_file", lose)
    uploaded, skipped = put_files(stack, [sent, *others])
    assert [upload.file for upload in uploaded] == [sent]
    assert attempts == ["sent", "lost-0"]
    assert skipped[-1].reason == "not sent, because AWS cannot be reached"


def test_the_size_is_of_what_was_sent(stack: Stack, folder: Path) -> None:
    """A log grows between the listing and its upload."""
    [uploaded], _ = put_files(stack, [LocalFile(folder / "a.bin", "log", 5)])
    assert uploaded.file.size_bytes == 1500
