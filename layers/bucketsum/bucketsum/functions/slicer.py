"""The slicer: a Lambda function that hashes one slice of a long object."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from bucketsum.backfill.counts import BackfillCounts
from bucketsum.hashing.resources import Resources
from bucketsum.invocation.deadline import Deadline
from bucketsum.invocation.first_use import made_now
from bucketsum.invocation.layer_manifest import log_layer
from bucketsum.long_objects.message import LongObjectsQueue, progress_in_message
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.long_objects.slice_bytes import slice_bytes_in
from bucketsum.long_objects.slice_reader import SliceReader
from bucketsum.long_objects.slice_report import publish_slice
from bucketsum.long_objects.slice_result import SliceReport
from bucketsum.long_objects.slicer import Slicer
from bucketsum.queue.dead_letters import ReceivedMessage, message_of
from bucketsum.table.outcome import Outcome

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


_RESOURCES: Final = Resources(os.environ, asks_checksum=False)  # most GETs are of ranges
SETTINGS, _DYNAMODB = _RESOURCES.settings, made_now(_RESOURCES.dynamodb)
logger, metrics = _RESOURCES.logger, _RESOURCES.metrics
log_layer(logger)
_REPORT: Final = _RESOURCES.report()
_SLICER: Final = Slicer(
    reader=SliceReader(
        source=_RESOURCES.reader,
        extra_algorithms=SETTINGS.extra_algorithms,
        slice_bytes=slice_bytes_in(os.environ),
        checksums=_RESOURCES.checksums,
    ),
    progress_table=ProgressTable(_DYNAMODB, SETTINGS.digests_table),
    digests_table=_RESOURCES.table,
    queue=LongObjectsQueue(made_now(_RESOURCES.sqs), SETTINGS.arrivals_queue_url),
    settings=SETTINGS,
)
_BACKFILLS: Final = BackfillCounts(_DYNAMODB, _RESOURCES.backfills_table)


@logger.inject_lambda_context
@metrics.log_metrics(capture_cold_start_metric=True)
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Hash the slice of one message from the long-objects queue; returns it if it failed."""
    deadline = Deadline.of(context)
    returned = [
        record["messageId"] for record in event["Records"] if not _is_done(record, deadline)
    ]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in returned]}


def _is_done(record: dict[str, Any], deadline: Deadline) -> bool:
    """Hash one slice; return whether its message can be deleted."""
    received = message_of(record, SETTINGS)
    try:
        report = _reported(received, deadline)
    except Exception as error:  # noqa: BLE001 - any error is the message's
        return _REPORT.is_done(received, error)
    publish_slice(report, _REPORT)
    if (progress := report.progress) and progress.run and isinstance(report.outcome, Outcome):
        size_bytes = progress.size_bytes
        _BACKFILLS.count_long(progress.run, progress.created, report.outcome, size_bytes, logger)
    return _REPORT.is_done(received, None)


def _reported(received: ReceivedMessage, deadline: Deadline) -> SliceReport:
    message = progress_in_message(received.body)
    try:
        return _SLICER.handle_slice(message, deadline)
    except Exception as error:
        if received.receive_count < SETTINGS.max_receives:
            raise
        if report := _SLICER.give_up(message, error):
            return report
        raise
