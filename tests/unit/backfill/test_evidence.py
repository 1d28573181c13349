"""Evidence: every row has one place in the balance, and every run one report in the chain."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from tests.support.evidence_world import (
    BEGUN,
    BUCKET,
    PLENTY,
    REPORTS,
    RUN,
    SINCE,
    EvidenceWorld,
)
from tests.support.moto_state import restore, saved

from bucketsum.backfill import accounting, closing
from bucketsum.backfill.backfill_records import SCHEDULE, BackfillStatus, Part, Tally
from bucketsum.backfill.balance import Balance, BalanceEntry, Standing
from bucketsum.backfill.closing import Evidence
from bucketsum.backfill.evidence_records import ChainedReport, RowFinding
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.overdue import overdue, period_days
from bucketsum.backfill.report import findings_file, sorted_findings
from bucketsum.backfill.rest import days_ago
from bucketsum.backfill.run import next_step
from bucketsum.clock import now
from bucketsum.errors import DamagedItem
from bucketsum.events.object_events import DeletedBy
from bucketsum.hashing.ending import Purpose
from bucketsum.invocation.deadline import Deadline
from bucketsum.table.items import item_of
from bucketsum.table.row_parts import Deletion, Difference, Verified
from bucketsum.table.rows import Row, Status

KEY = ("backfill", "item")
OF_ANOTHER_RUN = (*KEY, "run", "bucket")
VERIFIED = Verified(SINCE, 1)
DELETION = Deletion(SINCE, DeletedBy.REQUEST, "0F".ljust(32, "0"))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[EvidenceWorld]:
    """A world whose pages are small, and whose deletions are reported at once."""
    monkeypatch.setattr(accounting, "PAGE_ROWS", 3)
    monkeypatch.setattr(closing, "DELETIONS_SECONDS", 0)
    with mock_aws():
        yield EvidenceWorld()


def lose(world: EvidenceWorld, key: str) -> None:
    """Remove an object for good, without an event."""
    listed = world.s3.list_object_versions(Bucket=BUCKET, Prefix=key)
    for version in listed["Versions"]:
        world.s3.delete_object(Bucket=BUCKET, Key=key, VersionId=version["VersionId"])


def everything(world: EvidenceWorld) -> dict[str, int]:
    """Put objects of every standing; returns how many rows each must have."""
    for number in range(5):
        world.put(f"sound/{number}", verified=VERIFIED)
    world.put("new", recorded_at=SINCE)
    world.put("rotten", difference=Difference("sha1:" + "a" * 40, SINCE))
    world.put("mended", difference=Difference("sha1:" + "a" * 40, SINCE))
    world.s3.put_object(Bucket=BUCKET, Key="mended", Body=b"mended")
    mended = world.put("mended", verified=VERIFIED, arrived_at=SINCE, sequencer="1".ljust(32, "0"))
    assert mended.verified
    world.put("frozen", "GLACIER")
    world.put("cheap", "STANDARD_IA")
    world.put("restored")
    lose(world, "restored")
    world.put("restored", recorded_at=SINCE, arrived_at=SINCE, sequencer="1".ljust(32, "0"))
    world.put("lost/1")
    world.put("lost/2")
    lose(world, "lost/1")
    lose(world, "lost/2")
    world.put("deleted", deletion=DELETION)
    world.put("denied", status=Status.UNREADABLE, sha1=None, reason="AccessDenied")
    world.put("waiting")
    return {
        "verified": 6, "hashed": 2, "differs": 1, "repaired": 2, "archived": 1, "not selected": 1,
        "lost": 2, "deleted": 1, "unreadable": 1, "failed": 1,
    }  # fmt: skip


def balance_of(report: dict[str, Any]) -> dict[str, int]:
    """Standing → rows of the report's only bucket."""
    [bucket] = report["buckets"]
    rows: Counter[str] = Counter()
    for line in bucket["balance"]:
        rows[line["standing"]] += line["rows"]
    return dict(rows)


