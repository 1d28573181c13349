"""Order of the events of a key: whether a row may take the place of an item."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from bucketsum.clock import text_of
from bucketsum.errors import RowContended, Unordered
from bucketsum.table.items import deletion_of, sequencer_in
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import NO_SEQUENCER, comparable_sequencer

MISSED_ROW: Final = "a row of another object of this key was not there before"
SECONDS: Final = len("2026-11-21T03:04:05")
"""Characters of a time that LastModified has too."""


def refusal_of(item: Mapping[str, Any], row: Row) -> Outcome | None:
    """Why *row* must not replace *item*; None if it may, or only a deletion prevented it.

    Raises:
        Unordered: Another object is listed, perhaps since the reading.
        RowContended: Likewise, of an object that could not be read.
    """
    recorded = sequencer_in(item)
    sequencer = comparable_sequencer(row.sequencer)
    if recorded > sequencer:
        return Outcome.SUPERSEDED
    is_hashed = item.get("status") == {"S": Status.HASHED}
    if recorded == sequencer and is_hashed:
        return Outcome.UNCHANGED
    if not row.version.is_null:
        deletion_of(item)  # may be damaged
        return Outcome.UNCHANGED if is_hashed else None
    is_listed = recorded == comparable_sequencer(NO_SEQUENCER) < sequencer
    may_be_listed = item.get("recorded_at", {}).get("S", "") > read_since(row)
    is_own = item.get("etag") in (None, {"S": row.etag})
    if is_own or not (is_listed or (may_be_listed and recorded < sequencer)):
        return None
    if row.status is Status.HASHED:
        raise Unordered(MISSED_ROW)
    return _order_of_listed(item, row)


def read_since(row: Row) -> str:
    """The time at which the reading of *row* began.

    S3 had its object then. So another one that was read before, as a row of an earlier time shows,
    is older if its event is; a listed object has the sequencer of the row that it replaced.
    """
    try:  # the time has whole milliseconds
        duration = timedelta(milliseconds=row.timing.duration_ms - 1 if row.timing else 0)
        return text_of(datetime.fromisoformat(row.recorded_at) - duration)
    except (OverflowError, ValueError):  # no row of ours
        return row.recorded_at


def deletion_since(item: Mapping[str, Any], row: Row) -> Deletion | None:
    """The deletion in *item* of the object of *row*; None if the object is newer."""
    deletion = deletion_of(item)
    is_over = deletion and deletion.sequencer <= comparable_sequencer(row.sequencer)
    return None if row.version.is_null and is_over else deletion


def _order_of_listed(item: Mapping[str, Any], row: Row) -> Outcome | None:
    """SUPERSEDED if the listed object in *item* is newer than *row*; None if it is older.

    Raises:
        RowContended: S3's times do not tell: that of an upload in parts is its beginning. Only of
            an archived object S3 has said that it is there, and has this entity tag.
    """
    listed_at = item.get("arrived_at", {}).get("S", "")[:SECONDS]
    if listed_at > row.arrived_at[:SECONDS]:
        return Outcome.SUPERSEDED
    if row.status is Status.UNREADABLE or listed_at == row.arrived_at[:SECONDS]:
        raise RowContended("S3 lists another object, perhaps a newer one, and neither can be read")
    return None
