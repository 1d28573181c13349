"""One byte of one part is another: all that a person looks at says so.

The hasher's handler and the commands are the real ones. Emulated are AWS's: DynamoDB, and the S3
that the commands ask, by moto; the S3 that the hasher reads from, by `HostileS3`, whose answers
have the checksums and parts of AWS's documents, which no emulator has; and the extraction of the
metric from the log, by the test.
"""

import hashlib
import os
from dataclasses import replace
from uuid import uuid4

import pytest
from tests.cli.aws_calls import HEALTHY, answered, change_calls
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, put_object
from tests.cli.reporting import FIRST, reporting
from tests.cli.test_status import COMPLETE, METRICS, metric_data
from tests.support.checksums import in_parts
from tests.support.events import message_of
from tests.support.lambda_invocation import Context, loaded
from tests.support.log_lines import metrics_in, objects_in
from tests.support.s3_server import HostileS3, hostile_s3
from tests.support.sam_template import load_template

from bucketsum.backfill.messages import bodies_of
from bucketsum.backfill.selection import Selection
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.ending import Purpose
from bucketsum.table.sequencer import NO_SEQUENCER
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands import status as status_command

KEY = "tapes/1.tif"
PART_BYTES = 100_000
SERVICE = f"hasher-{uuid4()}"
UPLOADED = os.urandom(5 * PART_BYTES)
ALTERED = (
    bytes([*UPLOADED[: 2 * PART_BYTES], UPLOADED[2 * PART_BYTES] ^ 1])
    + (UPLOADED[2 * PART_BYTES + 1 :])
)


def created_in(stack: Stack, s3: HostileS3) -> ObjectCreated:
    """The event of the object, of which S3 keeps the checksums of what was uploaded."""
    place = put_object(stack, KEY, ALTERED)
    stored = s3.put(f"{BUCKET}/{KEY}", ALTERED, place.entry, **in_parts(UPLOADED, 5).stored)
    return ObjectCreated(
        bucket=BUCKET,
        key=KEY,
        version_id=place.entry,
        etag=stored.etag,
        size_bytes=len(ALTERED),
        sequencer="01",
        event_time="2026-11-20T10:00:00.000Z",
    )


def invoke_hasher(stack: Stack, s3: HostileS3, patch: pytest.MonkeyPatch, body: str) -> None:
    """Invoke the hasher, which reads from *s3*, with a message that it must not return."""
    variables = {
        "AWS_ENDPOINT_URL_S3": s3.endpoint_url,
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
        "DIGESTS_TABLE": stack.table,
        "BACKFILLS_TABLE": stack.outputs["BackfillsTableName"],
        "ARRIVALS_QUEUE_URL": stack.arrivals_queue_url,
        "DEAD_LETTER_QUEUE_URL": stack.dead_letter_queue_url,
        "MAX_RECEIVES": "5",
        "CHUNK_BYTES": "65536",
        "STREAMS": "auto",
        "DELETED_ROW_DAYS": "0",
        "COMPARE_CHECKSUMS": "yes",
        "POWERTOOLS_SERVICE_NAME": SERVICE,
        "POWERTOOLS_METRICS_NAMESPACE": "bucketsum",
    }
    record = {
        "messageId": "m",
        "receiptHandle": "r",
        "body": body,
        "attributes": {"ApproximateReceiveCount": "1"},
        "eventSourceARN": stack.outputs["ArrivalsQueueArn"],
    }
    with patch.context() as environment:
        for name, value in variables.items():
            environment.setenv(name, value)
        answer = loaded("hasher").lambda_handler({"Records": [record]}, Context())
    assert answer == {"batchItemFailures": []}


@pytest.fixture
def logged(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """The log of the hasher, which has read the object at its event, and then to verify it."""
    with hostile_s3() as s3:
        created = created_in(stack, s3)
        invoke_hasher(stack, s3, monkeypatch, message_of(created))
        logged = capsys.readouterr().out
        listed = replace(created, sequencer=NO_SEQUENCER)
        [verification] = bodies_of(FIRST, [listed], Selection(Purpose.VERIFY))
        invoke_hasher(stack, s3, monkeypatch, verification)
    return logged


def test_row_log_and_show_name_the_part(run: Run, stack: Stack, logged: str) -> None:
    """One byte of part 3 of 5 is another: the digest is recorded, and is not simply hashed."""
    [row] = stack.digests_table().versions_of(BUCKET, KEY)
    assert row.sha1 == hashlib.sha1(ALTERED).hexdigest()
    assert row.compared
    assert (row.compared.checksum or "").endswith("-5")
    assert (row.compared.reason or "").startswith("part 3 has crc32:")
    [line] = objects_in(logged)
    assert (line["outcome"], "part 3 has crc32:" in line["reason"]) == ("differs", True)
    shown = run("show", KEY)
    assert (shown.status, "differs" in shown.out) == (1, True)
    assert "part 3 has crc32:" in " ".join(shown.out.split())


def test_the_metric_is_that_of_the_alarm(
    run: Run, stack: Stack, logged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CloudWatch takes it from the log, above the alarm's threshold; `status` ends with 1."""
    metrics, alarm = metrics_in(logged), load_template()["Resources"]["DiffersAlarm"]["Properties"]
    [emitted] = metrics["_aws"]["CloudWatchMetrics"]
    assert emitted["Namespace"] == alarm["Namespace"]
    assert emitted["Dimensions"] == [[name["Name"] for name in alarm["Dimensions"]]]
    assert metrics["service"] == SERVICE
    value = sum(metrics[alarm["MetricName"]])
    assert value > alarm["Threshold"]
    monkeypatch.setitem(METRICS, alarm["MetricName"], [(1, value)])
    monkeypatch.setattr(status_command, "attachments", lambda _: [COMPLETE])
    change_calls(monkeypatch, answered({**HEALTHY, "GetMetricData": metric_data}))
    ended = run("status", "--json")
    assert (ended.status, ended.document["differing_last_day"]) == (1, 1)
    assert ended.document["stack"] == stack.name


@pytest.mark.usefixtures("logged")
def test_the_next_verification_reports_it(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though all digests are those recorded, the part is a finding, which stays open."""
    reporting(stack, monkeypatch)()
    report = run("verify", "report", "--json")
    assert (report.status, report.document["counts"]["differs"]) == (1, 1)
    assert "part 3 has crc32:" in run("verify", "report", "--csv").out
