"""The enqueuer: plans backfills, and queues the objects that they list."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import boto3
from aws_lambda_powertools import Logger

from bucketsum.backfill.enqueue import BackfillQueue, Enqueuer, reader_of
from bucketsum.backfill.plan import shares_of
from bucketsum.backfill.table import BackfillsTable
from bucketsum.backfill.verifications import start_scheduled
from bucketsum.errors import UnknownBackfill
from bucketsum.invocation.deadline import Deadline
from bucketsum.invocation.layer_manifest import log_layer
from bucketsum.settings import needed

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_TABLE, _QUEUE_URL, _CONCURRENCY = needed(
    os.environ, "BACKFILLS_TABLE", "BACKFILL_QUEUE_URL", "BACKFILL_CONCURRENCY"
)

logger = Logger(use_rfc3339=True)  # as the hasher's
log_layer(logger)

_S3: Final = boto3.client("s3")
_BACKFILLS: Final = BackfillsTable(boto3.client("dynamodb"), _TABLE)
_ENQUEUER: Final = Enqueuer(
    _BACKFILLS, BackfillQueue(boto3.client("sqs"), _QUEUE_URL, int(_CONCURRENCY))
)


@logger.inject_lambda_context
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> Any:  # noqa: ANN401 - by action
    """Plan a backfill, queue the objects of the parts of an earlier plan, or start verifications.

    Returns:
        For ``plan``, an event for each enqueuer, none if all is queued; for ``enqueue``, the event
        with the parts that are left; for ``verify``, the ids of the verifications.
    """
    if event["action"] == "verify":  # from VerifySchedule
        clients = boto3.client("cloudformation"), boto3.client("stepfunctions")
        return start_scheduled(event, _BACKFILLS, *clients, logger)
    backfill = _BACKFILLS.backfill(event["backfill_id"])
    if backfill is None:
        raise UnknownBackfill(f"there is no backfill {event['backfill_id']}")
    if event["action"] == "plan":
        shares = shares_of(_S3, _BACKFILLS, backfill, int(_CONCURRENCY))
        logger.info("planned", backfill_id=backfill.backfill_id, enqueuers=len(shares))
        return [
            {"action": "enqueue", "backfill_id": backfill.backfill_id, "parts": share}
            for share in shares
        ]
    deadline = Deadline.of(context)
    parts = event["parts"]
    objects, left = _ENQUEUER.enqueue(backfill, parts, reader_of(_S3, backfill), deadline)
    logger.info("queued", backfill_id=backfill.backfill_id, parts=parts, objects=objects)
    return event | {"parts": left}
