"""Rows of the digests table, in tables and in JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from bucketsum.archives.member_rows import MEMBER_MARK, archive_entry
from bucketsum.table.codec import attributes_of
from bucketsum.table.rows import Row, Status
from bucketsum_cli.terminal.output import iso_text
from bucketsum_cli.terminal.tables import Cell

if TYPE_CHECKING:
    from collections.abc import Iterable

WAITING: Final = "waiting"
"""Status of an object that is in the bucket, and nothing is recorded for it yet."""


NOT_COVERED: Final = "not covered"
"""Status of an object that nothing is recorded for, and whose key the queue gets no events of."""


def any_damaged(rows: Iterable[Row | None]) -> bool:
    """Whether another program changed the item of one of *rows*."""
    return any(row is not None and row.status is Status.DAMAGED for row in rows)


def status_of(row: Row | None, *, covered: bool = True) -> str:
    """Return the status of the object with *row*; *covered*: whether its key is hashed."""
    return row.status.value if row else WAITING if covered else NOT_COVERED


def digest_cell(row: Row | None, *, covered: bool = True) -> str | Cell:
    """Return the SHA-1, or the reason why there is none, as for `status_of`."""
    if row is None:
        return Cell(status_of(row, covered=covered), "yellow")
    return row.sha1 or Cell(f"{row.status}: {row.reason}", "red")


def full_name(row: Row) -> str:
    """Return the key of *row*; for a member, ``KEY!/path``."""
    return f"{row.key}{MEMBER_MARK}{row.member.path}" if row.member else row.key


def version_of(row: Row) -> str:
    """Return the version of the object, or of the archive with the member."""
    return archive_entry(row.entry) if row.member else row.entry


def row_as_json(row: Row) -> dict[str, Any]:
    """Return all attributes of *row*, under the names of docs/json.md; unknown ones are null."""
    attributes = dict(attributes_of(row))
    if row.status is Status.DAMAGED:
        attributes = dict.fromkeys(attributes) | {"status": row.status, "reason": row.reason}
    del attributes["arrived_at"]
    deletion = row.deletion
    expires_at = deletion.expires_at if deletion else None
    return {
        "bucket": row.bucket,
        "key": row.key,
        "version": version_of(row),
        **attributes,
        "digests": dict(row.digests),
        "remarks": list(row.remarks),
        "created_at": iso_text(row.arrived_at),
        "recorded_at": iso_text(row.recorded_at),
        "deleted_at": iso_text(deletion.at) if deletion else None,
        "expires_at": iso_text(datetime.fromtimestamp(expires_at, UTC)) if expires_at else None,
    }


def event_of(row: Row) -> dict[str, Any]:
    """Return the event of *row* in EventBridge's format, which has unencoded keys."""
    version = {} if row.version.is_null else {"version-id": row.entry}
    etag = {"etag": row.etag} if row.etag else {}
    return {
        "detail-type": "Object Created",
        "source": "bucketsum.redrive",
        "time": row.arrived_at,
        "detail": {
            "bucket": {"name": row.bucket},
            "object": {
                "key": row.key,
                "size": row.size_bytes,
                "sequencer": row.sequencer,
                **version,
                **etag,
            },
        },
    }
