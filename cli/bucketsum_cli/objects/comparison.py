"""Compare local files with the objects that are in the bucket now, or with an archive's members."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from bucketsum.table.rows import Row, Status
from bucketsum_cli.dead_letters.queue import failed_versions
from bucketsum_cli.objects.files import LocalFile, Skipped, sha1_of_file
from bucketsum_cli.objects.rows import version_of
from bucketsum_cli.objects.versions import ObjectVersion, newest_version
from bucketsum_cli.terminal.output import progress, with_bar

if TYPE_CHECKING:
    from bucketsum_cli.aws.stack import Stack

_FILES_AT_A_TIME: Final = 8


class Result(StrEnum):
    """Relation of a local file to the object in the bucket now."""

    EQUAL = "equal"
    DIFFERS = "differs"
    WAITING = "waiting"
    """The newest version is not recorded yet."""
    FAILED = "failed"
    """The message of the newest version is in the dead-letter queue."""
    UNREADABLE = "unreadable"
    """The hasher could not read the object."""
    DAMAGED = "damaged"
    """Another program changed the object's row."""
    DELETED = "deleted"
    """The key is recorded, but the object is no longer in the bucket."""
    NOT_RECORDED = "not recorded"
    """There is no such object, and nothing is recorded."""


@dataclass(frozen=True, slots=True)
class ComparedFile:
    """A local file and its object; with --archive, ``key`` is its path in the archive."""

    path: Path
    key: str
    version: str | None
    result: Annotated[Result, "Relation of the file to the object."]
    sha1: str
    recorded_sha1: Annotated[str | None, "SHA-1 of the object; `sha1` is the file's."]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Counterpart:
    """The object, or the member, that a file is compared with.

    Attributes:
        version: The object's newest version; None for members, and if there is no object.
        without_row: The result if there is no row.
        reason: Why there is none, if that is known.
    """

    row: Row | None = None
    version: ObjectVersion | None = None
    without_row: Result = Result.NOT_RECORDED
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A local file with its SHA-1, computed here, and what it is compared with."""

    file: LocalFile
    sha1: str
    counterpart: Counterpart


def objects_of(stack: Stack) -> Callable[[str], Counterpart]:
    """Return a function: key → the object in the bucket now, with at most three requests."""
    s3, table = stack.client("s3"), stack.digests_table()

    def counterpart(key: str) -> Counterpart:
        newest = newest_version(s3, table, stack.bucket, key)
        if newest is None:
            recorded = next(iter(table.versions_of(stack.bucket, key)), None)
            if recorded is None:
                return Counterpart()
            deletion = recorded.deletion
            reason = f"deleted at {deletion.at} by a {deletion.by}" if deletion else None
            return Counterpart(without_row=Result.DELETED, reason=reason)
        version, row = newest
        return Counterpart(row, version, Result.WAITING)

    return counterpart


def compare_files(
    counterpart_of: Callable[[str], Counterpart], files: Sequence[LocalFile]
) -> tuple[list[Comparison], list[Skipped]]:
    """Hash *files*, several at a time, and compare each; returns also the unreadable files."""
    with progress(in_bytes=True, passing=True) as shown:
        task = shown.add_task("hashing", total=sum(file.size_bytes for file in files))

        def compare(file: LocalFile) -> Comparison | Skipped:
            try:
                sha1 = sha1_of_file(file.path, shown, task)
            except OSError as error:
                return Skipped(file.path, error.strerror or str(error))
            return Comparison(file, sha1, counterpart_of(file.key))

        pool = ThreadPoolExecutor(_FILES_AT_A_TIME)
        try:
            results = list(pool.map(compare, files))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return (
        [result for result in results if isinstance(result, Comparison)],
        [result for result in results if isinstance(result, Skipped)],
    )


def compare_sums(
    counterpart_of: Callable[[str], Counterpart], sums: Sequence[tuple[str, str]], prefix: str
) -> list[Comparison]:
    """Compare each name and SHA-1 of *sums*, several at a time; the key is *prefix* + name."""
    with ThreadPoolExecutor(_FILES_AT_A_TIME) as pool:
        keys = [prefix + name for name, _ in sums]
        counterparts = with_bar(pool.map(counterpart_of, keys), "comparing", len(keys))
        return [
            Comparison(LocalFile(Path(name), key, 0), sha1, counterpart)
            for (name, sha1), key, counterpart in zip(sums, keys, counterparts, strict=True)
        ]


def results_of(stack: Stack, comparisons: Sequence[Comparison]) -> list[ComparedFile]:
    """Return the results of *comparisons*.

    If an object has no row, the dead-letter queue is read: the result is `FAILED`, not `WAITING`,
    if the version's message is there.
    """
    is_waiting = any(each.counterpart.version and not each.counterpart.row for each in comparisons)
    failed = failed_versions(stack) if is_waiting else {}
    return [_result_of(comparison, failed) for comparison in comparisons]


def _result_of(
    comparison: Comparison, failed: Mapping[tuple[str, str, str | None], str]
) -> ComparedFile:
    file, sha1, counterpart = comparison.file, comparison.sha1, comparison.counterpart
    row, version = counterpart.row, counterpart.version
    result, reason = counterpart.without_row, counterpart.reason
    if row and row.status is Status.HASHED:
        result = Result.EQUAL if row.sha1 == sha1 else Result.DIFFERS
    elif row:
        result, reason = Result(row.status), row.reason
    elif version:
        name = (version.key, version.version)
        reason = failed.get((*name, version.etag)) or failed.get((*name, None))
        result = Result.FAILED if reason else result
    return ComparedFile(
        path=file.path,
        key=file.key,
        version=version.version if version else version_of(row) if row else None,
        result=result,
        sha1=sha1,
        recorded_sha1=row.sha1 if row else None,
        reason=reason,
    )
