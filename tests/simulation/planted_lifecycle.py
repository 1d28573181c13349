"""Planted bugs of deletions, restores, long objects, backfills and damaged items."""

# ruff: noqa: SLF001 - bugs are planted in private parts

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

from bucketsum.backfill import backfill_records, listed_tasks
from bucketsum.backfill.enqueue import Enqueuer
from bucketsum.errors import DamagedRow, RowContended
from bucketsum.hashing import deletions, notified, recording, restores
from bucketsum.hashing.job import Job
from bucketsum.hashing.result import HashResult
from bucketsum.long_objects import progress_table, slice_reader
from bucketsum.long_objects.portable_digest import BLOCK_BYTES
from bucketsum.long_objects.progress import Progress
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.long_objects.slice_bytes import hash_slice
from bucketsum.long_objects.slice_result import SliceOutcome, SliceReport
from bucketsum.long_objects.slicer import Slicer
from bucketsum.table import digests_table
from bucketsum.table.codec import encoded
from bucketsum.table.condition import compared
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.event_order import SECONDS
from bucketsum.table.items import NOT_HASHED, deletion_of, key_of, rows_of
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import row_key_of

_PARAMETERS: Final = DigestsTable.put_parameters
_RECORD: Final = DigestsTable.record
_DELETION: Final = deletions.record_deletion
_RESTORED: Final = restores.hash_restored
_ADVANCE: Final = ProgressTable.advance
_CHANGED: Final = ProgressTable._changed
_HASH_SLICE: Final = hash_slice
_CREATED: Final = Progress.created
_KNOWN: Final = listed_tasks._known
_HASH_TASK: Final = notified.NotifiedHasher.hash


def _deletions_are_ignored(table: DigestsTable, *row: Any) -> Any:  # noqa: ANN401 - a request
    request: Any = _PARAMETERS(table, *row)
    request["ConditionExpression"] = digests_table._IF_NEWER
    return request


def _put_tombstone(table: DigestsTable, row_key: Any, deletion: Any) -> Outcome:  # noqa: ANN401 - as the product's
    tombstone = encoded(replace(deletion, expires_at=1), "") | {"status": {"S": NOT_HASHED}}
    table.dynamodb.put_item(TableName=table.name, Item=key_of(row_key) | tombstone)
    return Outcome.DELETED


def _marker_deletes(deleted: Any, table: Any, deadline: Any) -> Any:  # noqa: ANN401 - as the product's
    return _DELETION(replace(deleted, is_marker=False), table, deadline)


def _restored_without_sequencer(restored: Any, table: Any, hasher: Any, deadline: Any) -> Any:  # noqa: ANN401 - as the product's
    def hash_created(job: Job, deadline: Any) -> Any:  # noqa: ANN401 - as the product's
        return hasher.hash(Job(replace(job.created, sequencer="")), deadline)

    newest: Any = SimpleNamespace(hash=hash_created)
    return _RESTORED(restored, table, newest, deadline)


def _restored_with_a_row(restored: Any, table: Any, hasher: Any, deadline: Any) -> Any:  # noqa: ANN401 - as the product's
    if table.records_at([row_key_of(restored)]):
        return _RESTORED(restored, table, hasher, deadline)
    return HashResult(restored, Outcome.UNCHANGED)


def _advance_as_sent(table: ProgressTable, seen: Progress, new: Progress) -> Progress | None:
    moved = _ADVANCE(table, seen, new)
    if moved:
        table.mark_sent(moved)
    return moved


def _lease_in_any_case(table: ProgressTable, seen: Progress, until: int, at: int) -> bool:  # noqa: ARG001 - as the product's
    return table._changed(seen, {"leased_until": until}) is not None


def _change_at_any_offset(
    table: ProgressTable,
    seen: Progress,
    changes: Any,  # noqa: ANN401 - as the product's
    _condition: Any = None,  # noqa: ANN401 - as the product's
) -> Progress | None:
    return _CHANGED(table, seen, changes, compared("etag", "=", seen.etag))


def _save_ahead(digest: Any, *args: Any) -> bool:  # noqa: ANN401 - as the product's
    is_whole = _HASH_SLICE(digest, *args)
    if not is_whole:
        digest._length += BLOCK_BYTES
    return is_whole


def _created_without_etag(progress: Progress) -> Any:  # noqa: ANN401 - an event
    return replace(_CREATED.__get__(progress), etag=None)


