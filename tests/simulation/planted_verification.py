"""Planted bugs of verifications, and of the comparison with S3's own checksum."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from bucketsum.backfill.listed_tasks import ListedTasks
from bucketsum.checksums.comparison import ChecksumComparison
from bucketsum.checksums.stored import StoredPart, parts_in
from bucketsum.hashing import verification
from bucketsum.hashing.ending import End
from bucketsum.hashing.job import Job
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.hashing.recording import Recording
from bucketsum.hashing.result import HashResult
from bucketsum.hashing.verification import Verification
from bucketsum.s3 import stored_checksums
from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Row

_TASK_OF: Final = ListedTasks.of
_FINISH: Final = Verification.finish
_MARK: Final = verification.mark
_HASH: Final = ObjectHasher.hash


def _recorded_again(tasks: ListedTasks, *args: Any) -> Any:  # noqa: ANN401 - as the product's
    task = _TASK_OF(tasks, *args)
    return replace(task, ending=Recording(task.ending.expected)) if isinstance(task, Job) else task


def _one_reading(ending: Verification, table: DigestsTable, row: Any, _: Any = None) -> End:  # noqa: ANN401 - as the product's
    return _FINISH(ending, table, row, verification.difference(ending.expected, row))


def _not_noted(table: DigestsTable, recorded: Any, row: Any, differing: Any = None) -> Outcome:  # noqa: ANN401 - as the product's
    return Outcome.DIFFERS if differing else _MARK(table, recorded, row)


def _unreadable_is_verified(hasher: Any, state: Any, deadline: Any) -> HashResult:  # noqa: ANN401 - as the product's
    result = _HASH(hasher, state, deadline)
    ending = state.ending if isinstance(state, Job) else state.job.ending
    if isinstance(ending, Verification) and result.outcome is Outcome.UNREADABLE:
        verification.mark(hasher._table, ending.expected, ending.expected)  # noqa: SLF001
    return result


def _first_wins(ending: Verification, table: DigestsTable, row: Any, before: Any = None) -> End:  # noqa: ANN401 - as the product's
    if before:
        return End(verification.mark(table, ending.expected, row, before))
    return _FINISH(ending, table, row)


def _skipped(comparison: ChecksumComparison, _: object) -> Compared:
    return Compared(ChecksumResult.EQUAL, str(comparison.checksum))


def _neighbours(*args: Any) -> Sequence[StoredPart]:  # noqa: ANN401 - as the product's
    parts = parts_in(*args)
    return [replace(part, value=parts[place - 1].value) for place, part in enumerate(parts)]


def _uncompared(row: Row, before: Compared | None) -> Row:
    return replace(row, compared=Compared(ChecksumResult.NOT_COMPARED)) if before else row


VERIFICATION_BUGS: Final = (
    ("a verification records what it reads", ListedTasks, "of", _recorded_again),
    ("an object differs after one reading", Verification, "finish", _one_reading),
    ("a verification compares nothing", verification, "difference", lambda *_: None),
    ("what differs is not noted", verification, "mark", _not_noted),
    ("an unreadable object is marked as verified", ObjectHasher, "hash", _unreadable_is_verified),
    ("the second reading does not decide", Verification, "finish", _first_wins),
)
WITNESS_BUGS: Final = (
    ("S3's checksum is not compared", ChecksumComparison, "compared", _skipped),
    ("a part is compared with its neighbour's checksum", stored_checksums, "parts_in", _neighbours),
    ("a second comparison is lost, and ends a difference", Row, "compared_as", _uncompared),
)
