"""A run: backfills of one execution, a bucket after the other, until all of them rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.backfill.closing import Evidence
from bucketsum.backfill.table import BackfillsTable
from bucketsum.errors import UnknownBackfill
from bucketsum.step_functions_errors import plain_cause

Shares = Callable[[Backfill], Sequence[Sequence[int]]]

_CAUSE_CHARACTERS_MAX: Final = 1000


@dataclass(frozen=True, slots=True)
class NextStep:
    """The next step of an execution.

    Attributes:
        events: Events for the enqueuer, in parallel, until each leaves no parts.
        failed: Without events: whether a bucket's backfill failed.
    """

    events: Sequence[dict[str, Any]] = field(default_factory=list)
    failed: bool = False


def members_of(table: BackfillsTable, run_id: str) -> list[Backfill]:
    """The backfills of a run, of which there is at least one.

    Raises:
        UnknownBackfill: There is none.
        DamagedItem: Another program changed one of them.
    """
    if not (members := table.members(run_id)):
        raise UnknownBackfill(f"there is no backfill {run_id}")
    return members


def next_step(
    run_id: str, table: BackfillsTable, evidence: Evidence, shares_of: Shares
) -> NextStep:
    """The next step of a run, by the table alone: after a kill, it is the same again.

    *shares_of* plans a backfill: part numbers for each enqueuer, none if all is queued.

    Raises:
        UnknownBackfill, DamagedItem, BadInventory, ClientError: See `shares_of`.
    """
    members = members_of(table, run_id)
    for backfill in members:
        backfill_id = backfill.backfill_id
        if backfill.status is BackfillStatus.RUNNING and (shares := shares_of(backfill)):
            return NextStep([{"action": "enqueue", "backfill_id": backfill_id, "parts": share}
                         for share in shares])  # fmt: skip
        if is_open(table.backfill(backfill_id) or backfill):  # it has just become queued
            return NextStep([{"action": "settle", "backfill_id": backfill_id, "parts": [0]}])
    if events := evidence.next_events(run_id, members):
        return NextStep(events)
    return NextStep(failed=any(backfill.status is BackfillStatus.FAILED for backfill in members))


def is_open(backfill: Backfill) -> bool:
    """Whether its objects are being listed, read or waited for."""
    is_waiting = backfill.status is BackfillStatus.QUEUED and not backfill.rested_at
    return backfill.status is BackfillStatus.RUNNING or is_waiting


def give_up(run_id: str, table: BackfillsTable, error: str, cause: str) -> str:
    """Mark the backfill at which a run stands as failed, so that the next bucket has its turn.

    Raises:
        UnknownBackfill: There is none: the run itself cannot go on.
    """
    backfill = next(filter(is_open, members_of(table, run_id)), None)
    if backfill is None:
        raise UnknownBackfill(f"{run_id} has no open backfill: {error}: {cause}")
    table.fail(backfill, plain_cause(error, cause)[:_CAUSE_CHARACTERS_MAX])
    return backfill.backfill_id
