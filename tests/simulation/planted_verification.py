"""Planted bugs of verifications."""

# ruff: noqa: SLF001 - bugs are planted in private parts

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from bucketsum.backfill.listed_batch import ListedBatchHasher
from bucketsum.hashing import verification
from bucketsum.hashing.job import Job, Purpose
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.hashing.object_rows import hashed_row
from bucketsum.hashing.result import HashResult, ReadObject
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome

_TASK_OF: Final = ListedBatchHasher._task_of
_VERIFIED: Final = verification.verified
_MARK: Final = verification.mark
_HASH: Final = ObjectHasher.hash


def _recorded_again(hasher: ListedBatchHasher, *args: Any) -> Any:  # noqa: ANN401 - as the product's
    task = _TASK_OF(hasher, *args)
    return replace(task, purpose=Purpose.RECORD) if isinstance(task, Job) else task


def _one_reading(table: DigestsTable, read: ReadObject, settings: Any, _: object) -> HashResult:  # noqa: ANN401 - as the product's
    return _VERIFIED(table, read, settings, lambda: read)


def _not_noted(table: DigestsTable, recorded: Any, row: Any, differing: Any = None) -> Outcome:  # noqa: ANN401 - as the product's
    return Outcome.DIFFERS if differing else _MARK(table, recorded, row)


def _unreadable_is_verified(hasher: ObjectHasher, job: Job, deadline: Any) -> HashResult:  # noqa: ANN401 - as the product's
    result = _HASH(hasher, job, deadline)
    if job.recorded and result.outcome is Outcome.UNREADABLE:
        verification.mark(hasher._table, job.recorded, job.recorded)
    return result


def _first_wins(table: DigestsTable, read: ReadObject, settings: Any, read_again: Any) -> Any:  # noqa: ANN401 - as the product's
    recorded = read.job.recorded
    assert recorded
    if verification.difference(recorded, hashed_row(read, settings)):
        read_again()
    return _VERIFIED(table, read, settings, lambda: read)


VERIFICATION_BUGS: Final = (
    ("a verification records what it reads", ListedBatchHasher, "_task_of", _recorded_again),
    ("an object differs after one reading", verification, "verified", _one_reading),
    ("a verification compares nothing", verification, "difference", lambda *_: None),
    ("what differs is not noted", verification, "mark", _not_noted),
    ("an unreadable object is marked as verified", ObjectHasher, "hash", _unreadable_is_verified),
    ("the second reading does not decide", verification, "verified", _first_wins),
)
