"""Rows of the digests table ↔ DynamoDB items."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from bucketsum.algorithms import SHA1
from bucketsum.errors import DamagedRow
from bucketsum.events.message_fields import is_moment, shown
from bucketsum.table.codec import decoded, decoded_part, encoded, texts_with_prefix
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum.table.sequencer import padded_sequencer

SHA1_SHARDS: Final = 16
"""Keys in the index for one SHA-1, so that a flood of equal objects is not throttled.

A key of an index takes 1,000 writes per second; if it is hot, DynamoDB refuses the writes to the
table itself. S3 takes 3,500 PUTs per second and prefix.
"""

NOT_HASHED: Final = "not_hashed"
"""Status of a tombstone: an item that has only a deletion, and is not a `Row`."""

SIZE_MAX: Final = 50 * 2**40
"""[A] The largest object that S3 has."""

DIGEST_PREFIX: Final = "digest_"
_FLOAT_FORMAT: Final = ".3f"
_LAST_SECOND: Final = 253_402_300_799  # of the year 9999


def key_of(row_key: RowKey) -> dict[str, Any]:
    """*row_key* as the key of an item."""
    return {
        "object": {"S": f"{row_key.bucket}/{row_key.key}"},
        "entry": {"S": row_key.entry},
    }


def row_key_in(item: Mapping[str, Any]) -> RowKey:
    """The key of *item*."""
    bucket, _, key = item["object"]["S"].partition("/")  # a bucket's name has no slash
    return RowKey(bucket, key, item["entry"]["S"])


def item_of(row: Row, *, is_indexed: bool = True) -> dict[str, Any]:
    """*row* as an item; the index by-sha1 has it if it *is_indexed* and hashed."""
    item = {
        **key_of(RowKey(row.bucket, row.key, row.entry)),
        **encoded(row, _FLOAT_FORMAT),
        **{f"{DIGEST_PREFIX}{name}": {"S": value} for name, value in row.digests.items()},
    }
    if row.sha1 and is_indexed:  # the shard is decided by the row's own key
        shard = zlib.crc32(f"{row.bucket}/{row.key}/{row.entry}".encode()) % SHA1_SHARDS
        item["sha1_shard"] = {"S": f"{row.sha1}#{shard}"}
    return item


def row_of(item: Mapping[str, Any]) -> Row:
    """The row in *item*, the inverse of `item_of`; its sequencer is padded.

    Raises:
        DamagedRow: It did not make this item.
    """
    row_key = row_key_in(item)
    try:
        digests = texts_with_prefix(DIGEST_PREFIX, item)
        row = decoded(
            Row, item, bucket=row_key.bucket, key=row_key.key, entry=row_key.entry, digests=digests
        )
        _require_sense(row)
    except ValueError as error:
        raise _damaged(row_key, error) from error
    return row


def _require_sense(row: Row) -> None:
    """Check the digest, and the values of which a message for a redrive is made."""
    if row.status is Status.HASHED and not SHA1.is_digest(row.sha1 or ""):
        raise ValueError(f"sha1 is {shown(row.sha1)}" if row.sha1 else "sha1 is missing")
    if not 0 <= row.size_bytes <= SIZE_MAX:
        raise ValueError(f"size_bytes is {row.size_bytes}")
    if not is_moment(row.arrived_at):
        raise ValueError(f"arrived_at is {shown(row.arrived_at)}")
    if row.deletion and not 0 <= (row.deletion.expires_at or 0) <= _LAST_SECOND:
        raise ValueError(f"expires_at is {shown(row.deletion.expires_at)}")


def row_without_digest(item: Mapping[str, Any]) -> Row:
    """The row in *item*, as unreadable: its digest is damaged, and must be computed again.

    Raises:
        DamagedRow: It says that it is not hashed, or something else is damaged too.
    """
    if item.get("status") != {"S": Status.HASHED}:
        return row_of(item)
    rest = {name: value for name, value in item.items() if name != "sha1"}
    return row_of(rest | {"status": {"S": Status.UNREADABLE}})


def shown_rows(items: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """The rows among *items*, to be shown; a damaged row has only its key and the reason."""
    for item in items:
        try:
            yield from rows_of([item])
        except DamagedRow as error:
            at = row_key_in(item)
            yield Row(at.bucket, at.key, at.entry, Status.DAMAGED, 0, "", "", "", reason=str(error))


def rows_of(items: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """The rows among *items*, without tombstones; raises the same errors as `row_of`."""
    return (row_of(item) for item in items if item.get("status") != {"S": NOT_HASHED})


def deletion_of(item: Mapping[str, Any]) -> Deletion | None:
    """The deletion in *item*, a row's or a tombstone; its sequencer is padded.

    Raises:
        DamagedRow: Only parts of a deletion are in it.
    """
    try:
        return decoded_part(Deletion, item)
    except ValueError as error:
        raise _damaged(row_key_in(item), error) from error


def sequencer_in(item: Mapping[str, Any], name: str = "sequencer") -> str:
    """The padded sequencer in the attribute *name*; empty if *item* has none.

    Raises:
        DamagedRow: It is not a padded text, so no condition on its order can be met.
    """
    if name not in item:
        return ""
    try:
        return padded_sequencer(item[name].get("S", ""))
    except ValueError as error:
        raise _damaged(row_key_in(item), ValueError(f"{name} is {shown(item[name])}")) from error


def _damaged(row_key: RowKey, error: Exception) -> DamagedRow:
    return DamagedRow(
        f"the row of {shown(f'{row_key.bucket}/{row_key.key}')}, entry {shown(row_key.entry)}, is "
        f"damaged: {error}; correct its item in the table, or delete it and hash the object again"
    )
