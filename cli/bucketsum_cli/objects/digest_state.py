"""Digests as lists of objects show them, with the reasons why some are missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bucketsum.table.rows import Row
from bucketsum.table.state import ObjectState, is_repaired, state_of
from bucketsum_cli.objects.pending import Pending
from bucketsum_cli.terminal.columns import Cell
from bucketsum_cli.terminal.documents import Moment
from bucketsum_cli.terminal.output import note

FINDINGS: Final = (ObjectState.DIFFERS, ObjectState.DAMAGED)
"""States with which a list of rows ends with exit status 1."""


@dataclass(frozen=True, slots=True)
class DigestState:
    """The state of an object's digest, as lists of objects show it."""

    status: str
    sha1: str | None = None
    mb_per_s: float | None = None
    recorded_at: Moment | None = None
    reason: str | None = None


def digest_state(
    row: Row | None, pending: Pending = Pending.NOT_HASHED_YET, versions: Iterable[Row] = ()
) -> DigestState:
    """Return the state of the object with *row*; without one, it is *pending*.

    *versions* of its key may repair it.
    """
    if row is None:
        return DigestState(pending)
    state = state_of(row, is_repaired=is_repaired(row, versions))
    return DigestState(state.value, row.sha1, row.mb_per_s, row.recorded_at or None, reason_of(row))


def digest_cell(digest: DigestState) -> str | Cell:
    """Return the SHA-1 if it holds, else the state; `Reasons` says more below the table."""
    if digest.sha1 and digest.status == ObjectState.HASHED:
        return digest.sha1
    return Cell(digest.status, "red" if digest.reason else "yellow")


def reason_of(row: Row) -> str | None:
    """Why the object with *row* has no digest that holds, if that is known."""
    state = state_of(row)
    if state is ObjectState.DIFFERS and row.contradiction and row.compared:
        return f"S3's own checksum is {row.compared.checksum}, and {row.contradiction}"
    if state is ObjectState.DIFFERS and row.difference:
        return f"S3 returned {row.difference.digest} on {row.difference.at}"
    if state is ObjectState.UNREADABLE and row.failed_reading:
        return f"since {row.failed_reading.at}: {row.failed_reading.reason}"
    if state is ObjectState.ARCHIVED:
        return f"it is in {row.storage_class or 'an archive class'} and was never read"
    return row.reason


class Reasons:
    """Reasons why objects have no digest, each with its first key and the number of its keys."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._count: Counter[str] = Counter()

    def add(self, name: str, state: DigestState) -> None:
        """Remember the reason of the object *name*, if it has one."""
        if state.reason:
            reason = f"{state.status}: {state.reason}"
            self._first.setdefault(reason, name)
            self._count[reason] += 1

    def note(self) -> None:
        """Show them, below a table that has only the status."""
        for reason, number in self._count.items():
            others = f" and {number - 1:,} more" if number > 1 else ""
            note(f"{reason} ({self._first[reason]}{others})")
