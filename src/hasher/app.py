"""The hasher: a Lambda function that records a row for each object in a batch of messages."""

# ruff: noqa: E402 - the garbage collector rests while everything below is imported and created
from __future__ import annotations

import gc

gc.disable()  # all that a cold start makes stays: looking for garbage took a tenth of its time

import functools
import os
from typing import TYPE_CHECKING, Any, Final

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.backfill import is_listed
from bucketsum.events.object_events import ObjectCreated, ObjectDeleted, ObjectEvent
from bucketsum.hashing.batch import BatchHasher, MessageResult
from bucketsum.hashing.network import network_of
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.hashing.small_objects import SmallObjectHasher
from bucketsum.invocation.clients import PROMPT, client_of, speed_up_botocore
from bucketsum.invocation.deadline import Deadline
from bucketsum.invocation.layer_manifest import layer_manifest
from bucketsum.queue.dead_letters import DeadLetters
from bucketsum.queue.failed_messages import FailedMessages, message_of
from bucketsum.s3.reader import reader
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum.settings import Settings, needed
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import HashResult, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aws_lambda_powertools.utilities.typing import LambdaContext
    from mypy_boto3_sqs import SQSClient

    from bucketsum.archives.archive_hasher import ArchiveHasher
    from bucketsum.backfill.listed_batch import ListedBatchHasher
    from bucketsum.hashing.deletions import Deletions
    from bucketsum.queue.dead_letters import ReceivedMessage
    from bucketsum.table.archive_values import ArchiveSettings, Mode
    from bucketsum.table.rows import Row

SETTINGS: Final = Settings.from_env(os.environ)
(_BACKFILLS_TABLE,) = needed(os.environ, "BACKFILLS_TABLE")

# Service and namespace come from the environment, so that two stacks never share a metric.
logger = Logger(use_rfc3339=True)  # Lambda filters JSON logs by level where it knows the time
metrics = Metrics()

if (_LAYER := layer_manifest()) is not None:  # once for each execution environment
    (logger.warning if _LAYER.missing else logger.info)(
        "layer", missing_wheels=_LAYER.missing, has_bytecode=_LAYER.has_bytecode
    )

speed_up_botocore()
_S3: Final = client_of("s3", CLIENT_CONFIG)
_DYNAMODB: Final = client_of("dynamodb", PROMPT)


def _archive_hasher(settings: ArchiveSettings | None) -> ArchiveHasher | None:
    """The hasher of archives; None if no object is read as an archive."""
    if settings is None:
        return None
    # Imported here: archives are off by default, and a cold start must not load what reads them.
    from bucketsum.archives.archive_hasher import ArchiveHasher  # noqa: PLC0415 - as said
    from bucketsum.archives.member_rows import MemberRows  # noqa: PLC0415 - as said
    from bucketsum.archives.reader import ArchiveReader  # noqa: PLC0415 - as said

    return ArchiveHasher(
        reader=ArchiveReader(settings),
        s3=_S3,
        rows=MemberRows(_DYNAMODB, SETTINGS.digests_table),
        extra_algorithms=SETTINGS.extra_algorithms,
    )


@functools.cache
def _sqs() -> SQSClient:
    """Created when the first message fails or the first long object comes."""
    return client_of("sqs", PROMPT)


def _hand_over(
    created: ObjectCreated, etag: str, archive_mode: Mode | None, seen: Row | None
) -> None:
    """Hand a long object over; loads the code when the first comes."""
    from bucketsum.long_objects.hand_over import HandOver  # noqa: PLC0415 - as said
    from bucketsum.long_objects.message import LongObjectsQueue  # noqa: PLC0415 - as said
    from bucketsum.long_objects.progress_table import ProgressTable  # noqa: PLC0415 - as said

    table = ProgressTable(_DYNAMODB, SETTINGS.digests_table)
    queue = LongObjectsQueue(_sqs(), SETTINGS.long_objects_queue_url or "")
    HandOver(table, queue).begin(created, etag, archive_mode, seen)


_TABLE: Final = DigestsTable(_DYNAMODB, SETTINGS.digests_table, SETTINGS.deleted_row_days)
_SOURCE: Final = reader(_S3, SETTINGS.chunk_bytes, SETTINGS.read_policy.plan_for, os.environ)
_HASHER: Final = ObjectHasher(
    source=_SOURCE,
    table=_TABLE,
    settings=SETTINGS,
    archives=_archive_hasher(SETTINGS.archives),
    hand_over=_hand_over if SETTINGS.long_objects_queue_url else None,
)


@functools.cache
def _deletions() -> Deletions:
    """Created when the first deletion arrives; a cold start must not load what records it."""
    from bucketsum.hashing.deletions import Deletions  # noqa: PLC0415 - as said

    return Deletions(_DYNAMODB, SETTINGS.digests_table, SETTINGS.deleted_row_days)


def _handled(event: ObjectEvent, deadline: Deadline) -> HashResult:
    if isinstance(event, ObjectCreated):
        return _HASHER.hash(event, deadline)
    if isinstance(event, ObjectDeleted):
        return _deletions().record(event, deadline)
    from bucketsum.hashing.restores import hash_restored  # noqa: PLC0415 - rare, as deletions

    return hash_restored(event, _TABLE, _HASHER, deadline)


