"""Pages of a bucket's versions, as parts of a backfill."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from bucketsum.backfill.records import START, Backfill, Part
from bucketsum.events.object_events import ObjectCreated
from bucketsum.table.rows import NO_SEQUENCER, NULL_VERSION

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ARCHIVED: Final = frozenset({"GLACIER", "DEEP_ARCHIVE"})
"""Storage classes whose objects cannot be read unless they are restored, which is an event."""

PAGE_OBJECTS: Final = 1000
"""S3's own limit."""

_DELIMITER: Final = "/"
_DEPTH_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Page:
    """Objects to queue, and the part after them.

    Attributes:
        objects: Objects; their sequencer is `NO_SEQUENCER`.
        after: The part as it is when they are queued, without its counts.
        classes: Their storage classes, in the same order; empty for an inventory.
        archived: Objects of `ARCHIVED` that are left out.
    """

    objects: tuple[ObjectCreated, ...]
    after: Part
    classes: tuple[str, ...] = ()
    archived: int = 0


def page_of_keys(s3: S3Client, backfill: Backfill, part: Part) -> Page:
    """The next objects of a range of keys.

    Versions are always listed, because an object's row has its version in the key.

    Raises:
        ClientError: S3 refused.
    """
    markers: dict[str, Any] = {}
    if key := part.position or part.after:
        markers["KeyMarker"] = key
    if part.version is not None:
        markers["VersionIdMarker"] = part.version
    response = s3.list_object_versions(
        Bucket=backfill.bucket, Prefix=backfill.prefix or "", MaxKeys=PAGE_OBJECTS, **markers
    )
    entries = [
        entry
        for entry in response.get("Versions", ())
        if part.until is None or entry["Key"] <= part.until
    ]
    next_key = response.get("NextKeyMarker", "")
    ended = not response.get("IsTruncated") or (part.until is not None and next_key > part.until)
    chosen = [entry for entry in entries if backfill.all_versions or entry["IsLatest"]]
    read = [entry for entry in chosen if backfill.archived or _class_of(entry) not in ARCHIVED]
    version = response.get("NextVersionIdMarker")
    return Page(
        objects=tuple(_object_of(backfill.bucket, entry) for entry in read),
        after=replace(part, done=True)
        if ended
        else replace(part, position=next_key, version=version),
        classes=tuple(map(_class_of, read)),
        archived=len(chosen) - len(read),
    )


def _class_of(entry: Any) -> str:  # noqa: ANN401 - an entry of S3's listing
    return str(entry.get("StorageClass", "STANDARD"))


def _object_of(bucket: str, entry: Any) -> ObjectCreated:  # noqa: ANN401 - an entry of S3's listing
    version_id = entry.get("VersionId", NULL_VERSION)
    return ObjectCreated(
        bucket=bucket,
        key=entry["Key"],
        version_id=None if version_id == NULL_VERSION else version_id,
        etag=entry["ETag"].strip('"'),
        size_bytes=entry["Size"],
        sequencer=NO_SEQUENCER,
        event_time=f"{entry['LastModified']:%Y-%m-%dT%H:%M:%S}Z",
    )


def ranges_of_keys(s3: S3Client, backfill: Backfill, count: int) -> list[Part]:
    """Parts that hold every key exactly once: at most *count*, divided at folders.

    Raises:
        ClientError: S3 refused.
    """
    folders = _folder_prefixes(s3, backfill) if count > 1 else []
    step = -(-len(folders) // count) or 1
    limits = folders[step - 1 : -1 : step]
    starts, ends = [START, *limits], [*limits, None]
    bounds = zip(starts, ends, strict=True)
    return [Part(number, after=after, until=end) for number, (after, end) in enumerate(bounds)]


def _folder_prefixes(s3: S3Client, backfill: Backfill) -> list[str]:
    """Folders of the first level that has several; empty if there is none."""
    prefix = backfill.prefix or ""
    for _ in range(_DEPTH_MAX):
        response = s3.list_object_versions(
            Bucket=backfill.bucket, Prefix=prefix, Delimiter=_DELIMITER
        )
        folders = [entry["Prefix"] for entry in response.get("CommonPrefixes", ())]
        if len(folders) != 1:
            return folders
        [prefix] = folders
    return []
