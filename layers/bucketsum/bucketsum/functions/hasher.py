"""The hasher: a Lambda function that records a row for each object in a batch of messages."""

# ruff: noqa: E402 - the garbage collector rests while everything below is imported and created
from __future__ import annotations

import gc

gc.disable()  # all that a cold start makes stays: looking for garbage took a tenth of its time

import os
from typing import TYPE_CHECKING, Any, Final

from bucketsum.backfill import is_listed
from bucketsum.hashing.batch import BatchHasher
from bucketsum.hashing.notified import NotifiedHasher
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.hashing.resources import Resources
from bucketsum.hashing.small_object_connections import network_of
from bucketsum.hashing.small_objects import SmallObjectHasher
from bucketsum.invocation.deadline import Deadline
from bucketsum.invocation.first_use import made_now, made_once
from bucketsum.invocation.layer_manifest import log_layer
from bucketsum.queue.dead_letters import message_of
from bucketsum.s3.stored_checksums import ComparingSource
from bucketsum.table.archive_settings import ArchiveSettings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from bucketsum.archives.archive_hasher import ArchiveHasher
    from bucketsum.backfill.listed_batch import ListedBatchHasher
    from bucketsum.long_objects.hand_over import HandOver

_RESOURCES: Final = Resources(os.environ, asks_checksum=True)
SETTINGS, _TABLE = _RESOURCES.settings, _RESOURCES.table
logger, metrics = _RESOURCES.logger, _RESOURCES.metrics
log_layer(logger)
_DYNAMODB: Final = _RESOURCES.dynamodb
_READER, _CHECKSUMS = _RESOURCES.reader, _RESOURCES.checksums


# What few invocations use is imported at its first use: a cold start must not load it.
def _archives(archives: ArchiveSettings) -> ArchiveHasher:
    from bucketsum.archives.archive_hasher import ArchiveHasher  # noqa: PLC0415 - as said

    return ArchiveHasher.of(archives, made_now(_RESOURCES.s3), _DYNAMODB, SETTINGS)


@made_once
def _hand_over() -> HandOver:
    from bucketsum.long_objects.hand_over import HandOver  # noqa: PLC0415 - as said

    return HandOver.of(_DYNAMODB, _RESOURCES.sqs, SETTINGS)


_HASHER: Final = ObjectHasher(
    source=ComparingSource(_READER, _CHECKSUMS) if _CHECKSUMS else _READER,
    table=_TABLE,
    settings=SETTINGS,
    archives=_archives(SETTINGS.archives) if SETTINGS.archives else None,
    hand_over=(lambda job: _hand_over().begin(job)) if SETTINGS.long_objects_queue_url else None,
)
_NETWORK: Final = network_of(_READER, _DYNAMODB, _TABLE)
_SMALL: Final = SmallObjectHasher(_NETWORK, SETTINGS, checksums=_CHECKSUMS) if _NETWORK else None
_TASKS: Final = NotifiedHasher(_HASHER, _TABLE, _SMALL)
_BATCH: Final = BatchHasher(_TASKS, SETTINGS)
_REPORT: Final = _RESOURCES.report()


@made_once
def _listed_batch() -> ListedBatchHasher:
    from bucketsum.backfill import counts, listed_batch  # noqa: PLC0415 - as said

    backfills = counts.BackfillCounts(_DYNAMODB, _RESOURCES.backfills_table)
    return listed_batch.ListedBatchHasher(_TASKS, _TABLE, backfills, SETTINGS)


@logger.inject_lambda_context
@metrics.log_metrics(capture_cold_start_metric=True)
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Handle a batch from the queue of arrivals or of backfills; returns the failed messages."""
    deadline = Deadline.of(context)
    messages = [message_of(record, SETTINGS) for record in event["Records"]]
    notified = [message for message in messages if not is_listed(message.body)]
    _, returned = _REPORT.settled(_BATCH.handle(notified, deadline))
    if listed := [message for message in messages if is_listed(message.body)]:
        done, failed = _REPORT.settled(_listed_batch().handle(listed, deadline))
        _listed_batch().count(done, deadline, logger)
        returned += failed
    return {"batchItemFailures": [{"itemIdentifier": r.received.message_id} for r in returned]}


gc.freeze()
gc.enable()