def test_every_row_has_one_standing(world: EvidenceWorld) -> None:
    """The sum is the number of rows; what somebody must look at is named."""
    expected = everything(world)
    world.begin(storage_classes=("STANDARD", "GLACIER"))
    report = world.close()
    assert balance_of(report) == expected
    assert report["rows"] == sum(expected.values())
    named = {(finding.kind, finding.key) for finding in world.records.findings(RUN)}  # type: ignore[union-attr]
    assert named == {
        ("differs", "rotten"), ("repaired", "mended"), ("repaired", "restored"),
        ("lost", "lost/1"), ("lost", "lost/2"),
        ("deleted", "deleted"), ("unreadable", "denied"), ("failed", "waiting"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"prefix": "b/"}, "prefix"),
        ({"sample": 1e-9}, "sample"),
        ({"older_than": "2026-11-20T09:00:00.000Z"}, "age"),
        ({"missing": "sha256"}, "missing"),
        ({"storage_classes": ("STANDARD_IA",)}, "storage class"),
        ({"status": BackfillStatus.STOPPED}, "stopped"),
        ({"purpose": Purpose.RECORD}, "recorded"),
    ],
)
def test_a_rule_that_left_a_row_out_is_named(
    world: EvidenceWorld, facts: dict[str, Any], rule: str
) -> None:
    """A row that nobody read did not fail if the run is not about it."""
    world.put("a")
    world.begin(**facts)
    [line] = world.close()["buckets"][0]["balance"]
    assert (line["standing"], line["rule"], line["rows"]) == ("not selected", rule, 1)


@pytest.mark.parametrize(
    ("is_lost", "balance"), [(True, {"lost": 1, "verified": 1}), (False, {"verified": 2})]
)
def test_a_reading_just_before_a_run_does_not_hide_a_loss(
    world: EvidenceWorld, balance: dict[str, int], *, is_lost: bool
) -> None:
    """The clock of its function may be slow, or it was that of the run before: S3 is asked."""
    just_before = Verified("2026-11-21T09:59:30.000Z", 1)
    world.put("a", verified=just_before)
    world.put("b", verified=VERIFIED)
    if is_lost:
        lose(world, "a")
    world.begin()
    assert balance_of(world.close()) == balance


def test_an_overwritten_version_is_not_selected(world: EvidenceWorld) -> None:
    """A run of current versions leaves the others out, and loses none."""
    world.put("a")
    world.put("a", verified=VERIFIED)
    world.begin(all_versions=False)
    assert balance_of(world.close()) == {"verified": 1, "not selected": 1}


