"""Pages of a bucket's versions, as parts of a backfill."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from bucketsum.backfill.backfill_records import START, Backfill, Part
from bucketsum.backfill.listed_versions import ListedVersion
from bucketsum.backfill.selection import is_read, is_sampled, is_selected
from bucketsum.errors import SourceUnavailable
from bucketsum.events.message_fields import shown
from bucketsum.events.object_events import ObjectCreated
from bucketsum.events.version import NULL, Version
from bucketsum.table.sequencer import NO_SEQUENCER

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

PAGE_OBJECTS: Final = 1000
"""S3's own limit."""

_DELIMITER: Final = "/"
_DEPTH_MAX: Final = 20
_LOOK_PAGES: Final = 100
_BEGINNING_CHARACTERS: Final = 2
_BEGINNINGS_MAX: Final = 4_096
_LAST_CHARACTER: Final = "\U0010ffff"
_BAD_REQUEST: Final = 400


@dataclass(frozen=True, slots=True)
class Page:
    """Objects to queue, and the part after them.

    Attributes:
        objects: Objects to read; their sequencer is `NO_SEQUENCER`.
        after: The part as it is when they are queued, without its counts.
        classes: Their storage classes, in the same order; empty for an inventory.
        archived: Objects to record without reading them, with their storage classes.
        left_out: Number of objects of storage classes that are not selected.
        versions: All that were listed, unless a sample leaves them out; empty for an inventory.
    """

    objects: tuple[ObjectCreated, ...]
    after: Part
    classes: tuple[str, ...] = ()
    archived: tuple[ObjectCreated, ...] = ()
    left_out: int = 0
    versions: tuple[tuple[ObjectCreated, ListedVersion], ...] = ()


def page_of_keys(s3: S3Client, backfill: Backfill, part: Part) -> Page:
    """The next objects of a range of keys.

    Versions are always listed, because an object's row has its version in the key.

    Raises:
        SourceUnavailable: S3 says that more follows, but not after which key.
        ClientError: S3 refused.
    """
    markers: dict[str, Any] = {}
    if key := part.position or part.after:
        markers["KeyMarker"] = key
    if part.version:
        markers["VersionIdMarker"] = part.version
    response = s3.list_object_versions(
        Bucket=backfill.bucket, Prefix=backfill.prefix or "", MaxKeys=PAGE_OBJECTS, **markers
    )
    entries = (
        entry
        for entry in response.get("Versions", ())
        if (part.until is None or entry["Key"] <= part.until) and is_sampled(backfill, entry["Key"])
    )
    next_key, version = response.get("NextKeyMarker", ""), response.get("NextVersionIdMarker", "")
    ended = not response.get("IsTruncated") or (part.until is not None and next_key > part.until)
    if not ended and (next_key < key or (next_key, version) == (key, part.version or "")):
        raise SourceUnavailable(f"S3's list does not go on after {shown(key)}")  # a loop
    versions = [
        (
            _object_of(backfill.bucket, entry),
            ListedVersion(str(entry.get("StorageClass", "STANDARD")), entry["IsLatest"]),
        )
        for entry in entries
    ]
    chosen = [entry for entry in versions if backfill.all_versions or entry[1].is_latest]
    selected = [(listed, name) for listed, (name, _) in chosen if is_selected(backfill, name)]
    read = [(listed, name) for listed, name in selected if is_read(backfill, name)]
    return Page(
        objects=tuple(listed for listed, _ in read),
        after=replace(part, done=True)
        if ended
        else replace(part, position=next_key, version=version),
        classes=tuple(name for _, name in read),
        archived=tuple(
            replace(listed, storage_class=name)
            for listed, name in selected
            if not is_read(backfill, name)
        ),
        left_out=len(chosen) - len(selected),
        versions=tuple(versions),
    )


def _object_of(bucket: str, entry: Any) -> ObjectCreated:  # noqa: ANN401 - an entry of S3's listing
    return ObjectCreated(
        bucket=bucket,
        key=entry["Key"],
        version_id=Version.of_entry(entry.get("VersionId", NULL.entry)).id,
        etag=entry["ETag"].strip('"'),
        size_bytes=entry["Size"],
        sequencer=NO_SEQUENCER,
        event_time=f"{entry['LastModified']:%Y-%m-%dT%H:%M:%S}Z",
    )


def ranges_of_keys(s3: S3Client, bucket: str, prefix: str, count: int) -> list[Part]:
    """At most *count* parts of about equal size: every key with *prefix* is in one of them.

    Raises:
        ClientError: S3 refused.
    """
    bounds = _bounds(s3, bucket, prefix) if count > 1 else []
    step = -(-len(bounds) // count) or 1
    limits = bounds[step::step]
    pairs = zip([START, *limits], [*limits, None], strict=True)
    return [Part(number, after=after, until=end) for number, (after, end) in enumerate(pairs)]


def _bounds(s3: S3Client, bucket: str, prefix: str) -> list[str]:
    """Keys in order that divide the bucket evenly, as far as a short look can tell.

    They are the folders and keys of the first level that has several. A level of more than
    `_LOOK_PAGES` pages is divided by the first characters of its keys, each of which is taken to
    begin as many.
    """
    for _ in range(_DEPTH_MAX):
        pages = s3.get_paginator("list_object_versions").paginate(
            Bucket=bucket, Prefix=prefix, Delimiter=_DELIMITER
        )
        entries: set[str] = set()
        for page in islice(pages, _LOOK_PAGES):
            entries |= {entry["Prefix"] for entry in page.get("CommonPrefixes", ())}
            entries |= {entry["Key"] for entry in page.get("Versions", ())}
        if page.get("IsTruncated"):
            common = commonprefix(list(entries))  # noqa: RUF071 - by characters, as wanted
            return _beginnings(s3, bucket, prefix, common)
        folders = [entry for entry in entries if entry.endswith(_DELIMITER) and entry != prefix]
        if len(entries - {prefix}) != 1 or not folders:
            return sorted(entries, key=str.encode)  # S3's order
        [prefix] = folders
    return []


def _beginnings(s3: S3Client, bucket: str, prefix: str, common: str) -> list[str]:
    """The different beginnings of keys, two characters longer than *common*: a request for each."""
    length = len(common) + _BEGINNING_CHARACTERS
    beginnings: list[str] = []
    marker = ""
    while len(beginnings) < _BEGINNINGS_MAX:
        markers: dict[str, Any] = {"KeyMarker": marker} if marker else {}
        try:
            page = s3.list_object_versions(Bucket=bucket, Prefix=prefix, MaxKeys=1, **markers)
        except ClientError as error:
            if markers and error.response["ResponseMetadata"]["HTTPStatusCode"] == _BAD_REQUEST:
                return []  # S3 does not take `_LAST_CHARACTER`, which AWS does not say: one part
            raise
        keys = [e["Key"] for e in (*page.get("Versions", ()), *page.get("DeleteMarkers", ()))]
        if not keys:
            break
        beginnings.append(keys[0][:length])
        marker = beginnings[-1] + _LAST_CHARACTER
    return beginnings
