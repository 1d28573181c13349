"""Rules of the reader of S3 inventories: a manifest, an empty line, the rows of its file."""

import gzip
import hashlib
import io
import json
from dataclasses import replace
from typing import Any, Final

from tests.fuzz.session import FuzzTarget, check_refusal

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part
from bucketsum.backfill.inventory import InventoryFile, InventoryReader, manifest_at
from bucketsum.backfill.messages import bodies_of, listed_objects_in
from bucketsum.errors import BadInventory
from bucketsum.events.object_events import ObjectCreated

_BACKFILL: Final = Backfill(
    "20261121T100000-3f9a1c", "photos", BackfillStatus.RUNNING, "2026-11-21T10:00:00.000+00:00",
    all_versions=True,
)  # fmt: skip
_URL: Final = "s3://inventories/photos/manifest.json"
_GZIP: Final = b"\x1f\x8b"


class _S3:
    """An S3 that has a manifest and one file, whatever the file's name."""

    def __init__(self, manifest: bytes, file: bytes) -> None:
        self._manifest = manifest
        self._file = file

    def get_object(self, **request: str) -> dict[str, Any]:
        """The manifest or the file."""
        of_manifest = request["Key"] == "photos/manifest.json"
        return {"Body": io.BytesIO(self._manifest if of_manifest else self._file)}

    def get_bucket_versioning(self, **_: str) -> dict[str, Any]:
        """No versions."""
        return {}


def check(data: bytes) -> None:
    """Read S3 inventories; only BadInventory may be raised.

    The listed objects are put into messages; parsing these must give the same objects.
    """
    manifest, _, rows = data.partition(b"\n\n")
    s3: Any = _S3(manifest, rows if rows.startswith(_GZIP) else gzip.compress(rows, 1, mtime=0))
    try:
        _check(s3)
    except BadInventory as error:
        check_refusal(error)


def _check(s3: Any) -> None:  # noqa: ANN401 - stands for a client
    file = s3.get_object(Key="file")["Body"].read()
    listed = InventoryFile("file", len(file), hashlib.md5(file, usedforsecurity=False).hexdigest())
    manifest = replace(manifest_at(s3, _URL, "photos"), files=(listed,))
    reader = InventoryReader(s3, _BACKFILL, manifest)
    part = Part(0, file="file")
    objects: list[ObjectCreated] = []
    while not part.done:
        page = reader.next_page(part)
        assert page.after.done or page.after.position != part.position, "every page moves on"
        objects += page.objects
        part = page.after
    received = [
        listed
        for body in bodies_of(_BACKFILL.backfill_id, objects)
        for listed in listed_objects_in(body).objects
    ]
    assert received == objects, "the messages name the same objects"


def _input(columns: str, *rows: str) -> bytes:
    manifest = {
        "sourceBucket": "photos",
        "destinationBucket": "arn:aws:s3:::inventories",
        "fileFormat": "CSV",
        "fileSchema": columns,
        "files": [{"key": "data/1.csv.gz", "size": 2048, "MD5checksum": "x"}],
    }
    return json.dumps(manifest).encode() + b"\n\n" + "".join(f"{row}\n" for row in rows).encode()


_ETAG: Final = "d41d8cd98f00b204e9800998ecf8427e"
_SHORT: Final = _input(
    "Bucket, Key, Size, LastModifiedDate, ETag",
    f'"photos","a%20b/%C3%BC+1.jpg","123","2026-11-20T10:00:00.000Z","{_ETAG}"',
    f'"photos","empty","0","2026-11-20T10:00:00.000Z","{_ETAG}-2"',
)
TARGET: Final = FuzzTarget(
    "inventory",
    check,
    (
        _SHORT,
        _input(
            "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag",
            f'"photos","a","v1","true","false","5","2026-11-20T10:00:00.000Z","{_ETAG}"',
            f'"photos","a","v0","false","false","5","2026-11-20T09:00:00.000Z","{_ETAG}"',
            '"photos","b","v2","true","true","","2026-11-20T09:00:00.000Z",""',
        ),
        _SHORT.partition(b"\n\n")[0] + b"\n\n"
        + gzip.compress(_SHORT.partition(b"\n\n")[2] * 700, mtime=0),
    ),
    quick_cases=500,
)  # fmt: skip
