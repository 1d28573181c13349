"""Compare digests of files with those of objects, or of an archive's members."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from bucketsum.algorithms import SHA1
from bucketsum.table.state import ObjectState, state_of
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.dead_letters.queue import failed_versions
from bucketsum_cli.objects.counterparts import Counterpart, Result
from bucketsum_cli.objects.digest_state import reason_of
from bucketsum_cli.objects.files import LocalFile
from bucketsum_cli.objects.pending import Pending
from bucketsum_cli.objects.row_names import version_of
from bucketsum_cli.objects.versions import ObjectVersion


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
class Comparison:
    """A file with its digests by algorithm, and what it is compared with.

    Attributes:
        size_bytes: Its size in a list that has sizes; else digests suffice.
    """

    file: LocalFile
    digests: Mapping[str, str]
    counterpart: Counterpart
    size_bytes: int | None = None


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
    archive = counterpart.archive  # without its own digest, that of a member does not hold either
    known = archive if archive and state_of(archive) is not ObjectState.HASHED else row
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


def _relation(digests: Mapping[str, str], recorded: Mapping[str, str | None]) -> Result:
    """Compare the digests of the algorithms that both sides have."""
    common = digests.keys() & recorded.keys()
    if not common:
        return Result.NO_SUCH_DIGEST
    is_equal = all(digests[name] == recorded[name] for name in common)
    return Result.EQUAL if is_equal else Result.DIFFERS