@pytest.fixture
def heads(world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Keys that S3 was asked about."""
    keys, head = set[str](), world.s3.head_object

    def noted(**parameters: str) -> Any:  # noqa: ANN401 - botocore's
        keys.add(parameters["Key"])
        return head(**parameters)

    monkeypatch.setattr(world.s3, "head_object", noted)
    return keys


@pytest.mark.parametrize("share", [1, 2])
def test_a_listing_accounts_for_rows_without_a_request(
    world: EvidenceWorld, heads: set[str], monkeypatch: pytest.MonkeyPatch, share: int
) -> None:
    """S3 is asked about what nobody has listed, and about findings; classes are those listed."""
    monkeypatch.setattr(closing, "SHARE_PAGES", share)
    monkeypatch.setattr(closing, "SEGMENT_ROWS", 10)
    expected = everything(world)
    world.begin(lists=True, storage_classes=("STANDARD", "GLACIER"))
    report = world.close()
    assert balance_of(report) == expected
    assert heads == {"rotten", "mended", "restored", "lost/1", "lost/2", "denied", "waiting"}
    classes = {
        (line["standing"], line["storage_class"]) for line in report["buckets"][0]["balance"]
    }
    others = {"not selected": "STANDARD_IA", "archived": "GLACIER", "lost": None}
    named = dict.fromkeys(expected, "STANDARD") | others
    assert classes == {*named.items(), ("repaired", None)}


@pytest.mark.parametrize(
    ("facts", "rule", "whole"),
    [
        ({"older_than": "2026-11-20T09:00:00.000Z"}, "age", True),
        ({"missing": "sha256"}, "missing", True),
        ({"purpose": Purpose.RECORD}, "recorded", True),
        ({"older_than": "2026-11-20T09:00:00.000Z"}, "age", False),
    ],
)
def test_a_row_that_is_left_out_may_be_lost(
    world: EvidenceWorld,
    heads: set[str],
    monkeypatch: pytest.MonkeyPatch,
    facts: dict[str, Any],
    rule: str,
    *,
    whole: bool,
) -> None:
    """If the listing lacks it, S3 is asked: a later run does not hide a loss; see decision 29."""
    if not whole:
        monkeypatch.setattr(closing, "SHARES_MAX", 0)
    world.put("a")
    world.put("b")
    lose(world, "b")
    world.begin(lists=True, **facts)
    lines = world.close()["buckets"][0]["balance"]
    counted = {(line["standing"], line["rule"]): line["rows"] for line in lines}
    left_out = ("not selected", rule)
    assert counted == ({left_out: 1, ("lost", None): 1} if whole else {left_out: 2})
    assert heads == ({"b"} if whole else set())


@pytest.mark.parametrize(("tally", "is_lost"), [(Tally(verified=3), False), (Tally(), True)])
def test_a_run_is_done_when_every_object_has_its_row(
    world: EvidenceWorld, tally: Tally, *, is_lost: bool
) -> None:
    """A message that SQS delivers twice is counted twice; an object without a row is missing."""
    row = world.put("a", verified=VERIFIED)
    if is_lost:
        key = {name: item_of(row)[name] for name in ("object", "entry")}
        world.digests.dynamodb.delete_item(TableName="digests", Key=key)
    world.table.count(world.begin(lists=True).backfill_id, tally)
    [bucket] = world.close()["buckets"]
    assert bucket["state"] == ("incomplete" if is_lost else "done")


def test_a_run_is_not_done_by_a_row_that_it_did_not_read(world: EvidenceWorld) -> None:
    """A row of before the run, whose message is gone, was not verified."""
    world.put("a")
    world.begin(lists=True)
    [bucket] = world.close()["buckets"]
    assert bucket["state"] == "incomplete"


@pytest.mark.parametrize(
    ("facts", "balance"),
    [
        ({}, {"archived": 2, "verified": 1}),
        ({"lists": True}, {"archived": 2, "verified": 1}),
        ({"lists": True, "all_versions": False},
         {"archived": 1, "not selected": 1, "verified": 1}),
        ({"prefix": "warm"}, {"not selected": 2, "verified": 1}),
    ],
)  # fmt: skip
def test_an_archived_object_of_a_class_that_is_not_selected_is_archived(
    world: EvidenceWorld, facts: dict[str, Any], balance: dict[str, int]
) -> None:
    """As the how-to shows: it is the state of the object, whatever the run was to read."""
    for _ in range(2):
        row = world.put("frozen", "DEEP_ARCHIVE", status=Status.ARCHIVED, sha1=None)
        item = item_of(replace(row, storage_class="DEEP_ARCHIVE"))
        world.digests.dynamodb.put_item(TableName="digests", Item=item)
    world.put("warm", verified=VERIFIED)
    world.begin(storage_classes=("STANDARD",), **facts)
    assert balance_of(world.close()) == balance


@pytest.mark.parametrize("reads_archives", [False, True])
def test_an_archived_object_that_was_not_read_did_not_fail(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch, *, reads_archives: bool
) -> None:
    """Nor did a restored copy of it, which the run was not to read."""
    world.put("frozen", "GLACIER")
    head = world.s3.head_object

    def restored(**parameters: str) -> Any:  # noqa: ANN401 - botocore's
        return {**head(**parameters), "Restore": 'ongoing-request="false"'}

    if not reads_archives:
        monkeypatch.setattr(world.s3, "head_object", restored)
    world.begin(archived=reads_archives)
    assert balance_of(world.close()) == {"archived": 1}


def test_an_edited_listing_is_named(world: EvidenceWorld) -> None:
    """Nothing is counted by it."""
    world.put("a")
    member = world.begin(lists=True)
    world.table.keep_listed(member.backfill_id, Part(0), b"1234567")
    with pytest.raises(DamagedItem, match="listing of the backfill"):
        world.close()


def test_a_null_version_that_was_not_read_failed(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3 answers with the version ``null`` where versions are or were kept; moto with none."""
    suspended: Any = {"Status": "Suspended"}
    world.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration=suspended)
    world.put("a")
    head = world.s3.head_object

    def as_s3(**parameters: str) -> Any:  # noqa: ANN401 - botocore's
        return {"VersionId": "null", **head(**parameters)}

    monkeypatch.setattr(world.s3, "head_object", as_s3)
    world.begin(lists=True, all_versions=False)
    assert balance_of(world.close()) == {"failed": 1}


