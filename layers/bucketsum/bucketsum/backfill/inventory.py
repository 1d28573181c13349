"""The manifest and the files of an S3 inventory, as parts of a backfill."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, starmap
from typing import TYPE_CHECKING, BinaryIO, Final, cast
from urllib.parse import unquote_plus

from bucketsum.backfill.backfill_records import Backfill, Part
from bucketsum.backfill.listing import Page
from bucketsum.backfill.messages import listed_object
from bucketsum.backfill.selection import is_read, is_sampled, is_selected
from bucketsum.errors import BadInventory, MalformedMessage
from bucketsum.events.message_fields import bucket_name, object_key, shown, size_at, text_at
from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.get_object import BROKEN

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


ROWS_PER_PAGE: Final = 1000

_MANIFEST_URL: Final = re.compile(
    r"(?i:s3)://(?P<bucket>[\w.-]+)/(?P<key>.+)", re.ASCII | re.DOTALL
)
"""All after the bucket is the key: urllib would cut it off at a question mark or a #."""
_COLUMNS: Final = {
    "CSV": r"[^\s,]+", "ORC": r"(\w+):", "Parquet": r"(?:required|optional) \w+ (\w+)",
}  # fmt: skip
"""Format → the name of each column in a manifest's schema."""
FORMATS: Final = tuple(_COLUMNS)
_NEEDED: Final = ("Key", "Size", "LastModifiedDate", "ETag")
_TRUE: Final = "true"
_TIER: Final = "IntelligentTieringAccessTier"
_ARCHIVE_TIERS: Final = ("ARCHIVE", "ARCHIVE_ACCESS", "DEEP_ARCHIVE", "DEEP_ARCHIVE_ACCESS")
"""Tiers whose objects cannot be read unless they are restored, under S3's two kinds of names."""
_LINE_CHARACTERS_MAX: Final = 64 * 1024
"""A row is far shorter; a longer line must not fill the memory."""

_REST_BYTES: Final = 64 * 1024

_NO_MANIFEST: Final = (
    MalformedMessage, ValueError, TypeError, KeyError, AttributeError, RecursionError,
)  # fmt: skip
_NOT_CSV: Final = (gzip.BadGzipFile, zlib.error, EOFError, UnicodeDecodeError, csv.Error)


