"""The enqueuer: plans backfills, and queues the objects that they list."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import boto3
from aws_lambda_powertools import Logger, Metrics
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.backfill.backfill_records import Backfill
from bucketsum.backfill.enqueue import BackfillQueue, Enqueuer, reader_of
from bucketsum.backfill.overdue import overdue
from bucketsum.backfill.plan import enqueuers_for, shares_of
from bucketsum.backfill.reporting import CONNECTIONS, Reporting
from bucketsum.backfill.rest import OpenWork, pause_before_next_look
from bucketsum.backfill.run import give_up, next_step
from bucketsum.backfill.table import BackfillsTable
from bucketsum.backfill.verifications import Scheduled, buckets_of
from bucketsum.environment import needed
from bucketsum.errors import DamagedItem, UnknownBackfill
from bucketsum.hashing import metric
from bucketsum.invocation.deadline import Deadline
from bucketsum.invocation.layer_manifest import log_layer
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.table.digests_table import DigestsTable

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext
    from mypy_boto3_cloudformation import CloudFormationClient

    Event = dict[str, Any]

_TABLE, _DIGESTS, _QUEUE_URL, _CONCURRENCY = needed(
    os.environ, "BACKFILLS_TABLE", "DIGESTS_TABLE", "BACKFILL_QUEUE_URL", "BACKFILL_CONCURRENCY"
)

_STACK: Final = os.environ.get("POWERTOOLS_SERVICE_NAME", "")
_BUCKETS: Final = {"bucket": os.environ.get("BUCKET", ""), "attached_stack": f"{_STACK}-attached"}

logger = Logger(use_rfc3339=True)  # as the hasher's
metrics = Metrics()
log_layer(logger)

_S3: Final = boto3.client("s3", config=Config(max_pool_connections=CONNECTIONS))
_SQS: Final = boto3.client("sqs")
_DYNAMODB: Final = boto3.client("dynamodb")
_BACKFILLS: Final = BackfillsTable(_DYNAMODB, _TABLE)
_ENQUEUER: Final = Enqueuer(_BACKFILLS, BackfillQueue(_SQS, _QUEUE_URL, int(_CONCURRENCY)))
_WORK: Final = OpenWork(_SQS, _QUEUE_URL, ProgressTable(_DYNAMODB, _DIGESTS))
_REPORTING: Final = Reporting(
    s3=_S3,
    sns=lambda: boto3.client("sns"),
    table=_BACKFILLS,
    digests=DigestsTable(_DYNAMODB, _DIGESTS),
    stack=_STACK,
    bucket=os.environ.get("REPORT_BUCKET", ""),
    topic=os.environ.get("REPORT_TOPIC_ARN", ""),
    enqueuers=enqueuers_for(int(_CONCURRENCY)),
)
_RECORDS: Final = _REPORTING.records


@logger.inject_lambda_context
def lambda_handler(event: Event, context: LambdaContext) -> Any:  # noqa: ANN401 - by action
    """Do a part of a run, by the event's action.

    Returns:
        For ``step``, what is next; for ``enqueue`` and ``settle``, the event with the parts that
        are left, after a pause; for ``verify``, from the schedule, the ids of the verifications.
    """
    return _ACTIONS[event["action"]](event, context)


def _scheduled() -> Scheduled:
    clients = _cloudformation(), boto3.client("stepfunctions")
    return Scheduled(_BACKFILLS, _WORK, *clients, logger)


def _verify(event: Event, _: LambdaContext) -> list[str]:
    ids, left_out = _scheduled().start(event | _BUCKETS)
    metric.VERIFICATIONS_OVERDUE.add(metrics, left_out)
    metrics.flush_metrics()
    return ids


def _step(event: Event, context: LambdaContext) -> Event:
    step = next_step(event["backfill_id"], _BACKFILLS, _REPORTING.evidence(context), _planned)
    logger.info("planned", run=event["backfill_id"], enqueuers=len(step.events))
    return {"events": step.events, "failed": step.failed}


def _planned(backfill: Backfill) -> list[list[int]]:
    return shares_of(_S3, _BACKFILLS, backfill, int(_CONCURRENCY))


def _give_up(event: Event, _: LambdaContext) -> str:
    failed = give_up(event["backfill_id"], _BACKFILLS, event["error"], event["cause"])
    logger.error("backfill failed", backfill_id=failed, cause=event["cause"])
    return failed


def _enqueue(event: Event, context: LambdaContext) -> Event:
    backfill, parts = _backfill_of(event), event["parts"]
    reader, deadline = reader_of(_S3, backfill), Deadline.of(context)
    objects, left = _ENQUEUER.enqueue(backfill, parts, reader, deadline)
    logger.info("queued", backfill_id=backfill.backfill_id, parts=parts, objects=objects)
    return event | {"parts": left, "pause": 0}


def _settle(event: Event, _: LambdaContext) -> Event:
    pause = pause_before_next_look(_WORK, _BACKFILLS, _backfill_of(event))
    return event | {"parts": event["parts"] if pause else [], "pause": pause}


def _account(event: Event, context: LambdaContext) -> Event:
    evidence = _REPORTING.evidence(context)
    run = evidence.counted(event["backfill_id"])
    left = evidence.accountant.count(run, event["parts"], Deadline.of(context))
    logger.info("rows counted", run=event["backfill_id"], parts=event["parts"])
    return event | {"parts": left, "pause": 0}


def _report(event: Event, context: LambdaContext) -> Event:
    evidence, run_id = _REPORTING.evidence(context), event["backfill_id"]
    pause = evidence.report(run_id, _hashed_buckets() if _REPORTING.bucket else ())
    report = _RECORDS.report_of(run_id)
    if report and report.failure:
        logger.error("report not delivered", run=run_id, cause=report.failure)
        metric.REPORTS_FAILED.add(metrics)
        metrics.flush_metrics()
    return event | {"parts": event["parts"] if pause else [], "pause": pause}


def _hashed_buckets() -> list[str]:
    """The stack's buckets; none if CloudFormation does not answer: a VPC may have no route."""
    try:
        return buckets_of(_BUCKETS, _cloudformation())
    except (BotoCoreError, ClientError):
        logger.exception("buckets not listed")
        return []


