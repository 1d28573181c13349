"""Verifications that a schedule starts, and the rule that a bucket has one at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.attached import listed_in
from bucketsum.backfill.backfill_records import SCHEDULE, Backfill, BackfillStatus
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.rest import MESSAGE_DAYS, OpenWork, days_ago
from bucketsum.backfill.run import is_open
from bucketsum.backfill.table import BackfillsTable
from bucketsum.clock import now, text_of
from bucketsum.errors import DamagedItem
from bucketsum.hashing.ending import Purpose

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_stepfunctions import SFNClient


_PLACEHOLDER: Final = "<aws."
"""How a value begins that EventBridge Scheduler has not filled in: the emulator never does."""
_UNKNOWN: Final = "ExecutionDoesNotExist"
_FORGOTTEN: Final = "unknown"


def open_verifications(table: BackfillsTable, verification: Backfill) -> Iterator[Backfill]:
    """Yield other verifications of the bucket of *verification* that do not rest."""
    if verification.purpose is not Purpose.VERIFY:
        return
    for other in table.backfills():
        if (
            not isinstance(other, DamagedItem)
            and (other.purpose, other.bucket) == (Purpose.VERIFY, verification.bucket)
            and other.backfill_id != verification.backfill_id
            and is_open(other)
        ):
            yield other


@dataclass(frozen=True, slots=True)
class Scheduled:
    """Starts the verifications of a schedule's event; see `VerifySchedule` in template.yaml."""

    table: BackfillsTable
    work: OpenWork
    cloudformation: CloudFormationClient
    stepfunctions: SFNClient
    logger: Logger

    def start(self, event: Mapping[str, Any]) -> tuple[list[str], int]:
        """Start one execution that verifies each bucket of the stack, one after the other.

        The same event twice starts it once. A bucket with a verification that is not over is left
        out; one whose execution is over, or unknown after a day, ends here.

        Returns:
            The ids of the verifications, and the number of buckets that were left out.

        Raises:
            ClientError: AWS refused; the records say that they were not started.
        """
        scheduled_at = event["scheduled_at"]
        if scheduled_at.startswith(_PLACEHOLDER):
            scheduled_at = now()
        scheduled = datetime.fromisoformat(scheduled_at).astimezone(UTC)
        run_id = f"{scheduled:%Y%m%dT%H%M%S}"
        buckets = buckets_of(event, self.cloudformation)
        machine = event["state_machine_arn"]
        started = [
            verification
            for bucket in buckets
            if self._recorded(verification := _verification(event, scheduled, bucket), machine)
        ]
        if started:
            self._execute(machine, run_id, started)
        ids = [verification.backfill_id for verification in started]
        return ids, len(buckets) - len(started)

    def _recorded(self, verification: Backfill, machine: str) -> bool:
        """Record *verification*, unless it was before; False if its bucket has an older one.

        Each of two schedules at once sees the record of the other: the lower id has its turn.
        """
        known = self.table.backfill(verification.backfill_id)
        if known is None or known.failure:  # the earlier attempt could not start it
            self.table.record(verification)
        for other in open_verifications(self.table, verification):
            if other.backfill_id < verification.backfill_id and not self._is_over(other, machine):
                self.logger.warning(
                    "verification left out", bucket=other.bucket, running=other.backfill_id
                )
                left_out = f"{other.backfill_id} was verifying the bucket"
                self.table.end(verification.backfill_id, BackfillStatus.STOPPED, now(), left_out)
                return False
        return True

    def _is_over(self, other: Backfill, machine: str) -> bool:
        """Whether nothing more happens to *other*; then its record says so."""
        status = self._status_of(other, machine)
        if status == "RUNNING":
            return False
        if other.status is BackfillStatus.RUNNING:
            return self.table.fail(other, f"its execution is {status}")
        tally, counted_at = self.table.tally(other.backfill_id)
        parts = self.table.parts(other.backfill_id)
        if is_over := self.work.is_over(other, parts, tally, counted_at):
            self.table.rest(other.backfill_id)
        return is_over

    def followed(
        self, runs: Iterable[Backfill], machine: str, evidence: EvidenceTable
    ) -> Iterator[Backfill]:
        """Yield *runs*; one whose execution ended early, so that no report comes, has failed."""
        runs = list(runs)
        latest: dict[str, int] = {}
        for run in runs:
            latest[run.run_id] = max(run.executions, latest.get(run.run_id, 1))
        for run in runs:
            newest = replace(run, executions=latest[run.run_id])
            status = "" if self._has_end(run, evidence) else self._status_of(newest, machine)
            has_rested = status == _FORGOTTEN and run.rested_at  # perhaps before an upgrade
            if status not in ("", "RUNNING", "SUCCEEDED") and not has_rested:
                self.table.fail(run, f"its execution is {status}")
                yield self.table.backfill(run.backfill_id) or run
            else:
                yield run

    def _has_end(self, run: Backfill, evidence: EvidenceTable) -> bool:
        """Whether it is over, reported or from long ago; then nobody waits for its report."""
        if run.purpose is not Purpose.VERIFY or run.started_at < days_ago(MESSAGE_DAYS):
            return True
        if run.status not in (BackfillStatus.RUNNING, BackfillStatus.QUEUED):
            return True
        closing = evidence.closing(run.run_id)
        return bool(closing and closing.delivered_at)

    def _status_of(self, run: Backfill, machine: str) -> str:
        """The status of its execution, of which Step Functions may not know yet, or any more."""
        arn = machine.replace(":stateMachine:", ":execution:") + f":{run.execution_name}"
        try:
            return self.stepfunctions.describe_execution(executionArn=arn)["status"]
        except ClientError as error:
            if error.response["Error"]["Code"] != _UNKNOWN:
                raise
            return "RUNNING" if run.started_at > days_ago(1) else _FORGOTTEN

    def _execute(self, machine: str, run_id: str, started: list[Backfill]) -> None:
        stepfunctions = self.stepfunctions
        try:
            stepfunctions.start_execution(
                stateMachineArn=machine,
                name=started[0].execution_name,
                input=json.dumps({"backfill_id": run_id}),
            )
        except stepfunctions.exceptions.ExecutionAlreadyExists:
            return  # the schedule may send an event twice; an execution's name is used once
        except (BotoCoreError, ClientError) as error:
            for verification in started:
                failure = f"it could not be started: {error}"
                self.table.end(verification.backfill_id, BackfillStatus.FAILED, now(), failure)
            raise
        self.logger.info("verification started", run=run_id, buckets=len(started))


