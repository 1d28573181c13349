"""States of rows: those of members too, which are known only as well as their archive."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from bucketsum.archives.member_rows import archive_entry, member_entry
from bucketsum.table.rows import Row, RowKey
from bucketsum.table.state import ObjectState, state_of
from bucketsum_cli.aws.errors import Reads
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.objects.row_names import split_name
from bucketsum_cli.objects.versions import ListedKey, listed_key
from bucketsum_cli.terminal.output import note

_AT_A_TIME: Final = 8

_ASKED_MAX: Final = 1000  # requests for more would take longer than a listing

_SETTLED: Final = (ObjectState.DELETED, ObjectState.DAMAGED)
"""States that S3's listing does not change."""


def versions_of_member(stack: Stack, key: str) -> list[tuple[Row, ObjectState]]:
    """Return ``KEY!/path`` in each version of the archive, the newest first, with its state."""
    archive, path = split_name(key)
    if path is None:
        return []
    table = stack.digests_table()
    rows = []
    for version in table.versions_of(stack.bucket, archive):
        row = table.row_at(
            RowKey(stack.bucket, archive, member_entry(version.entry, version.sequencer, path))
        )
        if row and version.is_archive_of(row):
            rows.append(row)
    return with_states(stack, rows)


def with_states(stack: Stack, rows: Sequence[Row]) -> list[tuple[Row, ObjectState]]:
    """Return *rows* with their states; a member is known only as well as its archive.

    Members are left out if their archive has no row (it expired, or is not recorded yet), or if
    that is of a later archive at this key; they have its deletion.
    """
    stack.client("s3")  # threads cannot make one
    archives = stack.digests_table().rows_at(_archive_key(row) for row in rows if row.member)
    pairs = [(row, archives.get(_archive_key(row)) if row.member else row) for row in rows]
    known = [(row, at) for row, at in pairs if at and (at is row or at.is_archive_of(row))]
    few = known if len(known) <= _ASKED_MAX else []
    if known and not few:
        note(f"S3 was not asked whether these {len(known):,} exist: `--snapshot last` lists it")
    objects = (at for _, at in few if state_of(at) not in _SETTLED)
    keys = dict.fromkeys((at.bucket, at.key) for at in objects)
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        answers = pool.map(lambda key: Reads()(lambda: listed_key(stack, *key)), keys)
        listed = dict(zip(keys, answers, strict=True))
    return [
        (replace(row, deletion=at.deletion), _state_in(row, at, listed.get((at.bucket, at.key))))
        for row, at in known
    ]


def _state_in(row: Row, at: Row, listed: ListedKey | None) -> ObjectState:
    """The state of *row*, an object or a member of the object with the row *at*.

    *listed* is that object's key, if S3 was asked and allows it.
    """
    state = listed.state_of(at) if listed else state_of(at)
    return state_of(row) if row.member and state is ObjectState.HASHED else state


def _archive_key(member: Row) -> RowKey:
    return RowKey(member.bucket, member.key, archive_entry(member.entry))
