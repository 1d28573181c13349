"""A report of S3's own readings becomes rows, or verifies those that exist."""

import csv
import hashlib
import io
import json
import shlex
import tracemalloc
from collections import Counter
from datetime import UTC, datetime
from itertools import repeat
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import Mock
from urllib.parse import quote_plus

import botocore.session
import pytest
from botocore.exceptions import ClientError
from botocore.validate import validate_parameters
from tests.cli.conftest import Run

from bucketsum.table.row_parts import ReadByS3
from bucketsum.table.rows import Row
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.manifests.entries import Entry, Reported
from bucketsum_cli.manifests.reports import rows_in
from bucketsum_cli.objects import s3_readings
from bucketsum_cli.objects.s3_readings import ReportImport

REPORTS: Final = "reports"
MANIFEST: Final = f"s3://{REPORTS}/checksums/job-0a1b-2c/manifest.json"
LATER: Final = "2099-01-01T00:00:00.000Z"
"""Report times after every object of a test."""


def sha1_of(body: bytes) -> str:
    """SHA-1 in hexadecimal."""
    return hashlib.sha1(body, usedforsecurity=False).hexdigest()


@pytest.fixture
def versioned(stack: Stack) -> Stack:
    """A stack whose bucket keeps versions, and a bucket for reports."""
    s3 = stack.client("s3")
    status: Any = {"Status": "Enabled"}
    s3.put_bucket_versioning(Bucket=stack.bucket, VersioningConfiguration=status)
    s3.create_bucket(Bucket=REPORTS)
    return stack


def put(stack: Stack, key: str, body: bytes) -> str:
    """Put an object that is archived; returns its version."""
    answer = stack.client("s3").put_object(
        Bucket=stack.bucket, Key=key, Body=body, StorageClass="DEEP_ARCHIVE"
    )
    return answer["VersionId"]


def line(
    stack: Stack, key: str, version: str, digest: str, status: str = "succeeded", **more: str
) -> list[str]:
    """A row of a report, as AWS documents it; *key* is URL-encoded."""
    message = {"checksum_hex": digest.upper(), "checksumAlgorithm": "SHA1",
               "checksumType": "FULL_OBJECT"} | more  # fmt: skip
    bucket = more.pop("bucket", stack.bucket)
    return [bucket, key, version, status, "", "200", json.dumps(message)]


def report(stack: Stack, *lines: list[str], made_at: str = LATER) -> None:
    """Write a report with *lines*."""
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    body = text.getvalue().encode()
    part = {"TaskExecutionStatus": "succeeded", "Bucket": REPORTS,
            "MD5Checksum": hashlib.md5(body).hexdigest(), "Key": "checksums/1.csv"}  # fmt: skip
    manifest = {"Format": "Report_CSV_20180820", "ReportCreationDate": made_at, "Results": [part]}
    s3 = stack.client("s3")
    s3.put_object(Bucket=REPORTS, Key="checksums/1.csv", Body=body)
    s3.put_object(
        Bucket=REPORTS, Key=MANIFEST.removeprefix(f"s3://{REPORTS}/"), Body=json.dumps(manifest)
    )


def row_of(stack: Stack, key: str) -> Row:
    """The only row of *key*."""
    [row] = stack.digests_table().versions_of(stack.bucket, key)
    return row


def test_versions_without_a_row_get_one(run: Run, versioned: Stack) -> None:
    """It says which job read it and when; the same report again changes nothing."""
    versions = {key: put(versioned, key, key.encode()) for key in ("a b", "ä/%2B+.tif")}
    lines = [
        line(versioned, quote_plus(key), v, sha1_of(key.encode())) for key, v in versions.items()
    ]
    report(versioned, *lines)
    ended = run("import", MANIFEST, "--json")
    assert (ended.status, ended.document["counts"]) == (0, {"recorded": 2})
    assert (ended.document["job"], ended.document["read_at"]) == ("0a1b-2c", LATER)
    row = row_of(versioned, "ä/%2B+.tif")
    assert (row.sha1, row.size_bytes) == (sha1_of("ä/%2B+.tif".encode()), 11)
    assert row.entry == versions["ä/%2B+.tif"]
    assert row.read_by_s3
    assert (row.read_by_s3.job, row.read_by_s3.at) == ("0a1b-2c", LATER)
    assert row.etag == hashlib.md5("ä/%2B+.tif".encode()).hexdigest()
    again = run("import", MANIFEST, "--json")
    assert (again.status, again.document["counts"]) == (0, {"unchanged": 2})
    assert row_of(versioned, "ä/%2B+.tif") == row


