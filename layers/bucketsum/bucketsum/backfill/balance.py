"""The balance of a run: each row of its buckets in exactly one standing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.backfill.counts import version_hash
from bucketsum.backfill.listed_versions import ListedVersion
from bucketsum.backfill.selection import is_read, is_sampled, is_selected
from bucketsum.clock import text_of
from bucketsum.hashing.ending import Purpose
from bucketsum.table.event_order import SECONDS
from bucketsum.table.rows import Row
from bucketsum.table.state import ObjectState, state_of

_SLACK: Final = timedelta(minutes=1)
"""Of the clocks of two functions: the reading of a row that is older by this may be of the run."""


class Standing(StrEnum):
    """Standing of a row at the end of a run."""

    VERIFIED = "verified"
    """The run read it again, and its digests are those recorded."""
    HASHED = "hashed"
    """It was recorded since the run began."""
    DIFFERS = "differs"
    REPAIRED = "repaired"
    ARCHIVED = "archived"
    NOT_SELECTED = "not selected"
    """A rule of the run left it out, which its entry names."""
    LOST = "lost"
    """S3 has no such version, and no deletion was recorded."""
    DELETED = "deleted"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    """It was due and exists, and was not read."""
    DAMAGED = "damaged"


class LeftOutRule(StrEnum):
    """Why a run leaves out a row."""

    PREFIX = "prefix"
    SAMPLE = "sample"
    AGE = "age"
    """It was recorded or verified too recently."""
    MISSING = "missing"
    """It has the digest that the run adds."""
    RECORDED = "recorded"
    """It has a digest, and the run records objects that have none."""
    STORAGE_CLASS = "storage class"
    OVERWRITTEN = "overwritten"
    """The run reads current versions alone, or the key was put again since it was listed."""
    STOPPED = "stopped"
    """The run of its bucket ended before it was listed."""


FINDINGS: Final = (
    Standing.DIFFERS, Standing.LOST, Standing.UNREADABLE, Standing.FAILED, Standing.DAMAGED,
    Standing.REPAIRED, Standing.DELETED,
)  # fmt: skip
"""Standings whose objects are named; the worst first."""

PROBLEMS: Final = FINDINGS[:5]
"""Those that somebody must look at."""


@dataclass(frozen=True, slots=True)
class BalanceEntry:
    """The place of one row in the balance.

    Attributes:
        rule: The rule that left it out, if it is not selected.
        reason: What a finding adds.
    """

    standing: Standing
    rule: LeftOutRule | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A row that nothing accounts for yet; S3 says whether its version exists.

    Attributes:
        read: Its place if S3 has it: it may have been read just before the run, or a rule left it
            out.
    """

    read: BalanceEntry | None = None


@dataclass(frozen=True, slots=True)
class SeenRow:
    """A row of a bucket of a run.

    Attributes:
        version: As the run listed it; None if it did not.
        is_whole: Whether the run's listing lacks no version of the bucket.
    """

    row: Row
    backfill: Backfill
    version: ListedVersion | None = None
    is_whole: bool = False

    @property
    def queued_hash(self) -> int:
        """The hash of its version if the run queued it, else 0; see `is_complete`."""
        if self.version is None or not is_queued(self.backfill, self.version):
            return 0
        return version_hash(self.row.key, self.row.version.id, self.row.etag)


@dataclass(slots=True)
class Balance:
    """Rows by bucket, standing and rule: their number and their bytes."""

    rows: dict[tuple[str, str, str, str], tuple[int, int]] = field(default_factory=dict)

    def add(
        self,
        bucket: str,
        entry: BalanceEntry,
        size_bytes: int,
        count: int = 1,
        storage_class: str = "",
    ) -> None:
        """Count *count* rows of *size_bytes* in all."""
        rule = entry.rule.value if entry.rule else ""
        place = bucket, entry.standing.value, rule, storage_class
        number, total = self.rows.get(place, (0, 0))
        self.rows[place] = number + count, total + size_bytes

    @classmethod
    def of(cls, parts: Iterable[Balance]) -> Balance:
        """The sum of *parts*."""
        whole = cls()
        for part in parts:
            for place, (number, total) in part.rows.items():
                before = whole.rows.get(place, (0, 0))
                whole.rows[place] = before[0] + number, before[1] + total
        return whole

    def number(self, *standings: Standing) -> int:
        """Rows in *standings*, by default in all."""
        return sum(
            number
            for (_, standing, *_), (number, _) in self.rows.items()
            if not standings or standing in standings
        )

    def lines(self, bucket: str) -> Iterator[dict[str, Any]]:
        """The lines of a bucket, in the order of `Standing`."""
        order = [standing.value for standing in Standing]
        mine = [place for place in self.rows if place[0] == bucket]
        for place in sorted(mine, key=lambda place: (order.index(place[1]), *place[2:])):
            number, total = self.rows[place]
            if number:
                facts = ("standing", place[1]), ("rule", place[2]), ("storage_class", place[3])
                yield {name: value or None for name, value in facts} | {
                    "rows": number,
                    "bytes": total,
                }

    def text(self) -> str:
        """The balance as JSON."""
        return json.dumps([[*place, *counts] for place, counts in sorted(self.rows.items())])

    @classmethod
    def in_text(cls, text: str) -> Balance:
        """The inverse of `text`; raises ValueError if it did not make *text*.

        Earlier releases did not write the storage class.
        """
        try:
            entries = [((str(b), Standing(s).value, str(r), "".join(c)), (int(n), int(total)))
                       for b, s, r, *c, n, total in json.loads(text)]  # fmt: skip
        except TypeError as error:
            raise ValueError(f"{text!r:.80} is not a balance") from error
        return cls(dict(entries))


