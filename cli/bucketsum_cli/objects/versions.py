"""Object versions in the bucket, each with its row."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from bucketsum.table.rows import Row, RowKey
from bucketsum.table.state import ObjectState, Presence, is_repaired, state_of

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectVersionTypeDef

    from bucketsum.table.digests_table import DigestsTable
    from bucketsum_cli.aws.stack import Stack
    from bucketsum_cli.terminal.documents import Moment

_AT_A_TIME: Final = 8
_MANY: Final = 20
"""A listed version costs a twentieth of a request for a key, roughly."""


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """A version of an object in the bucket."""

    key: str
    version: str
    latest: Annotated[bool, "Whether a GET of the key returns this version."]
    size_bytes: int
    etag: str
    created_at: Moment


def versions_in(
    stack: Stack, prefix: str, *, all_versions: bool = False
) -> Iterator[tuple[ObjectVersion, Row | None]]:
    """Yield the newest version of each object under *prefix*, by key, or all versions.

    Each comes with its row; None if nothing is recorded. Deleted objects are left out. S3 and the
    table are asked for a page at a time.
    """
    table = stack.digests_table()
    pages = stack.client("s3").get_paginator("list_object_versions")
    for page in pages.paginate(Bucket=stack.bucket, Prefix=prefix):
        listed = page.get("Versions", ())
        wanted = [entry for entry in listed if all_versions or entry["IsLatest"]]
        yield from _with_rows(table, stack.bucket, wanted)


def current_keys(stack: Stack, prefix: str) -> Iterator[str]:
    """Yield the keys under *prefix* that the bucket has now; the table is not asked."""
    pages = stack.client("s3").get_paginator("list_object_versions")
    listed = pages.paginate(Bucket=stack.bucket, Prefix=prefix)
    yield from filter(None, listed.search("Versions[?IsLatest].Key"))


@dataclass(frozen=True, slots=True)
class ListedKey:
    """The versions of a key in S3.

    Attributes:
        rows: Version → its row; None if nothing is recorded of what S3 has.
        latest: S3's entry of the newest, or of a delete marker; None if there is neither.
    """

    rows: Mapping[str, Row | None]
    latest: Any

    @property
    def is_current(self) -> bool:
        """Whether a GET of the key returns one of them."""
        return self.latest is not None and "ETag" in self.latest

    def state_of(self, row: Row) -> ObjectState:
        """The state of the version with *row*."""
        existing = [other for other in self.rows.values() if other]
        presence = Presence.ABSENT
        if row.entry in self.rows:
            presence = Presence.LISTED if self.rows[row.entry] else Presence.CHANGED
        return state_of(row, presence, is_repaired=is_repaired(row, existing))


def entries_of(stack: Stack, bucket: str, key: str) -> Iterator[Any]:
    """Yield the versions and the delete markers of *key* alone, as S3 lists them."""
    pages = stack.client("s3").get_paginator("list_object_versions")
    for page in pages.paginate(Bucket=bucket, Prefix=key):
        entries = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
        mine = [entry for entry in entries if entry["Key"] == key]
        yield from mine
        if len(mine) < len(entries):  # S3 lists the exact key first
            return


def listed_key(stack: Stack, bucket: str, key: str) -> ListedKey:
    """List the versions of *key*; none if there is no such bucket."""
    try:
        entries = [*entries_of(stack, bucket, key)]
    except stack.client("s3").exceptions.NoSuchBucket:
        entries = []
    versions = [entry for entry in entries if "ETag" in entry]
    rows = {v.version: row for v, row in _with_rows(stack.digests_table(), bucket, versions)}
    return ListedKey(rows, next((entry for entry in entries if entry["IsLatest"]), None))


Newest: TypeAlias = tuple[ObjectVersion, Row | None] | None
"""A version and its row; None if there is no such object, or it was deleted."""


def newest_version(s3: S3Client, table: DigestsTable, bucket: str, key: str) -> Newest:
    """Return the version of *key* that is in the bucket now, and its row, with one request to S3.

    S3 lists the exact key first, and its newest version or delete marker before all others.
    """
    return _newest_or_hidden(s3, table, bucket, key)[0]


def _newest_or_hidden(
    s3: S3Client, table: DigestsTable, bucket: str, key: str
) -> tuple[Newest, bool]:
    page = s3.list_object_versions(Bucket=bucket, Prefix=key, MaxKeys=1)
    listed = page.get("Versions", ())
    wanted = [entry for entry in listed if entry["Key"] == key and entry["IsLatest"]]
    markers = [entry for entry in page.get("DeleteMarkers", ()) if entry["IsLatest"]]
    is_hidden = any(entry["Key"] == key for entry in markers)
    return next(_with_rows(table, bucket, wanted), None), is_hidden


def newest_versions(stack: Stack, keys: Iterable[str]) -> Iterator[tuple[str, Newest, bool]]:
    """Yield each of *keys* with its `newest_version`, and whether that is a delete marker.

    A folder of which many keys are wanted is listed, 1,000 versions in a request, until the keys
    are far apart. Each of the others takes a request.
    """
    s3, table = stack.client("s3"), stack.digests_table()
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for key in sorted(set(keys)):
        folders[key[: key.rfind("/") + 1]].append(key)
    many = [(folder, wanted) for folder, wanted in folders.items() if len(wanted) >= _MANY]
    left = {key for wanted in folders.values() for key in wanted}
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        for listed in pool.map(lambda place: [*_listed_versions(stack, *place)], many):
            left -= {key for key, _, _ in listed}
            yield from listed
        single = sorted(left)
        newest = pool.map(lambda key: _newest_or_hidden(s3, table, stack.bucket, key), single)
        yield from ((key, *version) for key, version in zip(single, newest, strict=True))


def _listed_versions(
    stack: Stack, folder: str, keys: Iterable[str]
) -> Iterator[tuple[str, Newest, bool]]:
    """Yield the first of *keys*, which are sorted, and their newest versions; see its caller."""
    table = stack.digests_table()
    wanted = deque(keys)
    pages = stack.client("s3").get_paginator("list_object_versions")
    for page in pages.paginate(Bucket=stack.bucket, Prefix=folder, Delimiter="/"):
        last = page.get("NextKeyMarker") if page["IsTruncated"] else None
        versions = {entry["Key"]: entry for entry in page.get("Versions", ()) if entry["IsLatest"]}
        deleted = {entry["Key"] for entry in page.get("DeleteMarkers", ()) if entry["IsLatest"]}
        covered = []
        while wanted and (
            last is None or wanted[0] < last or wanted[0] in versions.keys() | deleted
        ):
            covered.append(wanted.popleft())
        listed = [versions[key] for key in covered if key in versions]
        newest = {pair[0].key: pair for pair in _with_rows(table, stack.bucket, listed)}
        yield from ((key, newest.get(key), key in deleted) for key in covered)
        if len(covered) * _MANY < len(versions):
            return


def _with_rows(
    table: DigestsTable, bucket: str, listed: Iterable[ObjectVersionTypeDef]
) -> Iterator[tuple[ObjectVersion, Row | None]]:
    versions = {
        RowKey(bucket, entry["Key"], entry["VersionId"]): ObjectVersion(
            key=entry["Key"],
            version=entry["VersionId"],
            latest=entry["IsLatest"],
            size_bytes=entry["Size"],
            etag=entry["ETag"].strip('"'),
            created_at=entry["LastModified"],
        )
        for entry in listed
    }
    rows = table.rows_at(versions)
    for row_key, version in versions.items():
        row = rows.get(row_key)
        if row and (row.deletion or not row.is_of(version.etag)):
            row = None  # of an earlier object at this key, in a bucket without versions
        yield version, row