@cache
def _cloudformation() -> CloudFormationClient:
    attempts: Any = {"total_max_attempts": 2}
    return boto3.client("cloudformation", config=Config(connect_timeout=5, retries=attempts))


def _overdue(event: Event, _: LambdaContext) -> dict[str, str]:
    """Count the buckets that are overdue; each day, so that silence is missing data."""
    buckets = buckets_of(event | _BUCKETS, _cloudformation())
    machine = event.get("state_machine_arn")
    runs = [run for run in _BACKFILLS.backfills() if not isinstance(run, DamagedItem)]
    if machine:  # the schedule of an earlier release does not name it
        runs = list(_scheduled().followed(runs, machine, _RECORDS))
    seen = _RECORDS.watch(buckets)
    late = overdue(buckets, runs, event["schedule"], event["older_than_days"], seen)
    for bucket, reason in late.items():
        logger.error("verification overdue", bucket=bucket, cause=reason)
    metric.VERIFICATIONS_OVERDUE.add(metrics, len(late))
    metrics.flush_metrics()
    return late


def _backfill_of(event: Event) -> Backfill:
    backfill = _BACKFILLS.backfill(event["backfill_id"])
    if backfill is None:
        raise UnknownBackfill(f"there is no backfill {event['backfill_id']}")
    return backfill


_ACTIONS: Final = {
    "verify": _verify, "step": _step, "enqueue": _enqueue, "settle": _settle,
    "give_up": _give_up, "account": _account, "report": _report, "overdue": _overdue,
}  # fmt: skip
