"""`bucketsum backfill`: the estimate, the start, and what can be done with it afterwards."""

import json
from typing import Any, Final

import boto3
import pytest
from tests.cli.aws_calls import EXECUTED, answered, change_calls, refusal
from tests.cli.conftest import Run, SleepReplacer
from tests.cli.deployed import BUCKET, change, put_object

from bucketsum.backfill import rest
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part, Tally
from bucketsum.backfill.table import BackfillsTable
from bucketsum.clock import now
from bucketsum.prices import prices_in
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.backfill.counting import Count
from bucketsum_cli.backfill.estimate import Setup, estimate_of
from bucketsum_cli.backfill.estimate_views import print_estimate
from bucketsum_cli.backfill.purpose_words import BACKFILL
from bucketsum_cli.backfill.work import Work
from bucketsum_cli.buckets import bucket_figures
from bucketsum_cli.buckets.bucket_figures import _class_of
from bucketsum_cli.terminal.formatting import hours_text

BILLION: Final = ("--objects", "1000000000", "--mean-size", "100000")


@pytest.fixture
def executions(monkeypatch: pytest.MonkeyPatch, stack: Stack) -> dict[str, Any]:
    """The requests to Step Functions by operation; the bucket has an object."""
    put_object(stack, "there", b"four")
    seen: dict[str, Any] = {}

    def kept(operation: str, request: object) -> Any:  # noqa: ANN401 - an answer
        if operation.endswith("Execution"):
            seen[operation] = request
        return EXECUTED.get(operation)

    change_calls(monkeypatch, kept)
    return seen


@pytest.mark.parametrize(
    ("hours", "shown"),
    [(1e-6, "1 s"), (0.02, "1 min 12 s"), (1.5, "1 h 30 min"), (50, "50 h (2.1 days)")],
)
def test_a_time_has_units_that_fit_it(hours: float, shown: str) -> None:
    """As in `tune` and `status`; "0.0 minutes" would be no time."""
    assert hours_text(hours) == shown


def test_what_is_in_the_bucket_is_counted(
    run: Run, stack: Stack, executions: dict[str, Any]
) -> None:
    """By listing, with prefix and limit, before the question."""
    for number in range(3):
        put_object(stack, f"old/{number}", b"four")
    put_object(stack, "new", b"")

    ended = run("backfill", BUCKET, "--prefix", "old/", "--dry-run").assert_done()
    assert "3 objects, 12 B (counted by listing)" in ended.out
    assert "2 objects" in run("backfill", BUCKET, "--limit", "2", "--dry-run").out
    assert "2 objects" in run("backfill", "--limit", "2", "--dry-run", BUCKET).out
    declined = run("backfill", BUCKET)
    assert (declined.status, executions) == (1, {})


def test_the_estimate_names_what_s3_adds(
    run: Run, stack: Stack, executions: dict[str, Any]
) -> None:
    """Retrieval is the first line; archived objects are left out, unless asked for."""
    for storage_class in ("STANDARD_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"):
        arguments: Any = {"StorageClass": storage_class}
        body = bytes(1_000_000)
        stack.client("s3").put_object(Bucket=BUCKET, Key=storage_class, Body=body, **arguments)
    estimate = run("backfill", BUCKET, "--dry-run", "--json").document["estimate"]
    assert (estimate["object_count"], estimate["archived_objects"]) == (3, 2)
    assert [item["name"] for item in estimate["items"][:2]] == [
        "bytes from STANDARD_IA",
        "bytes from GLACIER_IR",
    ]
    assert estimate["retrieval_usd"] == pytest.approx(0.001 * 0.01 + 0.001 * 0.03)
    shown = run("backfill", BUCKET, "--dry-run").out
    assert (
        "left out: 2 in GLACIER or DEEP_ARCHIVE (add --archived to queue them anyway)"
        in " ".join(shown.split())
    )
    assert "not known" not in shown
    assert run("backfill", BUCKET, "--dry-run", "--archived", "--json").document["estimate"][
        "object_count"
    ] == 5  # fmt: skip
    assert executions == {}
    classes = ("--storage-class", "STANDARD_IA", "--storage-class", "DEEP_ARCHIVE")
    shown = " ".join(run("backfill", BUCKET, *classes, "--dry-run").out.split())
    assert "1 object, 1.0 MB" in shown
    assert "left out: 1 in GLACIER or DEEP_ARCHIVE" in shown
    assert "left out: 3 in other storage classes" in shown
    name = run("backfill", BUCKET, *classes, "--yes", "--json").document["backfill"]
    recorded = stack.runs_table().backfill(name)
    assert recorded
    assert recorded.storage_classes == ("STANDARD_IA", "DEEP_ARCHIVE")