_NETWORK: Final = network_of(_SOURCE, _S3, _DYNAMODB, _TABLE)
_BEGIN: Final = SmallObjectHasher(_NETWORK, _HASHER, SETTINGS).begin if _NETWORK else None
_BATCH: Final = BatchHasher(_handled, SETTINGS, begin=_BEGIN)

_QUIET: Final = (Outcome.HASHED, Outcome.UNCHANGED)
"""Outcomes of listed objects without a log line: a row says the same, and the lines would cost as
much as the reading."""


@functools.cache
def _dead_letters() -> DeadLetters:
    return DeadLetters(_sqs(), SETTINGS)


_FAILED: Final = FailedMessages(_dead_letters, logger, metrics)


@functools.cache
def _listed_batch() -> ListedBatchHasher:
    """Created for the first message of a backfill; a cold start must not load it."""
    from bucketsum.backfill.listed_batch import ListedBatchHasher  # noqa: PLC0415 - as said

    return ListedBatchHasher(_HASHER, _TABLE, SETTINGS, _BEGIN)


def _publish(report: HashResult) -> None:
    """Write the metrics of one event, and its log line unless it is a quiet one."""
    event = report.event
    is_of_listing = isinstance(event, ObjectCreated) and not event.sequencer
    if not (report.outcome in _QUIET and is_of_listing):
        _log(report)
    measurement = report.measurement
    metrics.add_metric(f"Objects{report.outcome.title()}", MetricUnit.Count, 1)
    if report.outcome is Outcome.HASHED and measurement:
        metrics.add_metric("BytesHashed", MetricUnit.Bytes, measurement.size_bytes)
        metrics.add_metric("Speed", MetricUnit.MegabytesPerSecond, measurement.mb_per_s)
    if report.summary:
        metrics.add_metric("MembersHashed", MetricUnit.Count, report.summary.members)
        metrics.add_metric("MemberBytes", MetricUnit.Bytes, report.summary.member_bytes)


def _log(report: HashResult) -> None:
    event, measurement, contents = report.event, report.measurement, report.summary
    event_bytes = None if isinstance(event, ObjectDeleted) else event.size_bytes
    of_members: dict[str, Any] = {}
    if contents:
        of_members = {
            "archive": contents.status,
            "archive_reason": contents.reason,
            "members": contents.members,
            "members_unreadable": contents.unreadable,
            "member_bytes": contents.member_bytes,
        }
    logger.info(
        "object",
        bucket=event.bucket,
        key=event.key,
        version_id=event.version_id,
        outcome=report.outcome,
        sha1=report.sha1,
        size_bytes=measurement.size_bytes if measurement else event_bytes,
        seconds=round(measurement.seconds, 6) if measurement else None,
        mb_per_s=round(measurement.mb_per_s, 3) if measurement else None,
        reason=report.reason,
        **of_members,
    )


def _is_done(result: MessageResult) -> bool:
    """Log and count the result of a message; whether the message can be deleted."""
    metrics.add_metric("Messages", MetricUnit.Count, 1)
    for report in result.reports:
        _publish(report)
    return result.failure is None or _FAILED.handle(result.received, result.failure)


@logger.inject_lambda_context
@metrics.log_metrics(capture_cold_start_metric=True)
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Handle one batch from the arrivals queue, or from that of a backfill.

    Returns:
        ``{"batchItemFailures": [{"itemIdentifier": messageId}, ...]}``: the messages that return
        to the queue.
    """
    notified: list[ReceivedMessage] = []
    listed: list[ReceivedMessage] = []
    for record in event["Records"]:
        message = message_of(record, SETTINGS)
        (listed if is_listed(message.body) else notified).append(message)
    deadline = Deadline(
        lambda: context.get_remaining_time_in_millis() / 1000,
        context.get_remaining_time_in_millis() / 1000,
    )
    results = _BATCH.handle(notified, deadline)
    returned = [result.received.message_id for result in results if not _is_done(result)]
    if listed:
        returned += _returned_of_backfill(_listed_batch().handle(listed, deadline))
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in returned]}


def _returned_of_backfill(results: Iterable[MessageResult]) -> list[str]:
    """Ids of the messages that return to the queue; the others count for their backfills."""
    from bucketsum.backfill.listed_batch import tally_of  # noqa: PLC0415 - see `_listed_batch`
    from bucketsum.backfill.records import Tally  # noqa: PLC0415 - see `_listed_batch`
    from bucketsum.backfill.table import BackfillsTable  # noqa: PLC0415 - see `_listed_batch`

    returned: list[str] = []
    tallies: dict[str, Tally] = {}
    for result in results:
        if not _is_done(result):
            returned.append(result.received.message_id)
        elif counted := tally_of(result):
            backfill_id, tally = counted
            tallies[backfill_id] = tallies.get(backfill_id, Tally(invocations=1)) + tally
    backfills = BackfillsTable(_DYNAMODB, _BACKFILLS_TABLE)
    for backfill_id, tally in tallies.items():
        try:
            backfills.count(backfill_id, tally)
        except (BotoCoreError, ClientError):
            logger.exception("the counts of the backfill are not recorded; its rows are")
    return returned


gc.freeze()
gc.enable()