def _verification(event: Mapping[str, Any], scheduled: datetime, bucket: str) -> Backfill:
    run_id = f"{scheduled:%Y%m%dT%H%M%S}"
    older_than = scheduled - timedelta(days=int(event["older_than_days"]))
    return Backfill(
        backfill_id=f"{run_id}-{hashlib.sha256(bucket.encode()).hexdigest()[:6]}",
        bucket=bucket,
        status=BackfillStatus.RUNNING,
        started_at=now(),
        all_versions=True,
        purpose=Purpose.VERIFY,
        older_than=text_of(older_than),
        storage_classes=tuple(filter(None, event["storage_classes"].split(","))),
        run=run_id,
        started_by=SCHEDULE,
    )


def buckets_of(event: Mapping[str, Any], cloudformation: CloudFormationClient) -> list[str]:
    """The buckets of the stack: its own, and the attached ones."""
    return [event["bucket"], *_attached(cloudformation, event["attached_stack"])]


def _attached(cloudformation: CloudFormationClient, stack: str) -> Iterator[str]:
    """The buckets that `bucketsum attach` lists in the metadata of its stack."""
    try:
        template: Any = cloudformation.get_template(StackName=stack)["TemplateBody"]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ValidationError":  # no bucket is attached
            return
        raise
    yield from (bucket["name"] for bucket in listed_in(template))
