"""Start, stop, resume and follow the backfills of a deployed stack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from botocore.exceptions import ClientError

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.backfill.rest import OpenWork, days_ago
from bucketsum.backfill.verifications import open_verifications
from bucketsum.clock import now
from bucketsum.errors import DamagedItem
from bucketsum.prices import Prices, prices_in
from bucketsum.table.damage import each_read
from bucketsum_cli.aws.executions import Execution, StateMachine
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.backfill.estimate import Group, Setup, estimate_of
from bucketsum_cli.backfill.progress import RecordedProgress
from bucketsum_cli.backfill.purpose_words import BACKFILL, LAST, VERIFICATION, PurposeWords
from bucketsum_cli.backfill.work import Work
from bucketsum_cli.terminal.errors import CannotDoError


class Backfills:
    """The backfills of a stack, or its verifications."""

    def __init__(self, stack: Stack, words: PurposeWords = BACKFILL) -> None:
        self.stack = stack
        self.words = words
        client = stack.client("stepfunctions")
        queue = stack.outputs["BackfillQueueUrl"]
        self._open_work = OpenWork(stack.client("sqs"), queue, stack.progress_table())
        self._state_machine = StateMachine(client, stack.outputs["BackfillStateMachineArn"])
        self.table = stack.runs_table()
        self.evidence = stack.evidence_table()
        configuration = stack.function_configuration()
        [architecture] = configuration.get("Architectures", ["x86_64"])
        self.prices: Prices = prices_in(stack.connection.region, architecture)
        self.setup = Setup(
            memory_mb=configuration["MemorySize"],
            concurrency=int(stack.parameters["BackfillConcurrency"]),
            batch_size=int(stack.parameters["BatchSize"]),
            is_indexed=stack.parameters.get("Sha1Index") != "no",
            algorithms=stack.extra_algorithms,
        )

    def start(self, backfill: Backfill) -> None:
        """Record *backfill* and start its execution; if AWS refuses, record it as stopped.

        Raises:
            CannotDoError: It is a verification, and another one of its bucket is not over.
        """
        self._require_alone(backfill)
        backfill = replace(backfill, started_by=self.stack.connection.caller())
        self.table.record(backfill)
        self._execute(backfill)

    def _require_alone(self, backfill: Backfill) -> None:
        for other in open_verifications(self.table, backfill):
            progress = self.progress_of(other)
            if progress.is_at_rest or progress.failed:
                continue
            is_running = other.status is BackfillStatus.RUNNING
            do, command = (
                ("wait, or stop it", "stop") if is_running else ("wait for its end", "show")
            )
            raise CannotDoError(
                f"{other.backfill_id} verifies {other.bucket} already; {do}: "
                f"`{VERIFICATION.line(command, other.backfill_id)}`"
            )

    def _execute(self, backfill: Backfill) -> None:
        try:
            self._state_machine.start(backfill.execution_name, {"backfill_id": backfill.run_id})
        except ClientError:
            self.table.end(backfill.backfill_id, BackfillStatus.STOPPED, now())
            raise

    def stop(self, backfill_id: str) -> Backfill:
        """Stop listing; messages that are queued are still hashed.

        Raises:
            CannotDoError: There is no such backfill, or it is not running.
        """
        backfill = self._found(backfill_id)
        backfill_id = backfill.backfill_id
        if not self.table.end(backfill_id, BackfillStatus.STOPPED, now()):
            state = self._found(backfill_id).status  # which may have changed since
            state_text = "resumed just now" if state is BackfillStatus.RUNNING else state.value
            raise CannotDoError(f"{backfill_id} was not running: it is {state_text}")
        if backfill.run is None and self.is_running(backfill):  # else other buckets have a turn
            self._state_machine.stop(
                backfill.execution_name, "Stopped", f"`{self.words.command} stop`"
            )
        return self._found(backfill_id)

    def resume(self, backfill_id: str) -> Backfill:
        """Go on after the last object that was queued, in another execution of its run.

        Raises:
            CannotDoError: There is no such backfill, it is running, or all of it is queued.
        """
        backfill = self._found(backfill_id)
        members = self.table.members(backfill.run_id)
        executions = max(member.executions for member in members)
        is_running = self.is_running(replace(backfill, executions=executions))
        closing = self.evidence.closing(backfill.run_id)
        is_reported = bool(closing and closing.delivered_at)
        if is_reported or (backfill.status is BackfillStatus.QUEUED and is_running):
            raise CannotDoError(f"all objects of {backfill.backfill_id} are queued already")
        if backfill.status is BackfillStatus.RUNNING and is_running:
            raise CannotDoError(f"{backfill.backfill_id} is running")
        joins = backfill.run is not None and is_running  # the other buckets' execution comes to it
        resumed = replace(
            backfill,
            status=BackfillStatus.RUNNING,
            executions=executions if joins else executions + 1,
            ended_at=None,
            failure=None,
        )
        self._require_alone(resumed)
        for member in members:  # those that wait for their turn are of the same execution
            if member.status is BackfillStatus.RUNNING and member.bucket != backfill.bucket:
                self.table.record(replace(member, executions=resumed.executions))
        self.table.record(resumed)
        if not joins:
            self._execute(resumed)
        return resumed

    def newest(self) -> Iterator[RecordedProgress | DamagedItem]:
        """The state of each backfill, the newest first; for a damaged backfill, its error."""
        return each_read(self.progress_of, self.records())

    def records(self) -> Iterator[Backfill | DamagedItem]:
        """Each record of this purpose, the newest first; for a damaged one, its error."""
        return (
            record
            for record in self.table.backfills()
            if isinstance(record, DamagedItem) or record.purpose is self.words.purpose
        )

    def progress(self, backfill_id: str) -> RecordedProgress:
        """The state of a backfill.

        Raises:
            CannotDoError: There is no such backfill.
            DamagedItem: Another program changed one of its items.
        """
        return self.progress_of(self._found(backfill_id))

    def progress_of(self, backfill: Backfill | DamagedItem) -> RecordedProgress:
        """The state of *backfill*; raises a damaged one."""
        if isinstance(backfill, DamagedItem):
            raise backfill
        parts = tuple(self.table.parts(backfill.backfill_id))
        tally, counted_at = self.table.tally(backfill.backfill_id)
        is_listed = backfill.status is not BackfillStatus.RUNNING
        execution = None if is_listed else self._state_machine.execution(backfill.execution_name)
        if backfill.status is BackfillStatus.FAILED:
            execution = Execution("FAILED", backfill.failure or "")
        elif not (is_listed or execution) and backfill.started_at < days_ago(1):
            execution = Execution(
                "unknown", "an upgrade of the stack ended it, or nothing began it"
            )
        failed = execution if execution and execution.has_failed else None
        queued = Work(sum(p.objects for p in parts), sum(p.size_bytes for p in parts))
        read = Work(tally.hashed + tally.verified, tally.hashed_bytes + tally.verified_bytes)
        usd = estimate_of(queued, self.setup, self.prices).usd_of(Group.ORCHESTRATION)
        usd += estimate_of(read, self.setup, self.prices, backfill.purpose).usd_of(Group.HASHING)
        end = datetime.fromisoformat((is_listed and counted_at) or now())
        seconds = (end - datetime.fromisoformat(backfill.started_at)).total_seconds()
        is_at_rest = self._open_work.is_over(backfill, parts, tally, counted_at)
        return RecordedProgress(backfill, parts, queued, tally, is_at_rest, failed, usd, seconds)

    def _found(self, backfill_id: str) -> Backfill:
        if backfill_id == LAST:
            backfill: Backfill | DamagedItem | None = next(self.records(), None)
        else:
            backfill = self.table.backfill(backfill_id)
        words = self.words
        if isinstance(backfill, DamagedItem):
            raise backfill
        if backfill is None or backfill.purpose is not words.purpose:
            raise CannotDoError(
                f"there is no {words.name} {backfill_id}; `{words.line('list')}` shows all"
            )
        return backfill

    def is_running(self, backfill: Backfill) -> bool:
        """Whether an execution of *backfill* goes on."""
        execution = self._state_machine.execution(backfill.execution_name)
        return bool(execution and not execution.is_over)
