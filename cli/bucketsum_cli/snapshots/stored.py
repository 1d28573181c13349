"""Snapshots in S3: their rows are where DynamoDB wrote them, until a local question needs them."""

from __future__ import annotations

import hashlib
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots.folder import (
    LIST,
    MANIFESTS,
    PARTIAL,
    NoSnapshotError,
    Snapshot,
    new_folder,
    read_snapshot,
    snapshots_folder,
)
from bucketsum_cli.snapshots.keeping import require_room
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import size_text
from bucketsum_cli.terminal.live_progress import with_bar
from bucketsum_cli.terminal.output import note

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ASKED_ROWS: Final = 1_000_000
"""A person is asked before more rows pass through the machine."""

_OF_TABLES: Final = re.compile("/bucketsum_[0-9a-f]{16}/")
_FILES_AT_A_TIME: Final = 8
_ABSENT: Final = ("NoSuchKey", "404", "AccessDenied")
"""Who may not list a bucket is refused what is not there."""


def stored_snapshot(s3: S3Client, url: str) -> Snapshot:
    """The snapshot at *url*, ``s3://BUCKET/FOLDER``, or the export of DynamoDB there; no rows.

    Raises:
        NoSnapshotError: There is neither.
    """
    place = S3Place.of_folder(url)
    folder = snapshots_folder() / f"s3-{hashlib.sha256(str(place).encode()).hexdigest()[:16]}"
    if folder.exists():
        return read_snapshot(folder)
    with new_folder(folder) as (partial, complete):
        is_export = not fetch_file(s3, place, LIST, partial)
        if is_export and not all(fetch_file(s3, place, name, partial) for name in MANIFESTS):
            raise NoSnapshotError(
                f"{url} is not a snapshot: it has neither {LIST} nor DynamoDB's "
                f"{' and '.join(MANIFESTS)}"
            )
        complete(replace(read_snapshot(partial), folder=folder, place=str(place)))
    return read_snapshot(folder)


def fetch_file(s3: S3Client, place: S3Place, name: str, folder: Path) -> bool:
    """Fetch the file *name* of *place* into *folder*; returns whether it is there."""
    try:
        body = s3.get_object(Bucket=place.bucket, Key=f"{place.key}{name}")["Body"]
    except ClientError as error:
        if error.response["Error"]["Code"] not in _ABSENT:
            raise
        return False
    with (folder / name).open("wb") as file:
        for chunk in body.iter_chunks(1024 * 1024):
            file.write(chunk)
    return True


def store(s3: S3Client, snapshot: Snapshot) -> None:
    """Write the list of *snapshot* to its place, and its files to those of DynamoDB."""
    place, rows = S3Place.of_folder(snapshot.place), S3Place.of_folder(snapshot.url)
    for file in snapshot.files:
        if (path := snapshot.folder / file.name).exists():
            with path.open("rb") as body:
                s3.put_object(Bucket=rows.bucket, Key=f"{rows.key}{file.name}", Body=body)
    with (snapshot.folder / LIST).open("rb") as body:
        s3.put_object(Bucket=place.bucket, Key=f"{place.key}{LIST}", Body=body)


def bytes_below(s3: S3Client, place: S3Place) -> int:
    """Size of all files in the folder *place*."""
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=place.bucket, Prefix=place.key)
    return sum(entry["Size"] for page in pages for entry in page.get("Contents", ()))


def require_empty(s3: S3Client, place: S3Place) -> None:
    """Refuse a folder that has files, or whose files are deleted with a snapshot's tables.

    Raises:
        CannotDoError: It is one.
    """
    answer = s3.list_objects_v2(Bucket=place.bucket, Prefix=place.key, MaxKeys=1)
    if answer["KeyCount"] or _OF_TABLES.search(f"/{place.key}"):
        raise CannotDoError(
            f"{place} has files, or is in a folder of bucketsum's tables: name a folder where "
            "nothing is; nothing was written"
        )


def fetch(s3: S3Client, snapshot: Snapshot, *, yes: bool) -> None:
    """Fetch the files of *snapshot* that are not here, if there is room; a large one after asking.

    Raises:
        CannotDoError: The disk has too little room, or a file is missing.
    """
    absent = [file for file in snapshot.files if not (snapshot.folder / file.name).exists()]
    if not absent or not snapshot.url:
        return
    place = S3Place.of_folder(snapshot.url)
    size = bytes_below(s3, place)
    room = require_room(snapshot.folder, snapshot.rows, size)
    if snapshot.rows > ASKED_ROWS:
        note(f"{snapshot.url} has {size_text(size)}; with its tables, it takes {room}")
        confirm("Fetch it?", "nothing was fetched; --athena asks it where it is", yes=yes)
    partial = Path(mkdtemp(prefix=PARTIAL, dir=snapshot.folder))
    try:
        for file in absent:
            (partial / file.name).parent.mkdir(exist_ok=True)
        with ThreadPoolExecutor(_FILES_AT_A_TIME) as pool:
            got = pool.map(lambda file: fetch_file(s3, place, file.name, partial), absent)
            is_whole = all([*with_bar(got, "fetching", len(absent))])
        if not is_whole:
            raise CannotDoError(f"{snapshot.url} is not whole: a file of its list is missing")
        for file in absent:
            (partial / file.name).rename(snapshot.folder / file.name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