def _listed_wins(table: DigestsTable, row: Any, *args: Any) -> Any:  # noqa: ANN401 - a request
    request: Any = _PARAMETERS(table, row, *args)
    if not row.sequencer:
        request.pop("ConditionExpression")
    return request


def _listed_without_etag(hasher: Any, task: Any, *args: Any) -> Any:  # noqa: ANN401 - as the product's
    if isinstance(task, Job) and (task.ending.expected or not task.created.sequencer):
        task = replace(task, created=replace(task.created, etag=None))
    return _HASH_TASK(hasher, task, *args)


def _position_first(enqueuer: Enqueuer, backfill: Any, part: Any, page: Any, _: object) -> Any:  # noqa: ANN401 - as the product's
    after = replace(page.after, objects=part.objects + len(page.objects))
    if not enqueuer.table.advance(backfill.backfill_id, part, after):
        return None
    enqueuer.queue.send_objects(backfill, page.objects)
    return after


def _removed_is_superfluous(_: Slicer, message: Any) -> SliceReport:  # noqa: ANN401 - as the product's
    return SliceReport(SliceOutcome.SUPERFLUOUS, message)


def _record_for_ever(table: DigestsTable, row: Any) -> Outcome:  # noqa: ANN401 - as the product's
    while True:
        try:
            return _RECORD(table, row)
        except (DamagedRow, RowContended):
            continue


def _damage_ends_the_batch(item: Any) -> Any:  # noqa: ANN401 - as the product's
    return next(rows_of([item]), None) or deletion_of(item)


def _complete_by_numbers(parts: Any, tally: Any) -> bool:  # noqa: ANN401 - as the product's
    return bool(tally.objects >= sum(part.objects for part in parts))


def _listed_in_time(listed: Any, row: Any) -> Any:  # noqa: ANN401 - as the product's
    outcome = _KNOWN(listed, row)
    is_late = row.changed_at[:SECONDS] >= listed.event_time[:SECONDS] and row.etag != listed.etag
    return outcome or (Outcome.SUPERSEDED if is_late else None)


LIFECYCLE_BUGS: Final = (
    ("a row ignores the deletion that was recorded before", DigestsTable, "put_parameters",
     _deletions_are_ignored),
    ("a deletion is not compared with the row of version null", deletions, "_if_recorded",
     lambda *_: compared("sequencer", ">=", "0")),
    ("a tombstone is written without a condition", deletions, "_written", _put_tombstone),
    ("a delete marker counts as a deletion", deletions, "record_deletion", _marker_deletes),
    ("a restored object is hashed without a sequencer", restores, "hash_restored",
     _restored_without_sequencer),
    ("a restored object without a row is not read", restores, "hash_restored",
     _restored_with_a_row),
    ("a slice's message counts as sent before it is", ProgressTable, "advance", _advance_as_sent),
    ("the lease of a slice is ignored", ProgressTable, "lease", _lease_in_any_case),
    ("progress changes whatever its offset is", ProgressTable, "_changed", _change_at_any_offset),
    ("progress ends whatever its event is", progress_table, "_same_event", progress_table._same),
    ("slices are read without If-Match", Progress, "created", property(_created_without_etag)),
    ("a slice's state is saved ahead of its bytes", slice_reader, "hash_slice", _save_ahead),
    ("the row of a backfill is written without a condition", DigestsTable, "put_parameters",
     _listed_wins),
    ("a listed object is read without If-Match", notified.NotifiedHasher, "hash",
     _listed_without_etag),
    ("an unreadable row replaces the digest of a backfill", digests_table, "_IF_NO_DIGEST", ""),
    ("an enqueuer saves its position before it sends", Enqueuer, "_with_next_page",
     _position_first),
    ("a slice whose progress was removed is superfluous", Slicer, "_begun_again",
     _removed_is_superfluous),
    ("a row that can never be written is tried for ever", DigestsTable, "record",
     _record_for_ever),
    ("a damaged row ends the look-up of its neighbours", digests_table, "_record_in",
     _damage_ends_the_batch),
    ("an upload in parts is as old as its beginning", listed_tasks, "_known", _listed_in_time),
    ("an unreadable listed object replaces a row that may be newer", recording, "is_newer",
     lambda *_: True),
    ("numbers alone say that a backfill is done", backfill_records, "is_complete",
     _complete_by_numbers),
)  # fmt: skip