@dataclass(frozen=True, slots=True)
class InventoryFile:
    """A file of an inventory.

    Attributes:
        size_bytes: Its compressed size.
        md5: Of its compressed bytes, in hexadecimal.
    """

    key: str
    size_bytes: int
    md5: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of an inventory.

    Attributes:
        bucket: Bucket of its files.
        source: Bucket that it lists.
        columns: Columns of its files, in order, by their names in CSV.
        file_format: One of `FORMATS`.
        begun_ms: When S3 began to list, in milliseconds since 1970; 0 if it does not say.
    """

    bucket: str
    source: str
    columns: tuple[str, ...]
    files: tuple[InventoryFile, ...]
    file_format: str = "CSV"
    begun_ms: int = 0


def read_manifest(s3: S3Client, url: str, formats: Sequence[str] = FORMATS) -> Manifest:
    """The manifest at *url*, ``s3://BUCKET/KEY``, of an inventory in one of these *formats*.

    Raises:
        BadInventory: It is not such a manifest, or lacks the column that the text names.
        ClientError: S3 refused.
    """
    at = _MANIFEST_URL.fullmatch(url)
    if at is None:
        raise BadInventory(f"{url} is not a URL like s3://bucket/folder/manifest.json")
    body = s3.get_object(Bucket=at["bucket"], Key=at["key"])["Body"].read()
    manifest = _manifest_of(at["bucket"], body, url, formats)
    if not manifest.files:
        raise BadInventory(f"{url} lists no files: wait for an inventory that has some")
    return manifest


def manifest_at(
    s3: S3Client, url: str, bucket: str, formats: Sequence[str] = FORMATS[:1]
) -> Manifest:
    """The manifest at *url* of an inventory of *bucket*; as `read_manifest`.

    Raises:
        BadInventory: Also if it is of another bucket, or lacks versions that the bucket keeps.
    """
    manifest = read_manifest(s3, url, formats)
    if manifest.source != bucket:
        raise BadInventory(f"{url} lists the bucket {manifest.source}, not {bucket}")
    has_versions = "VersionId" in manifest.columns
    if not has_versions and "Status" in s3.get_bucket_versioning(Bucket=bucket):
        raise BadInventory(
            f"{url} has no column VersionId, but {bucket} keeps versions: configure the inventory "
            "for all versions"
        )
    return manifest


def _manifest_of(bucket: str, body: bytes, url: str, formats: Sequence[str]) -> Manifest:
    try:
        document = json.loads(body)
        file_format = document["fileFormat"]
        if file_format not in formats:
            other = shown(file_format).strip("'")
            raise BadInventory(f"{url} has files of the format {other}, not {' or '.join(formats)}")
        names = re.findall(_COLUMNS[file_format], document["fileSchema"])
        if file_format != "CSV":
            names = ["".join(map(str.capitalize, name.split("_"))) for name in names]
        begun_ms = int(str(document.get("creationTimestamp", 0)))
        files = tuple(
            InventoryFile(
                object_key(text_at(file, "key")),
                size_at(file, "size"),
                text_at(file, "MD5checksum").lower(),
            )
            for file in document["files"]
        )
        source = bucket_name(text_at(document, "sourceBucket"))
    except _NO_MANIFEST as error:
        raise BadInventory(
            f"{url} is not the manifest of an S3 inventory: {error!r:.200}"
        ) from error
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise BadInventory(f"{url} has no column {', '.join(missing)}: add it to the inventory")
    return Manifest(bucket, source, tuple(names), files, file_format, begun_ms)


class _Compared:
    """The bytes of a file, compared with the manifest once they are read.

    An inventory lists what there is: a file that is empty, cut off or another one must not pass
    for a shorter list.
    """

    def __init__(self, body: BinaryIO, file: InventoryFile) -> None:
        self._body = body
        self._file = file
        self._size_bytes = 0
        self._md5 = hashlib.md5(usedforsecurity=False)

    def read(self, size: int = -1) -> bytes:
        """Read at most *size* bytes and add them to the MD5; gzip calls no other method."""
        data = self._body.read(size)
        self._size_bytes += len(data)
        self._md5.update(data)
        return data

    def require_equal(self) -> None:
        """Read the rest, and compare.

        Raises:
            BadInventory: The file's size or MD5 is not that of the manifest.
        """
        while self.read(_REST_BYTES):
            pass
        for name, got, expected in (
            ("size", self._size_bytes, self._file.size_bytes),
            ("MD5", self._md5.hexdigest(), self._file.md5),
        ):
            if got != expected:
                raise BadInventory(
                    f"{shown(self._file.key)} is not the file that the manifest lists: its {name} "
                    f"is {got}, not {expected}"
                )


def rows_of(s3: S3Client, manifest: Manifest, file: InventoryFile) -> Iterator[dict[str, str]]:
    """The rows of an inventory's file by their columns.

    Raises:
        BadInventory: It is not whole, or another file than the manifest lists.
        ClientError: S3 refused.
    """
    response = s3.get_object(Bucket=manifest.bucket, Key=file.key)
    body = _Compared(cast("BinaryIO", response["Body"]), file)
    columns = manifest.columns
    with gzip.open(cast("BinaryIO", body), "rt", encoding="utf-8", newline="") as text:
        rows = csv.reader(iter(partial(text.readline, _LINE_CHARACTERS_MAX), ""))
        try:
            for number, values in enumerate(rows, 1):
                if len(values) != len(columns):
                    count = len(values)
                    raise BadInventory(
                        f"row {number} of {shown(file.key)} has {count} columns: {shown(values)}"
                    )
                yield dict(zip(columns, values, strict=True))
        except _NOT_CSV as error:
            raise BadInventory(
                f"{shown(file.key)} is not a whole CSV file in gzip: {shown(error)}"
            ) from error
    body.require_equal()


class InventoryReader:
    """Pages of the objects in an inventory's files.

    A file is read from its beginning once, however many pages follow each other. Memory is that of
    a page's objects and of one row, however long rows are.
    """

    def __init__(self, s3: S3Client, backfill: Backfill, manifest: Manifest) -> None:
        self._s3 = s3
        self._backfill = backfill
        self._manifest = manifest
        self._files = {file.key: file for file in manifest.files}
        self._listed: Iterator[ObjectCreated | None] = iter(())
        self._next: tuple[str, int] | None = None

    def next_page(self, part: Part) -> Page:
        """The next objects of a file.

        Raises:
            BadInventory: A row lacks what its columns promise.
            ClientError: S3 refused.
        """
        file, position = part.file or "", int(part.position or 0)
        listed = self._listed_at(file, position)
        position += len(listed)
        self._next = (file, position)
        is_last = len(listed) < ROWS_PER_PAGE
        after = replace(part, done=True) if is_last else replace(part, position=str(position))
        chosen = [entry for entry in listed if entry]
        return Page(
            objects=tuple(entry for entry in chosen if not entry.storage_class),
            after=after,
            archived=tuple(entry for entry in chosen if entry.storage_class),
        )

    def _listed_at(self, file: str, position: int) -> list[ObjectCreated | None]:
        """The objects of the rows from *position* on; None for a row that is left out."""
        if self._next == (file, position):
            # A pause was too long for the connection; what is wrong with the file is found again.
            with suppress(*BROKEN, OSError, BadInventory):
                return list(islice(self._listed, ROWS_PER_PAGE))
        if file not in self._files:
            raise BadInventory(f"the manifest does not list {shown(file)} any more")
        rows = rows_of(self._s3, self._manifest, self._files[file])
        self._listed = starmap(
            partial(self._listed_object, file), islice(enumerate(rows, 1), position, None)
        )
        return list(islice(self._listed, ROWS_PER_PAGE))

    def _listed_object(self, file: str, number: int, row: dict[str, str]) -> ObjectCreated | None:
        """Return the object in row *number*; None if the backfill leaves it out."""
        if (bucket := row.get("Bucket", self._backfill.bucket)) != self._backfill.bucket:
            raise BadInventory(f"row {number} of {shown(file)} is of the bucket {shown(bucket)}")
        if row.get("IsDeleteMarker") == _TRUE:
            return None
        try:
            entry = {
                "key": unquote_plus(row["Key"], errors="strict"),
                "version_id": row.get("VersionId"),
                "etag": row["ETag"],
                "size_bytes": int(row["Size"]),
                "last_modified": row["LastModifiedDate"],
            }
            listed = listed_object(bucket, entry)
        except (MalformedMessage, ValueError) as error:
            raise BadInventory(
                f"row {number} of {shown(file)} is not valid: {error}"[:300]
            ) from error
        storage_class = row.get("StorageClass") or "STANDARD"
        chosen = (
            (row.get("IsLatest", _TRUE) == _TRUE or self._backfill.all_versions)
            and is_selected(self._backfill, storage_class)
            and is_sampled(self._backfill, listed.key)
            and listed.key.startswith(self._backfill.prefix or "")
        )
        is_in_tier = row.get(_TIER, "") in _ARCHIVE_TIERS and not self._backfill.archived
        if is_in_tier or not is_read(self._backfill, storage_class):
            listed = replace(listed, storage_class=storage_class)
        return listed if chosen else None