NOT_READ: Final = BalanceEntry(
    Standing.FAILED,
    reason="it exists and was due, but was not read: `bucketsum failures` may say why",
)
_LOOKED_UP: Final = (
    LeftOutRule.AGE, LeftOutRule.MISSING, LeftOutRule.RECORDED, LeftOutRule.STORAGE_CLASS,
)  # fmt: skip
"""Rules about rows that were listed."""


def entry_of(seen: SeenRow) -> BalanceEntry | Question:
    """The place of a row in the balance, or that S3 must be asked."""
    row, version = seen.row, seen.version
    entry = _entry_by_row(row, seen.backfill)
    if isinstance(entry, Question):
        has_digest = state_of(row) in (ObjectState.HASHED, ObjectState.ARCHIVED)
        listed = version if has_digest else None
        return (listed and (entry.read or unread_entry(seen.backfill, listed))) or entry
    is_missing = seen.is_whole and version is None and entry.rule in _LOOKED_UP
    return Question(entry) if is_missing else entry


def unread_entry(backfill: Backfill, version: ListedVersion) -> BalanceEntry | None:
    """The place of a row whose *version* was not to be read; None if it was."""
    if not (backfill.all_versions or version.is_latest):
        return BalanceEntry(Standing.NOT_SELECTED, LeftOutRule.OVERWRITTEN)
    if not is_read(backfill, version.storage_class):
        return BalanceEntry(Standing.ARCHIVED)
    if not is_selected(backfill, version.storage_class):
        return BalanceEntry(Standing.NOT_SELECTED, LeftOutRule.STORAGE_CLASS)
    return None


def is_queued(backfill: Backfill, version: ListedVersion) -> bool:
    """Whether *backfill* queues a *version* that it lists."""
    is_current = backfill.all_versions or version.is_latest
    return is_current and is_selected(backfill, version.storage_class)


def _entry_by_row(row: Row, backfill: Backfill) -> BalanceEntry | Question:
    state = state_of(row)
    if state in (ObjectState.DAMAGED, ObjectState.DELETED):
        return BalanceEntry(Standing(state.value), reason=row.reason)
    if state is not ObjectState.HASHED and backfill.purpose is Purpose.RECORD:
        return BalanceEntry(Standing(state.value), reason=row.reason)
    rule = rule_of(row, backfill)
    if state is not ObjectState.HASHED:
        is_left_out = rule not in (None, LeftOutRule.STORAGE_CLASS)  # no class reads an archive
        left_out = BalanceEntry(Standing.NOT_SELECTED, rule)
        return left_out if state is ObjectState.ARCHIVED and is_left_out else Question()
    begun = datetime.fromisoformat(backfill.planned_at or backfill.started_at)
    for standing, moment in (
        (Standing.VERIFIED, row.verified.at if row.verified else ""),
        (Standing.HASHED, row.recorded_at),
    ):
        if _is_since(moment, text_of(begun)):
            return BalanceEntry(standing)
        if _is_since(moment, text_of(begun - _SLACK)):
            return Question(BalanceEntry(standing))
    return BalanceEntry(Standing.NOT_SELECTED, rule) if rule else Question()


def rule_of(row: Row, backfill: Backfill) -> LeftOutRule | None:
    """The rule by which *backfill* leaves out *row*, as far as the row shows."""
    rules = (
        (LeftOutRule.PREFIX, not row.key.startswith(backfill.prefix or "")),
        (LeftOutRule.SAMPLE, not is_sampled(backfill, row.key)),
        (
            LeftOutRule.STORAGE_CLASS,
            bool(row.storage_class) and not is_selected(backfill, row.storage_class or ""),
        ),
        (LeftOutRule.RECORDED, backfill.purpose is Purpose.RECORD),
        (
            LeftOutRule.AGE,
            bool(backfill.older_than) and _is_since(row.read_at, backfill.older_than),
        ),
        (LeftOutRule.MISSING, backfill.missing is not None),
        (LeftOutRule.STOPPED, backfill.status in (BackfillStatus.STOPPED, BackfillStatus.FAILED)),
    )
    return next((rule for rule, applies in rules if applies), None)


def _is_since(moment: str, since: str | None) -> bool:
    return moment[:SECONDS] >= (since or "")[:SECONDS]
