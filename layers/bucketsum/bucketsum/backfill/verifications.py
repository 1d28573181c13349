"""Verifications that a schedule starts, and the rule that a bucket has one at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, is_complete
from bucketsum.clock import now
from bucketsum.errors import DamagedItem
from bucketsum.hashing.job import Purpose

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_stepfunctions import SFNClient

    from bucketsum.backfill.table import BackfillsTable

MESSAGE_DAYS: Final = 14
"""[A] SQS keeps a message at most so long: whatever was queued before is over."""


def running_checks(table: BackfillsTable, check: Backfill) -> Iterator[Backfill]:
    """Yield other verifications of the bucket of *check* that may not be over.

    One is over if it was stopped, if exactly its objects are done, or if SQS has removed all of its
    messages. The command also sees that its queue is empty.
    """
    if check.purpose is not Purpose.VERIFY:
        return
    oldest = (datetime.now(UTC) - timedelta(days=MESSAGE_DAYS)).isoformat()
    for other in table.backfills():
        if (
            isinstance(other, DamagedItem)
            or (other.purpose, other.bucket) != (Purpose.VERIFY, check.bucket)
            or other.backfill_id == check.backfill_id
        ):
            continue
        is_waiting = other.status is BackfillStatus.QUEUED and (other.ended_at or "") > oldest
        if other.status is BackfillStatus.RUNNING or (is_waiting and not _is_done(table, other)):
            yield other


def _is_done(table: BackfillsTable, backfill: Backfill) -> bool:
    tally, _ = table.tally(backfill.backfill_id)
    return is_complete(table.parts(backfill.backfill_id), tally)


def start_scheduled(
    event: Mapping[str, Any],
    table: BackfillsTable,
    cloudformation: CloudFormationClient,
    stepfunctions: SFNClient,
    logger: Logger,
) -> list[str]:
    """Start a verification of each bucket of the stack; returns their ids.

    *event* is the input of the schedule, see `VerifySchedule` in template.yaml. The same event
    twice starts each of them once. A bucket with a verification that is not over is left out.

    Raises:
        ClientError: AWS refused.
    """
    scheduled = datetime.fromisoformat(event["scheduled_at"]).astimezone(UTC)
    older_than = scheduled - timedelta(days=int(event["older_than_days"]))
    started = []
    for bucket in [event["bucket"], *_attached(cloudformation, event["attached_stack"])]:
        suffix = hashlib.sha256(bucket.encode()).hexdigest()[:6]
        check = Backfill(
            backfill_id=f"{scheduled:%Y%m%dT%H%M%S}-{suffix}",
            bucket=bucket,
            status=BackfillStatus.RUNNING,
            started_at=now(),
            all_versions=True,
            purpose=Purpose.VERIFY,
            older_than=older_than.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            storage_classes=tuple(filter(None, event["storage_classes"].split(","))),
        )
        if other := next(running_checks(table, check), None):
            logger.warning("verification left out", bucket=bucket, running=other.backfill_id)
            continue
        if table.backfill(check.backfill_id) is None:
            table.record(check)
        # The schedule may send an event twice; an execution's name is used once.
        with suppress(stepfunctions.exceptions.ExecutionAlreadyExists):
            stepfunctions.start_execution(
                stateMachineArn=event["state_machine_arn"],
                name=check.execution_name,
                input=json.dumps({"backfill_id": check.backfill_id}),
            )
        logger.info("verification started", bucket=bucket, backfill_id=check.backfill_id)
        started.append(check.backfill_id)
    return started


def _attached(cloudformation: CloudFormationClient, stack: str) -> Iterator[str]:
    """The buckets that `bucketsum attach` lists in the metadata of its stack."""
    try:
        template: Any = cloudformation.get_template(StackName=stack)["TemplateBody"]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ValidationError":  # no bucket is attached
            return
        raise
    parsed = json.loads(template) if isinstance(template, str) else template
    yield from (bucket["name"] for bucket in parsed.get("Metadata", {}).get("bucketsum", ()))