def test_an_error_of_s3_leaves_no_row_out(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only an answer says that an object is there; after an error the page is counted again."""
    world.put("a")
    world.begin()
    busy = denied("HeadObject")
    busy.response["ResponseMetadata"] = {"HTTPStatusCode": 503}  # type: ignore[typeddict-item]
    with monkeypatch.context() as throttled:
        throttled.setattr(world.s3, "head_object", Mock(side_effect=busy))
        with pytest.raises(ClientError):
            world.close()
    assert balance_of(world.close()) == {"failed": 1}


@pytest.mark.parametrize("is_hidden", [True, False])
def test_an_object_from_before_versioning_is_not_lost(
    world: EvidenceWorld, *, is_hidden: bool
) -> None:
    """S3 still has the version `null` below a delete marker, or below a newer version."""
    status: Any = {"Status": "Suspended"}
    world.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration=status)
    world.put("a")
    status = {"Status": "Enabled"}
    world.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration=status)
    if is_hidden:
        world.s3.delete_object(Bucket=BUCKET, Key="a")
    else:
        world.s3.put_object(Bucket=BUCKET, Key="a", Body=b"newer")
    world.begin()
    assert balance_of(world.close()) == {"failed": 1}


def test_a_deletion_that_was_on_its_way_is_no_loss(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report waits for its event, and looks again; what is lost stays lost."""
    monkeypatch.setattr(closing, "DELETIONS_SECONDS", 300)
    rows = [world.put(key) for key in ("a", "b", "c")]
    for row in rows:
        lose(world, row.key)
    evidence = counted(world)
    for row in rows[:2]:
        assert evidence.report(RUN) > 0
        delete(world, row)
    monkeypatch.setattr(closing, "DELETIONS_SECONDS", 0)
    assert_agree(world, world.close(), {"deleted": 2, "lost": 1})


def counted(world: EvidenceWorld) -> Evidence:
    """Begin a run, and count its rows."""
    evidence = world.evidence()
    evidence.next_events(RUN, [world.begin()])
    evidence.accountant.count(evidence.counted(RUN), [0], PLENTY)
    return evidence


def delete(world: EvidenceWorld, row: Row) -> None:
    """Let the event of a deletion come."""
    deleted = item_of(replace(row, deletion=DELETION))
    world.digests.dynamodb.put_item(TableName="digests", Item=deleted)


def assert_agree(world: EvidenceWorld, report: dict[str, Any], balance: dict[str, int]) -> None:
    """Balance, findings, and the digest of their file say the same."""
    assert balance_of(report) == balance
    records = world.records.findings(RUN)
    findings = [finding for finding in records if isinstance(finding, RowFinding)]
    assert Counter(finding.kind for finding in findings) == Counter(balance)
    file = world.s3.get_object(Bucket=REPORTS, Key=f"bucketsum/{RUN}/findings.jsonl")["Body"].read()
    assert file == findings_file(sorted_findings(findings))
    assert hashlib.sha256(file).hexdigest() == report["findings_sha256"]


def test_what_a_report_found_stays_while_it_is_delivered_again(world: EvidenceWorld) -> None:
    """A deletion that is recorded after the first attempt is the next report's."""
    row = world.put("a")
    lose(world, "a")
    evidence = counted(world)
    world.topic.error = denied("Publish")
    assert evidence.report(RUN) > 0
    delete(world, row)
    world.topic.error = None
    assert evidence.report(RUN) == 0
    assert_agree(world, world.report(), {"lost": 1})


def test_a_page_that_is_counted_again_has_each_finding_once(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The invocation died before it noted the page; meanwhile a deletion was recorded."""
    row = world.put("a")
    lose(world, "a")
    with monkeypatch.context() as killed:
        killed.setattr(EvidenceTable, "advance", Mock(side_effect=InterruptedError))
        with pytest.raises(InterruptedError):
            counted(world)
    delete(world, row)
    assert_agree(world, world.close(), {"deleted": 1})


def test_a_finding_of_a_killed_attempt_is_none(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A late message has read the object since."""
    row = world.put("a")
    with monkeypatch.context() as killed:
        killed.setattr(EvidenceTable, "advance", Mock(side_effect=InterruptedError))
        with pytest.raises(InterruptedError):
            counted(world)
    verified = item_of(replace(row, verified=VERIFIED))
    world.digests.dynamodb.put_item(TableName="digests", Item=verified)
    world.put("b", deletion=DELETION)
    report = world.close()
    assert balance_of(report) == {"verified": 1, "deleted": 1}
    assert report["findings_listed"] == {"deleted": 1}


def test_findings_beyond_the_maximum_are_counted(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first are listed; the numbers are those of all."""
    monkeypatch.setattr(accounting, "FINDINGS_MAX", 4)
    for number in range(9):
        world.put(f"deleted/{number}", deletion=DELETION)
    world.begin()
    report = world.close()
    assert report["findings"]["deleted"] == 9
    assert report["findings_listed"] == {"deleted": 4}


def test_a_deletion_is_a_finding_of_one_report(world: EvidenceWorld) -> None:
    """The next report counts it, and names later ones alone."""
    world.put("a", deletion=DELETION)
    world.begin()
    assert world.close()["findings_listed"] == {"deleted": 1}
    world.begin("20261122T100000")
    later = world.close("20261122T100000")
    assert (later["findings"]["deleted"], later["findings_listed"]) == (1, {})


def test_a_report_that_counted_no_rows_hides_no_deletion(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verification of one key, as a self-test makes, named none of them."""
    with monkeypatch.context() as large:
        large.setattr(closing, "COUNTED_ROWS_MAX", 0)
        world.put("a", deletion=DELETION)
        world.begin(prefix="other/")
        assert world.close()["rows"] is None
    world.begin("20261122T100000")
    assert world.close("20261122T100000")["findings_listed"] == {"deleted": 1}


def test_reports_are_a_chain(world: EvidenceWorld) -> None:
    """Each has the digest of the one before it; files and table hold the same bytes."""
    for run_id in (RUN, "20261122T100000"):
        world.begin(run_id)
        world.close(run_id)
    first, second = world.records.reports()
    assert first.previous_sha256 is None  # type: ignore[union-attr]
    text = world.s3.get_object(Bucket=REPORTS, Key=f"bucketsum/{RUN}/report.json")["Body"].read()
    assert second.previous_sha256 == hashlib.sha256(text).hexdigest()  # type: ignore[union-attr]
    assert json.loads(text)["previous_sha256"] is None
    assert len(world.topic.messages) == 2


def test_a_report_about_hundreds_of_buckets_has_its_item(world: EvidenceWorld) -> None:
    """DynamoDB takes 400 kB; what another program makes of the item is named."""
    document = json.dumps([{"bucket": f"photos-{number}"} for number in range(40_000)])
    sha256 = hashlib.sha256(document.encode()).hexdigest()
    report = ChainedReport(1, RUN, SINCE, document, sha256)
    assert world.records.append(report)
    assert world.records.report(1) == report
    for text in ("zlib:?", "zlib:AAAA"):
        edit(world, "reports", "00000001", "document", text)
        with pytest.raises(DamagedItem, match="report"):
            world.records.report(1)


def denied(operation: str) -> ClientError:
    """A refusal of AWS."""
    return ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, operation)


def test_what_refuses_a_report_is_named_and_tried_again(world: EvidenceWorld) -> None:
    """Nothing is lost: the table has the report, and says why nobody else has it."""
    world.begin()
    world.topic.error = denied("Publish")
    missing = world.evidence("no-such-bucket")
    missing.next_events(RUN, world.table.members(RUN))
    missing.accountant.count(missing.counted(RUN), [0], PLENTY)
    pauses = [missing.report(RUN) for _ in range(closing.ATTEMPTS)]
    assert pauses[-1] == 0
    assert all(pauses[:-1])
    report = world.records.report_of(RUN)
    failure = (report and report.failure) or ""
    assert "no-such-bucket did not take findings.jsonl" in failure
    assert "ReportTopicArn arn:topic did not take the message" in failure
    assert world.report()["run"] == RUN


@pytest.mark.parametrize(("bucket", "hashed"), [(BUCKET, ()), (REPORTS, ("other", REPORTS))])
def test_a_report_bucket_that_is_hashed_is_refused(
    world: EvidenceWorld, bucket: str, hashed: tuple[str, ...]
) -> None:
    """Each report would be an object of the next, also in a bucket of another run."""
    world.begin()
    world.close(evidence=world.evidence(bucket), hashed=hashed)
    report = world.records.report_of(RUN)
    assert report
    assert "is hashed itself" in (report.failure or "")
    assert "Contents" not in world.s3.list_objects_v2(Bucket=bucket)


def test_a_locked_bucket_abroad_takes_reports(world: EvidenceWorld) -> None:
    """With Object Lock in compliance mode; a refused message repeats no file."""
    far = "reports-abroad"
    world.s3.create_bucket(
        Bucket=far, ObjectLockEnabledForBucket=True,
        CreateBucketConfiguration={"LocationConstraint": "eu-west-1"},
    )  # fmt: skip
    world.s3.put_object_lock_configuration(
        Bucket=far, ObjectLockConfiguration={
            "ObjectLockEnabled": "Enabled",
            "Rule": {"DefaultRetention": {"Mode": "COMPLIANCE", "Years": 10}},
        },
    )  # fmt: skip
    world.begin()
    world.topic.error = denied("Publish")
    world.close(evidence=world.evidence(far))
    versions = world.s3.list_object_versions(Bucket=far)["Versions"]
    assert len(versions) == 2
    head = world.s3.head_object(Bucket=far, Key=versions[0]["Key"], ChecksumMode="ENABLED")
    assert (head["ObjectLockMode"], "ChecksumSHA256" in head) == ("COMPLIANCE", True)


def test_a_clock_that_goes_back_delays_no_report(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wait that would end in the future's future is none."""
    monkeypatch.setattr(closing, "DELETIONS_SECONDS", 300)
    world.put("a")
    lose(world, "a")
    world.begin()
    with monkeypatch.context() as ahead:
        ahead.setattr(closing, "now", lambda: days_ago(-30))
        world.evidence().next_events(RUN, world.table.members(RUN))
    assert balance_of(world.close()) == {"lost": 1}


def test_a_bucket_that_was_detached_meanwhile_lost_nothing(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3 says nothing about its objects; the report says that, for each."""
    world.put("a")
    refusal = denied("HeadObject")
    refusal.response["ResponseMetadata"] = {"HTTPStatusCode": 403}  # type: ignore[typeddict-item]

    def refuse(**_: object) -> None:
        raise refusal

    monkeypatch.setattr(world.s3, "head_object", refuse)
    world.begin()
    assert balance_of(world.close()) == {"failed": 1}
    [finding] = world.records.findings(RUN)
    assert "S3 did not say whether it exists" in finding.reason  # type: ignore[union-attr, operator]


def test_a_bucket_that_was_deleted_meanwhile_lost_its_objects(world: EvidenceWorld) -> None:
    """S3 has none of its versions; those whose deletions were recorded are not lost."""
    row, _ = world.put("a"), world.put("b")
    world.begin(lists=True)
    for key in ("a", "b"):
        lose(world, key)
    world.s3.delete_bucket(Bucket=BUCKET)
    delete(world, row)
    assert_agree(world, world.close(), {"deleted": 1, "lost": 1})


def edit(world: EvidenceWorld, partition: str, item: str, name: str, text: str | None) -> None:
    """Change an attribute of the table of runs, or remove it, as another program."""
    world.digests.dynamodb.update_item(
        TableName="backfills",
        Key={"backfill": {"S": partition}, "item": {"S": item}},
        UpdateExpression="SET #name = :text" if text else "REMOVE #name",
        ExpressionAttributeNames={"#name": name},
        **({"ExpressionAttributeValues": {":text": {"S": text}}} if text else {}),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("damage", [None, {"S": "[[1]]"}, {"N": "-1"}])
def test_an_edited_item_of_a_run_is_named(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch, damage: dict[str, str] | None
) -> None:
    """Whichever attribute, but those of another run; else no row is left out."""
    monkeypatch.setattr(accounting, "PAGE_ROWS", 1)
    world.put("a", verified=VERIFIED)
    world.put("lost")
    lose(world, "lost")
    evidence, once = world.evidence(), iter((900.0,))
    evidence.next_events(RUN, [world.begin(lists=True)])
    assert evidence.accountant.count(evidence.counted(RUN), [0], Deadline(lambda: next(once, 0.0)))
    state, items = saved("dynamodb"), world.digests.dynamodb.scan(TableName="backfills")["Items"]
    names = ((item, name) for item in items for name in item.keys() - OF_ANOTHER_RUN)
    for item, name in names:
        others = {other: content for other, content in item.items() if other != name}
        edited = {**others, name: damage} if damage else others
        world.digests.dynamodb.put_item(TableName="backfills", Item=edited)
        with suppress(DamagedItem):
            assert world.close()["rows"] == 2, (item, name)
        restore(state)


@pytest.mark.parametrize(("name", "text"), [("document", "{}"), ("sha256", None)])
def test_an_edited_report_is_not_the_last(
    world: EvidenceWorld, name: str, text: str | None
) -> None:
    """The next run has its report all the same; the chain says where it breaks."""
    world.begin()
    world.close()
    edit(world, "reports", "00000001", name, text)
    edit(world, "reports", "0abc", "document", "{}")  # not a report
    world.begin("20261122T100000")
    assert world.close("20261122T100000")["number"] == 2


def test_a_chain_whose_end_was_removed_goes_on(world: EvidenceWorld) -> None:
    """The number that a run chose is not below the end; `verify list --check` names the gap."""
    world.begin()
    world.close()
    later = "20261122T100000"
    member = world.begin(later)
    evidence = world.evidence()
    evidence.next_events(later, [member])
    evidence.accountant.count(evidence.counted(later), [0], PLENTY)
    begun = world.records.closing(later)
    assert begun
    assert world.records.move_closing(later, begun, number=2)  # and then it was killed
    world.digests.dynamodb.delete_item(
        TableName="backfills", Key={"backfill": {"S": "reports"}, "item": {"S": "00000001"}}
    )
    assert world.close(later)["number"] == 2


def test_what_another_invocation_changed_stays(world: EvidenceWorld) -> None:
    """Of the end of a run: neither its attempts nor its delivery are undone."""
    member, records = world.begin(), world.records
    world.evidence().next_events(RUN, [member])
    begun = records.closing(RUN)
    assert begun
    assert records.move_closing(RUN, begun, attempts=3)
    assert records.move_closing(RUN, begun, number=1)
    assert records.closing(RUN) == replace(begun, attempts=3, number=1)
    assert not records.move_closing(RUN, begun, number=2)
    numbered = replace(begun, number=1)
    assert records.move_closing(RUN, numbered, delivered_at=VERIFIED.at)
    assert not records.move_closing(RUN, numbered, attempts=4)


@pytest.mark.parametrize("writes", range(5))
def test_a_kill_while_the_counting_begins_counts_no_row_twice(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """Also if the table has another size by the next attempt, which so plans other segments."""
    for number in range(4):
        world.put(f"a/{number}", verified=VERIFIED)
    member = world.begin()
    evidence = world.evidence()
    monkeypatch.setattr(closing, "SEGMENT_ROWS", 2)
    with monkeypatch.context() as killed:
        put, left = world.digests.dynamodb.put_item, iter(range(writes))

        def put_or_die(**parameters: Any) -> Any:  # noqa: ANN401 - botocore's
            if next(left, None) is None:
                raise InterruptedError
            return put(**parameters)

        killed.setattr(world.digests.dynamodb, "put_item", put_or_die)
        with suppress(InterruptedError):
            evidence.next_events(RUN, [member])
    monkeypatch.setattr(closing, "SEGMENT_ROWS", 1)
    assert balance_of(world.close()) == {"verified": 4}


def test_the_message_says_that_all_is_well(world: EvidenceWorld) -> None:
    """Silence never is the answer; a run that read nothing says so."""
    world.put("a", verified=VERIFIED)
    world.begin()
    world.close()
    [message] = world.topic.messages
    assert message["Subject"] == "bucketsum: 1 object verified, none differs"


def test_the_message_names_what_is_repaired(world: EvidenceWorld) -> None:
    """An old version still differs; nobody need do anything."""
    world.put("a", difference=Difference("sha1:" + "a" * 40, SINCE))
    world.put("a", verified=VERIFIED, arrived_at=SINCE, sequencer="1".ljust(32, "0"))
    world.begin()
    world.close()
    [message] = world.topic.messages
    assert message["Subject"] == "bucketsum: 1 object verified, 1 repaired"


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_repair_that_s3_no_longer_has_is_none(world: EvidenceWorld, *, is_deleted: bool) -> None:
    """Whether its deletion is recorded or not; `ls` and a snapshot see neither."""
    world.put("a", difference=Difference("sha1:" + "a" * 40, SINCE))
    facts: dict[str, Any] = {"deletion": DELETION} if is_deleted else {}
    copy = world.put("a", arrived_at=SINCE, sequencer="1".ljust(32, "0"), **facts)
    world.s3.delete_object(Bucket=BUCKET, Key="a", VersionId=copy.entry)
    world.begin()
    named = "deleted" if is_deleted else "lost"
    assert balance_of(world.close()) == {"differs": 1, named: 1}


def test_the_message_names_what_is_wrong(world: EvidenceWorld) -> None:
    """Numbers in the subject; in the text the first objects, and what to do."""
    everything(world)
    world.put("no\nlost: line", deletion=DELETION)
    world.begin()
    world.close()
    [message] = world.topic.messages
    [named] = [line for line in message["Message"].splitlines() if "photos/no" in line]
    assert re.fullmatch(r"  photos/no\\nlost: line \S+: by request", named)
    assert message["Subject"].startswith("bucketsum: 6 objects verified, 1 differs, 2 lost")
    assert "photos/rotten" in message["Message"]
    assert "`bucketsum repair KEY --bucket BUCKET`" in message["Message"]
    assert message["Subject"].isascii()


def test_a_report_comes_after_every_bucket(world: EvidenceWorld) -> None:
    """No step writes it while a bucket is listed or waited for; a failed one is in it."""
    member = world.begin(rested_at=None)
    step = next_step(RUN, world.table, world.evidence(), lambda _: [])
    assert [event["action"] for event in step.events] == ["settle"]
    world.table.fail(member, "NoSuchBucket")
    step = next_step(RUN, world.table, world.evidence(), lambda _: [])
    assert [event["action"] for event in step.events] == ["account"]
    report = world.close()
    assert (report["buckets"][0]["state"], report["buckets"][0]["failure"]) == (
        "failed",
        "NoSuchBucket",
    )
    assert next_step(RUN, world.table, world.evidence(), lambda _: []).failed


def test_a_part_of_a_bucket_does_not_read_a_large_table(
    world: EvidenceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A billion rows cost 8 USD; what was read and differs is in the report all the same."""
    monkeypatch.setattr(closing, "COUNTED_ROWS_MAX", 0)
    world.put("a/1")
    world.table.count(world.begin(prefix="a/").backfill_id, Tally(differs=1))
    report = world.close()
    assert report["rows"] is None
    assert "not counted" in report["uncounted"]
    assert report["findings"]["differs"] == 1
    assert "1 differs" in world.topic.messages[-1]["Subject"]


@pytest.mark.parametrize(
    ("schedule", "days"),
    [
        ("rate(90 days)", 90),
        ("rate(12 hours)", 0.5),
        ("cron(0 3 * * ? *)", 1),
        ("cron(0 3 ? * MON *)", 7),
        ("cron(0 3 1 * ? *)", 31),
        ("cron(0 3 1 */3 ? *)", 93),
        ("cron(0 3 1 JAN,JUL ? *)", 186),
        ("cron(0 3 1 1-3 ? *)", 310),
        ("cron(0 3 1 1 ? 2027)", 366),
        ("at(2027-01-01)", 366),
    ],
)
def test_the_period_of_a_schedule(schedule: str, days: float) -> None:
    """Never shorter than the longest pause, or an alarm would be false."""
    assert period_days(schedule) == days


def test_a_bucket_without_a_verification_in_time_is_overdue(world: EvidenceWorld) -> None:
    """Since it is watched, or since the last one ended; a failed one at once."""
    old, new = days_ago(200), now()
    run = world.begin(rested_at=old)
    late = overdue([BUCKET], [run], "rate(90 days)", 80, {BUCKET: old})
    assert "promises one in 170 days" in late[BUCKET]
    assert not overdue([BUCKET], [replace(run, rested_at=new)], "rate(90 days)", 80, {})
    assert not overdue([BUCKET], [], "rate(90 days)", 80, {BUCKET: new})
    assert "never verified" in overdue([BUCKET], [], "rate(90 days)", 80, {BUCKET: old})[BUCKET]
    failed = replace(run, rested_at=new, status=BackfillStatus.FAILED, failure="NoSuchBucket")
    assert "NoSuchBucket" in overdue([BUCKET], [failed], "rate(90 days)", 80, {})[BUCKET]


@pytest.mark.parametrize(
    "part",
    [
        {"prefix": "a/"}, {"sample": 0.01}, {"limit": 5}, {"storage_classes": ("GLACIER_IR",)},
        {"older_than": "2020-01-01T00:00:00.000Z"}, {"all_versions": False},
    ],
)  # fmt: skip
def test_a_run_of_a_part_by_hand_keeps_no_promise(
    world: EvidenceWorld, part: dict[str, Any]
) -> None:
    """Nor does one that failed break it; the schedule's own leaves out what it was told to."""
    old, new = days_ago(200), now()
    whole = world.begin(rested_at=new)
    run = replace(whole, **part)
    assert overdue([BUCKET], [run], "rate(90 days)", 80, {BUCKET: old})
    failed = replace(run, status=BackfillStatus.FAILED, started_at=new)
    assert not overdue([BUCKET], [failed, whole], "rate(90 days)", 80, {BUCKET: old})
    scheduled = replace(run, started_by=SCHEDULE)
    assert not overdue([BUCKET], [scheduled], "rate(90 days)", 80, {BUCKET: old})


def test_a_balance_keeps_its_numbers_as_text() -> None:
    """And a text that somebody edited is not another number."""
    balance = Balance()
    balance.add(BUCKET, BalanceEntry(Standing.LOST), 5)
    balance.add(BUCKET, BalanceEntry(Standing.LOST), 7)
    balance.add(BUCKET, BalanceEntry(Standing.VERIFIED), 3, storage_class="STANDARD_IA")
    expected = {(BUCKET, "lost", "", ""): (2, 12), (BUCKET, "verified", "", "STANDARD_IA"): (1, 3)}
    assert Balance.in_text(balance.text()).rows == expected
    by_an_earlier_release = json.dumps([[BUCKET, "lost", "", 2, 12]])
    assert Balance.in_text(by_an_earlier_release).rows == {(BUCKET, "lost", "", ""): (2, 12)}
    for text in ("{}x", '[["a", "sound", "", 1, 1]]', "[1]", BEGUN):
        with pytest.raises(ValueError, match=r"."):
            Balance.in_text(text)
