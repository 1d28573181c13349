"""Order of the events of a key: whether a row may take the place of an item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bucketsum.errors import RowContended
from bucketsum.table.items import deletion_of, sequencer_in
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import NO_SEQUENCER, comparable_sequencer

SECONDS: Final = len("2026-11-21T03:04:05")
"""Characters of a time that LastModified has too."""


def refusal_of(item: Mapping[str, Any], row: Row) -> Outcome | None:
    """Why *row* must not replace *item*; None if only a deletion prevented it."""
    recorded = sequencer_in(item)
    sequencer = comparable_sequencer(row.sequencer)
    if recorded > sequencer:
        return Outcome.SUPERSEDED
    is_hashed = item.get("status") == {"S": Status.HASHED}
    if recorded == sequencer and is_hashed:
        return Outcome.UNCHANGED
    if is_hashed and not row.version.is_null:
        deletion_of(item)  # may be damaged
        return Outcome.UNCHANGED
    is_listed = recorded == comparable_sequencer(NO_SEQUENCER) < sequencer
    if is_listed and row.status is not Status.HASHED and item.get("etag") != {"S": row.etag}:
        return _order_of_listed(item, row)
    return None


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
