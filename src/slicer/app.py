"""The slicer: a Lambda function that hashes one slice of a long object."""

from __future__ import annotations

import functools
import os
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from bucketsum.invocation.clients import PROMPT, client_of, speed_up_botocore
from bucketsum.invocation.deadline import Deadline
from bucketsum.long_objects.message import LongObjectsQueue, slice_message_in
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.long_objects.slicer import Slicer, slice_bytes_in
from bucketsum.queue.dead_letters import DeadLetters
from bucketsum.queue.failed_messages import FailedMessages, message_of
from bucketsum.s3.reader import reader
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum.settings import Settings
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from bucketsum.long_objects.slicer import SliceReport

SETTINGS: Final = Settings.from_env(os.environ)

logger = Logger(use_rfc3339=True)
metrics = Metrics()

speed_up_botocore()
_S3: Final = client_of("s3", CLIENT_CONFIG)
_DYNAMODB: Final = client_of("dynamodb", PROMPT)
_SQS: Final = client_of("sqs", PROMPT)

_SLICER: Final = Slicer(
    source=reader(_S3, SETTINGS.chunk_bytes, SETTINGS.read_policy.plan_for, os.environ),
    progress_table=ProgressTable(_DYNAMODB, SETTINGS.digests_table),
    digests_table=DigestsTable(_DYNAMODB, SETTINGS.digests_table, SETTINGS.deleted_row_days),
    queue=LongObjectsQueue(_SQS, SETTINGS.arrivals_queue_url),
    settings=SETTINGS,
    slice_bytes=slice_bytes_in(os.environ),
)

_FAILED: Final = FailedMessages(
    functools.cache(lambda: DeadLetters(_SQS, SETTINGS)), logger, metrics
)


def _publish(report: SliceReport) -> None:
    """Write the log lines and the metrics of one slice, and of its object at its end."""
    progress, measurement, created = report.progress, report.measurement, report.message.created
    fields: dict[str, Any] = {
        "bucket": created.bucket,
        "key": created.key,
        "version_id": created.version_id,
        "outcome": report.outcome,
        "sha1": report.sha1,
        "size_bytes": created.size_bytes,
        "reason": report.reason,
    }
    logger.info(
        "slice",
        **fields,
        offset=report.message.offset,
        hop=report.message.hop,
        slice_bytes=measurement.size_bytes if measurement else None,
        seconds=round(measurement.seconds, 6) if measurement else None,
        mb_per_s=round(measurement.mb_per_s, 3) if measurement else None,
    )
    if measurement and progress:
        started = datetime.fromisoformat(progress.started_at).timestamp()
        metrics.add_metric("Slices", MetricUnit.Count, 1)
        metrics.add_metric("SliceBytes", MetricUnit.Bytes, measurement.size_bytes)
        metrics.add_metric("SliceSpeed", MetricUnit.MegabytesPerSecond, measurement.mb_per_s)
        metrics.add_metric("LongObjectAge", MetricUnit.Seconds, time.time() - started)
    if isinstance(report.outcome, Outcome):
        seconds = round(progress.seconds, 6) if progress and report.sha1 else None
        logger.info("object", **fields, seconds=seconds)
        metrics.add_metric(f"Objects{report.outcome.title()}", MetricUnit.Count, 1)
    if report.outcome is Outcome.HASHED:
        metrics.add_metric("BytesHashed", MetricUnit.Bytes, created.size_bytes)


@logger.inject_lambda_context
@metrics.log_metrics(capture_cold_start_metric=True)
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Hash the slice of one message from the long-objects queue.

    Returns:
        ``{"batchItemFailures": [{"itemIdentifier": messageId}, ...]}``: the messages that return
        to the queue.
    """
    deadline = Deadline(lambda: context.get_remaining_time_in_millis() / 1000)
    returned = [
        record["messageId"] for record in event["Records"] if not _is_done(record, deadline)
    ]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in returned]}


def _is_done(record: dict[str, Any], deadline: Deadline) -> bool:
    """Hash one slice; whether its message can be deleted."""
    metrics.add_metric("Messages", MetricUnit.Count, 1)
    received = message_of(record, SETTINGS)
    try:
        _publish(_SLICER.handle_slice(slice_message_in(received.body), deadline))
    except Exception as error:  # noqa: BLE001 - any error is the message's
        return _FAILED.handle(received, error)
    return True