def test_a_recorded_digest_is_verified_and_stays(run: Run, versioned: Stack) -> None:
    """A later report compares; another digest is a difference, named, and exit 1."""
    versions = {key: put(versioned, key, key.encode()) for key in ("good", "rotten")}
    lines = [line(versioned, key, v, sha1_of(key.encode())) for key, v in versions.items()]
    report(versioned, *lines, made_at="2098-01-01T00:00:00.000Z")
    assert run("import", MANIFEST).status == 0
    report(versioned, lines[0], line(versioned, "rotten", versions["rotten"], sha1_of(b"other")))
    ended = run("import", MANIFEST, "--json")
    assert (ended.status, ended.document["counts"]) == (1, {"verified": 1, "differs": 1})
    [problem] = ended.document["lines"]
    assert (problem["key"], problem["outcome"]) == ("rotten", "differs")
    assert sha1_of(b"other") in problem["reason"]
    good, rotten = row_of(versioned, "good"), row_of(versioned, "rotten")
    assert good.verified
    assert good.verified.at == LATER
    assert rotten.sha1 == sha1_of(b"rotten")
    assert rotten.difference
    assert (rotten.difference.digest, rotten.difference.at) == (f"sha1:{sha1_of(b'other')}", LATER)
    again = run("import", MANIFEST, "--json")
    assert (again.status, again.document["counts"]) == (1, {"unchanged": 1, "differs": 1})
    assert row_of(versioned, "rotten") == rotten
    report(versioned, lines[1], made_at="2097-01-01T00:00:00.000Z")
    assert run("import", MANIFEST, "--json").document["counts"] == {"unchanged": 1}
    assert row_of(versioned, "rotten") == rotten


def test_lines_that_say_nothing_are_named_and_left_out(run: Run, versioned: Stack) -> None:
    """Failed lines, digests of parts, other algorithms and buckets, and no lines make rows."""
    version, digest = put(versioned, "a", b"a"), sha1_of(b"a")
    report(
        versioned,
        line(versioned, "a", version, digest, status="failed"),
        line(versioned, "a", version, digest, checksumType="COMPOSITE"),
        line(versioned, "a", version, hashlib.sha256(b"a").hexdigest(), checksumAlgorithm="SHA256"),
        line(versioned, "a", version, "zz"),
        line(versioned, "a", version, digest, bucket="another"),
        line(versioned, "gone", version, digest),
        ["what", "is", "this"],
        line(versioned, "%FF", version, digest),
        line(versioned, "", version, digest),
        line(versioned, "k" * 1025, version, digest),
        line(versioned, "a", f"{version}!/member", digest),
        line(versioned, "a", "v" * 1025, digest),
    )
    ended = run("import", MANIFEST, "--json").assert_no()
    assert ended.document["counts"] == {
        "not read": 9, "other bucket": 1, "gone": 1, "bad line": 1,
    }  # fmt: skip
    for reason in ("not UTF-8", "has 0 bytes", "has 1,025 bytes", "version ID is not one"):
        assert reason in ended.out
    assert versioned.digests_table().versions_of(versioned.bucket, "a") == []
    assert "a row needs a SHA-1" in ended.out


