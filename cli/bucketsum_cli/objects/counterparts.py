"""Objects, or members of archives, that files are compared with."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bucketsum.archives.member_rows import MEMBER_MARK, member_entry
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum.table.state import ObjectState, Presence, state_of
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.objects.pending import Pending
from bucketsum_cli.objects.row_names import split_name
from bucketsum_cli.objects.versions import Newest, ObjectVersion, newest_versions
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import with_bar
from bucketsum_cli.terminal.output import note

_AT_A_TIME: Final = 8
_MANY_KEYS: Final = 5000


class Result(StrEnum):
    """Relation of a local file to the object in the bucket now."""

    EQUAL = "equal"
    DIFFERS = "differs"
    NO_SUCH_DIGEST = "no such digest"
    """The object is recorded, but without a digest of the list's algorithm."""
    NOT_HASHED_YET = Pending.NOT_HASHED_YET.value
    """The newest version is not recorded yet."""
    NEEDS_BACKFILL = Pending.NEEDS_BACKFILL.value
    """The same, and no event of it will come."""
    NOT_COVERED = Pending.NOT_COVERED.value
    """The same, as no notification covers the key."""
    FAILED = "failed"
    """The message of the newest version is in the dead-letter queue."""
    UNREADABLE = ObjectState.UNREADABLE.value
    """The last reading of the object failed."""
    ARCHIVED = ObjectState.ARCHIVED.value
    """The object must be restored before it can be read; it never was."""
    DAMAGED = ObjectState.DAMAGED.value
    """Another program changed the object's row."""
    HIDDEN = ObjectState.HIDDEN.value
    """The newest version of the key is a delete marker."""
    LOST = ObjectState.LOST.value
    """The key is recorded, S3 does not list it, and no deletion is recorded."""
    DELETED = ObjectState.DELETED.value
    """The same, and its deletion is recorded."""
    MISSING = "missing"
    """There is no such object, and nothing is recorded."""


@dataclass(frozen=True, slots=True)
class Counterpart:
    """The object, or the member, that a file is compared with.

    Attributes:
        version: The object's newest version; None for members, and if there is no object.
        absent: The result if there is neither a row nor an object.
        reason: Why there is none, if that is known.
        archive: The archive of a member; without a digest that holds, no member is equal.
    """

    row: Row | None = None
    version: ObjectVersion | None = None
    absent: Result = Result.MISSING
    reason: str | None = None
    archive: Row | None = None


def objects_of(stack: Stack, keys: Collection[str]) -> dict[str, Counterpart]:
    """Return the object that is in the bucket now for each of *keys*."""
    if len(keys) > _MANY_KEYS:
        compare = command_line("compare", "LIST", stack.bucket)
        note(f"for so many keys, `{compare}` is faster; LIST is what `sha1sum` prints")
    objects = _objects_of(stack, keys)
    members = [key for key, at in objects.items() if MEMBER_MARK in key and not at.version]
    return {**objects, **_members_of(stack, members)}


def _objects_of(stack: Stack, keys: Collection[str]) -> dict[str, Counterpart]:
    table = stack.digests_table()

    def counterpart(key: str, newest: Newest, is_hidden: bool) -> Counterpart:  # noqa: FBT001 - of a tuple
        if newest:
            return Counterpart(newest[1], newest[0])
        rows = table.versions_of(stack.bucket, key)
        if not rows:
            return Counterpart()
        recorded = next((row for row in rows if not row.deletion), rows[0])
        state = state_of(recorded, Presence.ABSENT)
        if state is ObjectState.LOST and is_hidden:
            return Counterpart(absent=Result.HIDDEN, reason="its newest version is a delete marker")
        deletion = recorded.deletion
        reason = f"deleted at {deletion.at} by a {deletion.by}" if deletion else recorded.reason
        return Counterpart(absent=Result(state), reason=reason)

    newest = with_bar(newest_versions(stack, keys), "comparing", len(keys))
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        pending = [(version[0], pool.submit(counterpart, *version)) for version in newest]
        return {key: future.result() for key, future in pending}


def _members_of(stack: Stack, names: Collection[str]) -> dict[str, Counterpart]:
    """The members that *names*, ``KEY!/PATH``, have in the newest version of their archive.

    If that is absent or not hashed, its counterpart is the member's too.
    """
    archives = _objects_of(stack, {split_name(name)[0] for name in names}) if names else {}
    of_name = {name: archives[split_name(name)[0]] for name in names}
    places = {
        name: RowKey(row.bucket, row.key, member_entry(row.entry, row.sequencer, path or ""))
        for name, archive in of_name.items()
        for path in [split_name(name)[1]]
        if (row := archive.row) and row.status is Status.HASHED
    }
    rows = stack.digests_table().rows_at(places.values())
    return {
        name: _member_in(archive, rows.get(places[name])) if name in places else archive
        for name, archive in of_name.items()
    }


def _member_in(archive: Counterpart, row: Row | None) -> Counterpart:
    """The member with *row* of an *archive* that is hashed."""
    record = archive.row.archive if archive.row else None
    reason = "the archive has no such member"
    if record is None or record.status is not ArchiveStatus.READ:
        reason = f"not all members are known: {record.reason if record else 'it was not unpacked'}"
    return Counterpart(row, archive=archive.row) if row else Counterpart(reason=reason)
