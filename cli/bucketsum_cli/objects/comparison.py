"""Compare digests with the objects that are in the bucket now, or with an archive's members."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from bucketsum.algorithms import SHA1
from bucketsum.archives.member_rows import MEMBER_MARK, member_entry
from bucketsum.events.message_fields import KEY_MAX_BYTES
from bucketsum.table.archive_values import ArchiveStatus
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum.table.state import ObjectState, Presence, state_of
from bucketsum_cli.dead_letters.queue import failed_versions
from bucketsum_cli.manifests.entries import NO_NAME, NOT_UTF_8
from bucketsum_cli.objects.files import LocalFile, Skipped, sha1_of_file
from bucketsum_cli.objects.members import split_name
from bucketsum_cli.objects.rows import Pending, reason_of, version_of
from bucketsum_cli.objects.versions import Newest, ObjectVersion, newest_versions
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import progress, with_bar
from bucketsum_cli.terminal.output import note

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from bucketsum_cli.aws.stack import Stack
    from bucketsum_cli.manifests.entries import Entry

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
class ComparedFile:
    """A local file and its object; with --archive, ``key`` is its path in the archive."""

    path: Path
    key: str
    version: str | None
    result: Annotated[Result, "Relation of the file to the object."]
    sha1: Annotated[str | None, "SHA-1 of the file; null if a list has another digest."]
    recorded_sha1: Annotated[str | None, "SHA-1 of the object; `sha1` is the file's."]
    reason: str | None
    digests: Annotated[Mapping[str, str], "Further digests of the file by algorithm."] = field(
        default_factory=dict
    )
    recorded_digests: Annotated[Mapping[str, str], "Further digests of the object."] = field(
        default_factory=dict
    )


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


@dataclass(frozen=True, slots=True)
class Comparison:
    """A file with its digests by algorithm, and what it is compared with.

    Attributes:
        size_bytes: Its size in a list that has sizes; else digests suffice.
    """

    file: LocalFile
    digests: Mapping[str, str]
    counterpart: Counterpart
    size_bytes: int | None = None


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
        recorded = next(iter(table.versions_of(stack.bucket, key)), None)
        if recorded is None:
            return Counterpart()
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


def hashed_files(
    files: Sequence[LocalFile], links: Collection[str] = ()
) -> tuple[list[tuple[LocalFile, dict[str, str]]], list[Skipped]]:
    """Hash *files*, several at a time; of links whose keys are in *links*, hash the target's path.

    Returns also the files that cannot be read.
    """
    with progress(in_bytes=True, passing=True) as shown:
        task = shown.add_task("hashing", total=sum(file.size_bytes for file in files))

        def digests(file: LocalFile) -> tuple[LocalFile, dict[str, str]] | Skipped:
            try:
                return file, {SHA1.name: _sha1_of(file, links, shown, task)}
            except OSError as error:
                return Skipped(file.path, error.strerror or str(error))

        pool = ThreadPoolExecutor(_AT_A_TIME)
        try:
            results = list(pool.map(digests, files))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return (
        [result for result in results if not isinstance(result, Skipped)],
        [result for result in results if isinstance(result, Skipped)],
    )


def _sha1_of(file: LocalFile, links: Collection[str], shown: Progress, task: TaskID) -> str:
    if file.key in links and file.path.is_symlink():
        target = os.fsencode(file.path.readlink())
        return hashlib.sha1(target, usedforsecurity=False).hexdigest()
    return sha1_of_file(file.path, shown, task)


def files_listed(
    entries: Iterable[Entry], prefix: str
) -> tuple[list[tuple[LocalFile, Entry]], list[Skipped]]:
    """Return the files of a manifest, whose keys are *prefix* + name; and names that no key has."""
    files = []
    skipped = []
    for entry in entries:
        path = Path(os.fsdecode(entry.name))
        if not entry.name:
            skipped.append(Skipped(path, f"line {entry.line}: {NO_NAME}"))
            continue
        try:
            key = prefix + entry.name.decode()
        except UnicodeDecodeError:
            skipped.append(Skipped(path, f"line {entry.line}: {NOT_UTF_8}"))
            continue
        if (size := len(key.encode())) > KEY_MAX_BYTES:
            reason = (
                f"line {entry.line}: its key would have {size} bytes, S3 allows {KEY_MAX_BYTES}"
            )
            skipped.append(Skipped(path, reason))
        else:
            files.append((LocalFile(path, key, entry.size_bytes or 0), entry))
    return files, skipped


def results_of(
    stack: Stack,
    comparisons: Sequence[Comparison],
    pending: Callable[[ObjectVersion], Pending],
) -> list[ComparedFile]:
    """Return the results of *comparisons*; *pending* says what an object without a row waits for.

    If an object has no row, the dead-letter queue is read: the result is `FAILED` if the version's
    message is there.
    """
    is_waiting = any(
        comparison.counterpart.version and not comparison.counterpart.row
        for comparison in comparisons
    )
    failed = failed_versions(stack) if is_waiting else {}
    return [_result_of(comparison, failed, pending) for comparison in comparisons]


def _result_of(
    comparison: Comparison,
    failed: Mapping[tuple[str, str, str | None], str],
    pending: Callable[[ObjectVersion], Pending],
) -> ComparedFile:
    file, digests, counterpart = comparison.file, comparison.digests, comparison.counterpart
    row, version = counterpart.row, counterpart.version
    recorded = {SHA1.name: row.sha1, **row.digests} if row and row.sha1 else {}
    result, reason = counterpart.absent, counterpart.reason
    known = _worst(row, counterpart.archive)
    if row and known is row and state_of(row) is ObjectState.HASHED:
        result = _relation(digests, recorded)
        if comparison.size_bytes not in (None, row.size_bytes):
            result = Result.DIFFERS
            reason = f"the list has {comparison.size_bytes} bytes, the object {row.size_bytes}"
    elif known:
        result, reason = Result(state_of(known)), reason_of(known)
    elif version:
        name = (version.key, version.version)
        reason = failed.get((*name, version.etag)) or failed.get((*name, None))
        result = Result.FAILED if reason else Result(pending(version))
    return ComparedFile(
        path=file.path,
        key=file.key,
        version=version.version if version else version_of(row) if row else None,
        result=result,
        sha1=digests.get(SHA1.name),
        recorded_sha1=recorded.pop(SHA1.name, None),
        reason=reason,
        digests={name: digest for name, digest in digests.items() if name != SHA1.name},
        recorded_digests=recorded,
    )


def _worst(row: Row | None, archive: Row | None) -> Row | None:
    """The *archive* of a member if its own digest does not hold; else the member's *row*."""
    return archive if archive and state_of(archive) is not ObjectState.HASHED else row


def _relation(digests: Mapping[str, str], recorded: Mapping[str, str | None]) -> Result:
    """Compare the digests of the algorithms that both sides have."""
    common = digests.keys() & recorded.keys()
    if not common:
        return Result.NO_SUCH_DIGEST
    is_equal = all(digests[name] == recorded[name] for name in common)
    return Result.EQUAL if is_equal else Result.DIFFERS