def test_a_large_bucket_is_counted_by_cloudwatch(
    run: Run, stack: Stack, executions: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its figures are of a day ago and cost nothing; --count and a prefix list it all the same."""
    monkeypatch.setattr(bucket_figures, "COUNTED_MAX", 0)
    put_object(stack, "a", b"four")
    assert "CloudWatch's figures" in run("backfill", BUCKET, "--dry-run").out
    for arguments in (("--count",), ("--prefix", "a")):
        assert "counted by listing" in run("backfill", BUCKET, "--dry-run", *arguments).out
    assert executions == {}


def test_the_estimate_says_what_it_lacks(run: Run, executions: dict[str, Any]) -> None:
    """Unknown classes, others' bills, the rows' storage, and the cheaper service are named."""
    shown = run("backfill", BUCKET, "--dry-run", *BILLION).out
    assert "not included: retrieval" in shown
    assert "not included: CloudTrail's data events (1 USD per million) and GuardDuty" in shown
    assert "318.25 USD per month for the rows" in shown
    assert "with 1024 MB, an invocation computes sha1, sha256 at 75 MB/s" in " ".join(shown.split())
    assert "S3 Batch" not in shown  # it would need a job for each digest
    few = ("--objects", "3", "--mean-size", "1000")
    assert "0.0000" not in run("backfill", BUCKET, "--dry-run", *few).out
    assert executions == {}


def test_a_bucket_has_a_price_before_it_is_attached(run: Run, executions: dict[str, Any]) -> None:
    """A dry run changes nothing, so it needs no permission of the functions."""
    boto3.client("s3").create_bucket(Bucket="not-attached")
    for command in ("backfill", "verify"):
        ended = run(command, "not-attached", "--dry-run")
        assert (ended.status, "0 objects" in ended.out) == (0, True)
        run(command, "not-attached", "--yes").assert_refused("attach it first")
    assert executions == {}


def test_a_backfill_is_started_stopped_and_resumed(run: Run, executions: dict[str, Any]) -> None:
    """Each execution has its own name; a second stop or resume says why it does nothing."""
    backfill = run("backfill", BUCKET, "--yes", "--json").document["backfill"]
    assert executions["StartExecution"]["name"] == f"{backfill}-1"
    shown = run("backfill", "show", backfill, "--json").document
    assert (shown["state"], shown["cause"]) == ("running", None)
    assert run("backfill", "resume", backfill).status == 2

    assert run("backfill", "stop", backfill).status == 0
    assert "StopExecution" in executions
    run("backfill", "stop", backfill).assert_refused(f"{backfill} was not running: it is stopped")
    assert run("backfill", "resume", backfill).status == 0
    assert executions["StartExecution"]["name"] == f"{backfill}-2"

    [listed] = run("backfill", "list", "--json").document
    assert (listed["backfill"], listed["record"]["executions"]) == (backfill, 2)
    assert backfill in run("backfill", "list").out


@pytest.mark.usefixtures("executions")
def test_a_stop_that_meets_a_resume_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reason such as "it is not running; it is running" would be none."""
    backfill = run("backfill", BUCKET, "--yes", "--json").document["backfill"]
    monkeypatch.setattr(BackfillsTable, "end", lambda *_: False)
    ended = run("backfill", "stop", backfill)
    ended.assert_refused(f"{backfill} was not running: it is resumed just now")


def test_a_start_that_is_refused_leaves_nothing_running(
    run: Run, executions: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be shown as running for ever; stopped, it can be resumed."""
    with monkeypatch.context() as refused:
        change_calls(refused, answered({"StartExecution": refusal("StartExecution")}))
        assert run("backfill", BUCKET, "--yes").status != 0
    [listed] = run("backfill", "list", "--json").document
    assert (listed["state"], executions) == ("stopped", {})


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("photos", "--yes"), "attach it first"),
        ((BUCKET, "--objects", "3"), "must be used together"),
        (("show", "20261121T000000-abc"), "there is no backfill"),
        ((BUCKET, "--prefix", "no-such/", "--yes"), "no key in inbox begins with no-such/"),
        ((BUCKET, "--prefix", "no-such/", "--dry-run"), "nothing was started"),
        ((BUCKET, "--inventory", "manifest.json", "--dry-run"), "not a URL like s3://"),
        ((BUCKET, "--inventory", "manifest.json", "--yes"), "not a URL like s3://"),
        (
            (BUCKET, "--inventory", "s3://nosuch/manifest.json", "--yes"),
            "InventoryBucketArn=arn:aws:s3:::nosuch",
        ),
        ((BUCKET, "--inventory", f"s3://{BUCKET}/m.json", "--yes"), "there is no object s3://"),
    ],
)
@pytest.mark.usefixtures("executions")
def test_a_request_that_makes_no_sense_says_why(
    run: Run, words: tuple[str, ...], text: str
) -> None:
    """Before anything is started."""
    run("backfill", *words).assert_refused(text)


def test_an_execution_that_failed_is_shown(
    run: Run, executions: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status says so, with the cause, and that it can be resumed."""
    backfill = run("backfill", BUCKET, "--yes", "--json").document["backfill"]
    assert executions
    cause = json.dumps({"errorType": "AccessDenied", "errorMessage": "no s3:ListBucket"})
    failed = {"status": "FAILED", "error": "States.TaskFailed", "cause": cause}
    change_calls(monkeypatch, answered({"DescribeExecution": failed}))
    ended = run("backfill", "show", backfill).assert_no()
    assert "resume" in ended.out
    assert "AccessDenied: no s3:ListBucket" in ended.out
    document = run("backfill", "show", backfill, "--json").document
    assert (document["state"], document["cause"]) == ("failed", "AccessDenied: no s3:ListBucket")


def test_the_reason_of_a_failed_part_is_shown(
    run: Run, executions: dict[str, Any], stack: Stack
) -> None:
    """The execution only says that a part failed; the part says why."""
    backfill = run("backfill", BUCKET, "--yes", "--json").document["backfill"]
    assert executions
    table = BackfillsTable(stack.client("dynamodb"), stack.outputs["BackfillsTableName"])
    table.record_plan(backfill, [Part(0), Part(1, failure="row 2 of a.csv.gz")])
    assert "part 1   row 2 of a.csv.gz" in run("backfill", "show", backfill).out
    document = run("backfill", "show", backfill, "--json").document
    [part] = document["failed_parts"]
    assert (part["number"], part["failure"]) == (1, "row 2 of a.csv.gz")


@pytest.mark.parametrize(
    ("name", "value"),
    [("bucket", None), ("status", {"S": "weird"}), ("started_at", {"S": "yesterday"})],
)
def test_a_damaged_backfill_is_shown_among_the_others(
    run: Run, stack: Stack, executions: dict[str, Any], name: str, value: dict[str, Any] | None
) -> None:
    """`backfill list` and `show` name it with its reason, and exit with 1."""
    first, second = (
        run("backfill", BUCKET, "--yes", "--json").document["backfill"] for _ in range(2)
    )
    assert executions
    key = {"backfill": {"S": "backfills"}, "item": {"S": first}}
    change(stack, key, name, value, table=stack.outputs["BackfillsTableName"])
    table = run("backfill", "list").assert_no()
    assert "damaged" in table.out
    assert second in table.out
    assert "defect" not in table.err
    listed = run("backfill", "list", "--json").assert_no()
    states = {backfill["backfill"]: backfill["state"] for backfill in listed.document}
    assert states == {first: "damaged", second: "running"}
    show = run("backfill", "show", first)
    assert (show.status, first in show.err, "defect" in show.err) == (1, True, False)
    shown = run("backfill", "show", first, "--json")
    assert (shown.status, shown.document["state"]) == (1, "damaged")
    assert run("backfill", "show", second).status == 0


@pytest.fixture
def over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Executions end before anybody looks."""
    monkeypatch.setitem(EXECUTED, "DescribeExecution", {"status": "SUCCEEDED"})


@pytest.mark.usefixtures("over")
def test_a_backfill_is_waited_for(
    run: Run, executions: dict[str, Any], replace_sleep: SleepReplacer, stack: Stack
) -> None:
    """`--wait` ends when all queued objects are done; `last` is the newest backfill."""
    table = BackfillsTable(stack.client("dynamodb"), "BackfillsTableName")
    looks = iter(range(3))

    def hashes(_seconds: float) -> None:
        newest = next(table.backfills())
        assert isinstance(newest, Backfill)
        backfill = newest.backfill_id
        if next(looks) == 0:
            table.record_plan(backfill, [Part(0, objects=2, done=True)])
            assert table.end(backfill, BackfillStatus.QUEUED, "2026-11-21T10:00:00.000Z")
        table.count(backfill, Tally(hashed=1, invocations=1))

    replace_sleep(hashes)
    ended = run("backfill", BUCKET, "--yes", "--wait", "--json").assert_done()
    assert (ended.document["progress"]["state"], next(looks)) == ("done", 2)
    assert executions
    shown = run("backfill", "show", "last", "--json").document
    assert shown["backfill"] == ended.document["backfill"]


def test_a_backfill_is_done_only_if_nothing_of_it_is_left(
    run: Run, executions: dict[str, Any], stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts that are false decide nothing; an empty queue ends it in time, without success."""
    backfill = run("backfill", BUCKET, "--yes", "--json").document["backfill"]
    assert executions
    table = BackfillsTable(stack.client("dynamodb"), "BackfillsTableName")
    table.record_plan(backfill, [Part(0, objects=2, object_hashes=5, done=True)])
    assert table.end(backfill, BackfillStatus.QUEUED, now())
    for _ in range(2):
        table.count(backfill, Tally(hashed=1, object_hashes=2, invocations=1))

    def shown() -> tuple[str, int | None]:
        document = run("backfill", "show", backfill, "--json").document
        return document["state"], document["left"]

    assert shown() == ("queued", None)
    assert "counted twice" in run("backfill", "show", backfill).out
    monkeypatch.setattr(rest, "QUIET_SECONDS", 0)
    sqs, url = stack.client("sqs"), stack.outputs["BackfillQueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="of a backfill")
    assert shown() == ("queued", None)
    sqs.receive_message(QueueUrl=url)
    assert shown() == ("queued", None)
    sqs.purge_queue(QueueUrl=url)
    assert shown() == ("incomplete", None)
    text = " ".join(run("backfill", "show", backfill).out.split())
    assert "left not known: some were counted twice, so others may be missing: see" in text


@pytest.mark.usefixtures("over")
@pytest.mark.parametrize("command", ["backfill", "verify"])
def test_a_run_whose_objects_are_not_all_counted_ends_with_a_no(
    run: Run,
    executions: dict[str, Any],
    stack: Stack,
    replace_sleep: SleepReplacer,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    """SQS may have moved their messages to the dead-letter queue; `--wait` ends all the same."""
    table = BackfillsTable(stack.client("dynamodb"), "BackfillsTableName")
    monkeypatch.setattr(rest, "QUIET_SECONDS", 0)

    def crashes(_seconds: float) -> None:
        newest = next(table.backfills())
        assert isinstance(newest, Backfill)
        table.record_plan(newest.backfill_id, [Part(0, objects=2, object_hashes=5, done=True)])
        assert table.end(newest.backfill_id, BackfillStatus.QUEUED, now())

    replace_sleep(crashes)
    ended = run(command, BUCKET, "--yes", "--wait", "--json")
    progress = ended.document["progress"]
    assert (ended.status, progress["state"], progress["left"]) == (1, "incomplete", 2)
    assert executions
    shown = run(command, "show", "last").assert_no()
    assert "left     2 not counted: see `bucketsum failures`" in " ".join(shown.out.split("\n"))


@pytest.mark.usefixtures("over")
@pytest.mark.parametrize(
    ("options", "status"),
    [(("--storage-class", "GLACIER_IR"), 1), (("--sample", "1%", "--older-than", "90d"), 0)],
)
def test_a_verification_that_read_nothing_is_no_success(
    run: Run,
    executions: dict[str, Any],
    stack: Stack,
    replace_sleep: SleepReplacer,
    options: tuple[str, ...],
    status: int,
) -> None:
    """A filter that leaves nothing is a no, unless everything was verified lately."""
    table = BackfillsTable(stack.client("dynamodb"), "BackfillsTableName")

    def lists_nothing(_seconds: float) -> None:
        newest = next(table.backfills())
        assert isinstance(newest, Backfill)
        table.record_plan(newest.backfill_id, [Part(0, done=True)])
        assert table.end(newest.backfill_id, BackfillStatus.QUEUED, now())

    replace_sleep(lists_nothing)
    ended = run("verify", BUCKET, *options, "--yes", "--wait")
    assert (ended.status, "no object was read" in ended.err) == (status, status == 1), ended.err
    assert executions


@pytest.mark.usefixtures("executions")
def test_after_ctrl_c_a_waiting_person_knows_that_the_backfill_goes_on(
    run: Run, replace_sleep: SleepReplacer, stack: Stack
) -> None:
    """Only the bar ends; the hint names the command that stops the backfill."""

    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    replace_sleep(interrupt)
    ended = run("backfill", BUCKET, "--yes", "--wait")
    newest = next(BackfillsTable(stack.client("dynamodb"), "BackfillsTableName").backfills())
    assert isinstance(newest, Backfill)
    name = newest.backfill_id
    assert ended.status == 130
    assert f"{name} continues; `bucketsum backfill stop {name}` stops it" in ended.err


@pytest.mark.parametrize(("region", "is_said"), [("us-east-1", False), ("eu-central-1", True)])
def test_the_estimate_says_whose_prices_it_has(
    capsys: pytest.CaptureFixture[str], region: str, *, is_said: bool
) -> None:
    """Only Lambda's prices follow the Region; the line is absent where there is no difference."""
    count = Count(Work(1000, 1000), "as given", is_exact=False)
    estimate = estimate_of(count.work, Setup(256, 10, 10), prices_in(region, "arm64"))
    print_estimate(count, estimate, region, BACKFILL)
    shown = " ".join(capsys.readouterr().out.split())
    assert (f"at the prices of us-east-1, not of {region}" in shown) == is_said


@pytest.mark.parametrize("start", [("--yes",), ("--dry-run",)])
@pytest.mark.parametrize("is_there", [True, False])
def test_an_inventory_whose_files_are_not_those_of_its_manifest_is_refused(
    run: Run, stack: Stack, executions: dict[str, Any], start: tuple[str, ...], *, is_there: bool
) -> None:
    """With or without a count: each file's size is compared before anything is started."""
    columns = "Bucket, Key, Size, LastModifiedDate, ETag, VersionId"
    files = [{"key": f"data/{n}.csv.gz", "size": 30 * n, "MD5checksum": "0" * 32} for n in range(2)]
    manifest = {
        "fileFormat": "CSV", "fileSchema": columns, "sourceBucket": BUCKET, "files": files,
    }  # fmt: skip
    put_object(stack, "m.json", json.dumps(manifest).encode())
    put_object(stack, "data/0.csv.gz", b"")
    if is_there:
        put_object(stack, "data/1.csv.gz", b"short")
    ended = run("backfill", BUCKET, "--inventory", f"s3://{BUCKET}/m.json", *start)
    ended.assert_refused("its size is 5, not 30" if is_there else "a file is missing of")
    assert executions == {}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("IntelligentTieringDAAStorage", "1.0 kB are in"),
        ("IntelligentTieringFAStorage", "an archive tier, which a listing does not show, is"),
    ],
)
def test_bytes_that_no_listing_shows_as_archived_are_warned_about(
    capsys: pytest.CaptureFixture[str], kind: str, text: str
) -> None:
    """CloudWatch alone knows the archive tiers of INTELLIGENT_TIERING; without it they may be."""
    work = Work(1000, 1000, {_class_of(kind): 1000})
    count = Count(work, "as given", is_exact=False)
    estimate = estimate_of(work, Setup(256, 10, 10), prices_in("us-east-1", "arm64"))
    print_estimate(count, estimate, "us-east-1", BACKFILL)
    assert text in " ".join(capsys.readouterr().out.split())
