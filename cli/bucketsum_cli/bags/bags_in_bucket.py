"""Bags below a prefix: their folders, and their objects with what is recorded of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from botocore.exceptions import ClientError

from bucketsum.table.rows import Row
from bucketsum.table.state import ObjectState, Presence, state_of
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.bags.results import BagProblem, BagResult, Verdict
from bucketsum_cli.bags.tag_files import DECLARATION, BadTagFile
from bucketsum_cli.bags.validation import BagFile, validated
from bucketsum_cli.objects.digest_state import reason_of
from bucketsum_cli.objects.versions import ObjectVersion, current_keys, versions_in
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import count_text
from bucketsum_cli.terminal.live_progress import with_bar
from bucketsum_cli.terminal.output import note

_TAG_FILE_BYTES_MAX: Final = 100_000_000
"""A manifest of about a million files."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders below a prefix.

    Attributes:
        bags: Those of bags, sorted; a bag in another is a part of it.
        others: Topmost folders with objects that are in no bag, and have none below them.
        strays: The number of objects that are in no bag, but beside some.
    """

    bags: list[str]
    others: list[str]
    strays: int


def folders_below(keys: Iterable[str], prefix: str) -> Folders:
    """The folders of *keys*, which begin with *prefix*."""
    parents: dict[str, int] = {}
    roots = set()
    for key in keys:
        folder = key[: key.rfind("/") + 1]
        if key.removeprefix(folder) == DECLARATION:
            roots.add(folder)
        if not key.endswith("/"):
            parents[folder] = parents.get(folder, 0) + 1
    bags: list[str] = []
    for root in sorted(roots):
        if not (bags and root.startswith(bags[-1])):
            bags.append(root)
    outside = {f: n for f, n in parents.items() if not any(map(f.startswith, _before(bags, f)))}
    topmost = {folder: _topmost(folder, prefix, bags) for folder in outside}
    others = dict.fromkeys(other for other in topmost.values() if other)
    return Folders(bags, [*others], sum(n for f, n in outside.items() if not topmost[f]))


def _before(bags: list[str], folder: str) -> list[str]:
    """The bag in whose folder *folder* may be: the last that sorts not after it."""
    place = bisect_right(bags, folder)
    return bags[max(0, place - 1) : place]


def _topmost(folder: str, prefix: str, bags: list[str]) -> str | None:
    """The shortest folder from *prefix* to *folder* that has no bag below it."""
    end = len(prefix)
    while (end := folder.find("/", end) + 1) > 0:
        place = bisect_right(bags, folder[:end])
        if not bags[place : place + 1] or not bags[place].startswith(folder[:end]):
            return folder[:end]
    return None


def validate_bag(stack: Stack, root: str) -> BagResult:
    """Validate the bag in the folder *root*; S3 is asked for its small tag files alone."""
    s3 = stack.client("s3")
    versions: dict[str, ObjectVersion] = {}
    files = {}
    for version, row in with_bar(versions_in(stack, root), f"reading the rows of {root}"):
        path = version.key.removeprefix(root)
        if not (version.key.endswith("/") and version.size_bytes == 0):
            versions[path] = version
            files[path] = _file(version, row)

    if not files:
        raise CannotDoError(f"there is no object below s3://{stack.bucket}/{root}")

    def read(path: str) -> bytes:
        version = versions[path]
        if version.size_bytes > _TAG_FILE_BYTES_MAX:
            raise BadTagFile(f"it has {version.size_bytes:,} bytes; a tag file of up to "
                             f"{_TAG_FILE_BYTES_MAX:,} is read")  # fmt: skip
        try:
            answer = s3.get_object(Bucket=stack.bucket, Key=version.key, VersionId=version.version)
            return answer["Body"].read()
        except ClientError as error:  # archived, or of another key: other bags can be read
            raise BadTagFile(f"S3 refused it: {error.response['Error']['Code']}") from error

    return validated(f"s3://{stack.bucket}/{root}", files, read)


def _file(version: ObjectVersion, row: Row | None) -> BagFile:
    state = state_of(row, Presence.LISTED)
    digests = {"sha1": row.sha1, **row.digests} if row and row.sha1 else {}
    reason = reason_of(row) if row and state is not ObjectState.HASHED else None
    return BagFile(version.size_bytes, state, digests, reason)


def validate_bags(stack: Stack, prefix: str) -> Iterator[BagResult]:
    """Validate all bags below *prefix*; a folder that should be one is an invalid bag."""
    folders = folders_below(with_bar(current_keys(stack, prefix), "listing bags"), prefix)
    if folders.strays:
        note(f"{count_text(folders.strays, 'object')} beside the bags: they are in no bag")
    yield from (validate_bag(stack, bag) for bag in folders.bags)
    missing = BagProblem(DECLARATION, "it is missing: the folder is not a bag, or no longer")
    for folder in folders.others:
        yield BagResult(f"s3://{stack.bucket}/{folder}", Verdict.INVALID, 0, 0, [], [missing])