def test_lines_about_one_version_are_compared_with_each_other(
    run: Run, versioned: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same again changes nothing; another digest of it is named, and exit 1."""
    monkeypatch.setattr(s3_readings, "CONNECTIONS", 1)  # moto's conditions are not atomic
    version, digest = put(versioned, "a", b"a"), sha1_of(b"a")
    once = line(versioned, "a", version, digest)
    report(versioned, once, once, line(versioned, "a", version, sha1_of(b"b")))
    ended = run("import", MANIFEST, "--json").assert_no()
    assert ended.document["counts"] == {"recorded": 1, "unchanged": 1, "differs": 1}


def test_an_overwritten_null_version_is_not_the_one_that_was_read(stack: Stack) -> None:
    """Without versions, its time and its entity tag say whether it is another one."""
    head = {"ContentLength": 3, "ETag": '"tag"', "LastModified": datetime(2026, 11, 1, tzinfo=UTC)}
    s3: Any = SimpleNamespace(head_object=lambda **_: head)  # moto knows no version `null`

    def imported(made_at: str, etag: str) -> str:
        reported = Reported(stack.bucket, "", etag)
        entry = Entry(b"a", {"sha1": sha1_of(b"old")}, reported=reported)
        source = ReadByS3("job", made_at)
        imports = ReportImport(s3, stack.digests_table(), [stack.bucket], source)
        return next(imports.lines([entry])).outcome

    assert imported("2026-10-31T00:00:00Z", "") == "superseded"
    assert imported(LATER, "other") == "superseded"
    assert imported(LATER, "tag") == "recorded"
    assert row_of(stack, "a").version.is_null
    head["ETag"] = '"of a new object"'
    assert imported("2099-02-01T00:00:00Z", "") == "superseded"
    assert row_of(stack, "a").verified is None


def test_a_version_that_s3_refuses_ends_no_import(stack: Stack) -> None:
    """S3 answers 400 if a version ID is none of its own, and if a customer has the key."""
    refusal = ClientError({"Error": {"Code": "400"}}, "HeadObject")
    s3: Any = Mock(head_object=Mock(side_effect=refusal))
    imports = ReportImport(s3, stack.digests_table(), [stack.bucket], ReadByS3("job", LATER))
    entry = Entry(b"a", {"sha1": sha1_of(b"a")}, reported=Reported(stack.bucket, "v1"))
    [imported] = imports.lines([entry])
    assert imported.outcome == "not read"
    assert "S3 refuses" in (imported.reason or "")


def test_a_report_of_any_length_is_read_in_bounded_memory(stack: Stack) -> None:
    """Ten times as many lines need no more; all are counted."""
    fields = line(stack, "k" * 900, "", sha1_of(b"a"), status="failed")
    text = io.StringIO()
    csv.writer(text).writerow(fields)
    source = ReadByS3("job", LATER)
    s3: Any = None  # no line is looked up
    imports = ReportImport(s3, stack.digests_table(), [stack.bucket], source)
    peaks = []
    for count in (100, 1_000):
        lines = repeat(text.getvalue().encode(), count)
        part: Any = SimpleNamespace(readline=lambda _, lines=lines: next(lines, b""))
        tracemalloc.start()
        outcomes = Counter(imported.outcome for imported in imports.lines(rows_in(part)))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert outcomes == {"not read": count}
    assert peaks[1] < peaks[0] * 1.5


def test_a_report_that_is_cut_off_has_no_other_digests() -> None:
    """Wherever a file without an MD5 ends, its last line is that of the report, or says nothing."""
    message = json.dumps({"checksum_hex": sha1_of(b"a"), "checksumAlgorithm": "SHA1"})
    text = io.StringIO()
    csv.writer(text).writerows([["b", "k", "v", "succeeded", "", "200", message]] * 2)
    body = text.getvalue().encode()
    for end in range(len(body)):
        entries = [*rows_in(io.BytesIO(body[:end]))]
        digests = [e.digests for e in entries if isinstance(e, Entry) and e.digests]
        assert digests == [{"sha1": sha1_of(b"a")}] * len(digests)
        assert len(entries) <= 2


def test_a_dry_run_writes_nothing(run: Run, versioned: Stack) -> None:
    """It says what would become of each line."""
    version = put(versioned, "a", b"a")
    report(versioned, line(versioned, "a", version, sha1_of(b"a")))
    ended = run("import", MANIFEST, "--dry-run")
    assert "would be: 1 recorded" in ended.out
    assert versioned.digests_table().versions_of(versioned.bucket, "a") == []


def test_a_report_without_lines_or_time_is_refused(run: Run, versioned: Stack) -> None:
    """Nothing imported is never a success, and without its time a report verifies nothing."""
    report(versioned)
    run("import", MANIFEST).assert_refused("has no lines")
    for made_at in ("yesterday", "0001-01-01T00:00:00+14:00"):  # in UTC, before the first year
        report(versioned, line(versioned, "a", "v", sha1_of(b"a")), made_at=made_at)
        run("import", MANIFEST).assert_refused("ReportCreationDate")
    run("import", f"s3://{REPORTS}/checksums/1.csv").assert_refused("is not the manifest.json")
    run("import").assert_refused("manifest.json")


def test_a_damaged_part_ends_the_import(run: Run, versioned: Stack) -> None:
    """A part whose MD5 is not the manifest's is refused before a line of it is used."""
    version = put(versioned, "a", b"a")
    report(versioned, line(versioned, "a", version, sha1_of(b"a")))
    body = versioned.client("s3").get_object(Bucket=REPORTS, Key="checksums/1.csv")["Body"].read()
    altered = body.replace(sha1_of(b"a").upper().encode(), sha1_of(b"b").upper().encode())
    for damaged in (b"cut", altered):
        versioned.client("s3").put_object(Bucket=REPORTS, Key="checksums/1.csv", Body=damaged)
        run("import", MANIFEST).assert_refused("its MD5 is")
    assert versioned.digests_table().versions_of(versioned.bucket, "a") == []


def test_the_plan_is_a_request_that_aws_knows(run: Run, versioned: Stack) -> None:
    """Its parameters are valid in AWS's model; the text is for the clipboard."""
    put(versioned, "tapes/it's.tif", b"a" * 1000)
    put(versioned, "other", b"b")
    arguments = ("--plan", versioned.bucket, "--storage-class", "DEEP_ARCHIVE")
    job = run("import", *arguments, "--prefix", "tapes/", "--json").document
    assert (job["objects"], job["size_bytes"]) == (1, 1000)
    assert job["job_usd"] == pytest.approx(0.25, abs=0.001)
    assert job["restore_usd"] is not None
    words = shlex.split(job["command"].replace("\\\n", " ").replace('"$(uuidgen)"', "token"))
    values = dict(zip(words[3::2], words[4::2], strict=False))
    model = botocore.session.get_session().get_service_model("s3control")
    request = {
        "AccountId": values["--account-id"],
        "Operation": json.loads(values["--operation"]),
        "ManifestGenerator": json.loads(values["--manifest-generator"]),
        "Report": json.loads(values["--report"]),
        "RoleArn": values["--role-arn"],
        "Priority": int(values["--priority"]),
        "ClientRequestToken": "token",
    }
    shape = model.operation_model("CreateJob").input_shape
    assert shape
    validate_parameters(request, shape)
    chosen = request["ManifestGenerator"]["S3JobManifestGenerator"]["Filter"]
    assert chosen == {
        "MatchAnyStorageClass": ["DEEP_ARCHIVE"],
        "KeyNameConstraint": {"MatchAnyPrefix": ["tapes/"]},
    }
    shown = run("import", versioned.bucket, "--plan", *arguments[2:])
    assert "restoring them in bulk costs" in shown.out
    assert "create-job" in shown.out
    for document in (job["trust_policy"], job["policy"]):
        assert f"\n{json.dumps(document, indent=2)}\n" in shown.out
    whole = run("import", *arguments, "--prefix", "tapes/")
    assert f"\n{job['command']}\n" in whole.out
