"""Sides of a comparison: objects of a snapshot, digests in their names, or a manifest."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_plus

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.manifests.entries import (
    NOT_UTF_8,
    BadLine,
    Entry,
    algorithm_called,
    digests_of,
)
from bucketsum_cli.manifests.formats import entries_in, is_manifest_name
from bucketsum_cli.snapshots.folder import Listed, read_snapshot
from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from bucketsum_cli.snapshots.folder import Snapshot

COLUMNS: Final = ", ".join(
    ("name VARCHAR", "size_bytes BIGINT", "status VARCHAR", "detail VARCHAR",
     *(f"{name} VARCHAR" for name in ALGORITHMS))
)  # fmt: skip
"""Of the table of a side."""

_REPORT: Final = "Report_CSV_20180820"
_REPORT_COLUMNS: Final = 7
_PLACE: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Objects:
    """The current objects of a bucket whose keys begin with a prefix.

    Attributes:
        snapshot: The snapshot of another stack; None is the one that the comparison takes.
    """

    keys: Listed
    snapshot: Snapshot | None = None


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """A file of digests and names, local or in S3."""

    place: str


def side_of(text: str) -> Objects | ManifestFile:
    """The side that *text* names.

    It is ``BUCKET[/PREFIX]``, also after ``s3://`` if it has no key or ends with a slash; a
    manifest, which is a file or any other ``s3://`` URL; or the folder of a snapshot, with
    ``#BUCKET[/PREFIX]`` if that has several buckets.

    Raises:
        CannotDoError: The folder is not a snapshot, or a file is not there.
    """
    folder, mark, keys = text.partition("#")
    if Path(folder).is_dir():
        snapshot = read_snapshot(Path(folder))
        buckets = {listed.bucket for listed in snapshot.listed}
        if not mark and len(buckets) != 1:
            raise CannotDoError(
                f"name the bucket in {folder}, as {folder}#BUCKET or {folder}#BUCKET/PREFIX"
            )
        return Objects(_keys(keys) if mark else Listed(buckets.pop(), ""), snapshot)
    if S3Place.is_url(text):
        place = S3Place.of(text)
        if place.key and not place.key.endswith("/"):
            return ManifestFile(text)
        return Objects(Listed(place.bucket, place.key))
    if Path(text).is_file():
        return ManifestFile(text)
    if text.startswith(("/", ".", "~")):
        raise CannotDoError(f"there is no file {text}")
    if is_manifest_name(text):
        raise CannotDoError(f"there is no file {text}; write s3://{text} for a bucket of this name")
    return Objects(_keys(text))


def _keys(text: str) -> Listed:
    bucket, _, prefix = text.partition("/")
    return Listed(bucket, prefix)


def rows_of(manifest: ManifestFile, s3: S3Client | None) -> Iterator[dict[str, Any]]:
    """The rows of the table of a side; a line without a key has no name."""
    for entry in _entries(manifest.place, s3):
        if isinstance(entry, BadLine):
            yield {"status": "bad line", "detail": entry.reason}
            continue
        try:
            name = entry.name.decode()
        except UnicodeDecodeError:  # its escapes would be another key
            yield {"status": "bad line", "detail": f"line {entry.line}: {NOT_UTF_8}"}
            continue
        digests = {name: value for name, value in entry.digests.items() if name in ALGORITHMS}
        yield {
            "name": name,
            "size_bytes": entry.size_bytes,
            "status": "hashed" if digests else "unreadable",
            "detail": None if digests else f"only {', '.join(entry.digests) or 'an error'}",
            **digests,
        }


def _entries(place: str, s3: S3Client | None) -> Iterator[Entry | BadLine]:
    body = _read(place, s3)
    if _REPORT.encode() in body[:1000]:
        for result in json.loads(body)["Results"]:
            at = S3Place(result["Bucket"], result["Key"])
            yield from report_entries(_read(str(at), s3))
    elif place.endswith(".csv") and b"checksumAlgorithm" in body[:4000]:
        yield from report_entries(body)
    else:
        yield from entries_in(io.BytesIO(body), place)


def _read(place: str, s3: S3Client | None) -> bytes:
    if not S3Place.is_url(place):
        return Path(place).read_bytes()
    at = S3Place.of_object(place)
    if s3 is None:
        raise CannotDoError(f"{place} needs a connection to AWS")
    return s3.get_object(Bucket=at.bucket, Key=at.key)["Body"].read()


def report_entries(body: bytes) -> Iterator[Entry | BadLine]:
    """Read a completion report of S3 Batch Operations' Compute checksum.

    A composite checksum is none of the whole object: its entry has no digest that is compared.
    """
    lines = csv.reader(io.StringIO(body.decode("utf-8", "surrogateescape"), newline=""))
    for number, values in enumerate(lines, 1):
        if len(values) != _REPORT_COLUMNS:
            shown = ",".join(values).encode("utf-8", "surrogateescape")
            yield BadLine.of(number, "a row of a completion report", shown)
            continue
        name = unquote_plus(values[1], errors="surrogateescape").encode("utf-8", "surrogateescape")
        yield Entry(name, _reported(values[3], values[6]), line=number)


def _reported(status: str, message: str) -> dict[str, str]:
    try:
        result = json.loads(message)
        algorithm = algorithm_called(result["checksumAlgorithm"])
        if status != "succeeded":
            return {}
        if result.get("checksumType") == "COMPOSITE":
            return {f"a composite {algorithm}": ""}
        return digests_of(result["checksum_hex"], algorithm) or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def name_pattern(text: str) -> tuple[str, str]:
    """The regular expression and the algorithm of a pattern as ``data/??/{sha256}``.

    ``?`` is any character, ``*`` any characters, both without a slash; the digest may have a slash
    after its first two digits.

    Raises:
        CannotDoError: It has not the name of one algorithm.
    """
    names = _PLACE.findall(text)
    if len(names) != 1 or names[0] not in ALGORITHMS:
        allowed = ", ".join(f"{{{name}}}" for name in ALGORITHMS)
        raise CannotDoError(f"{text} must have one of {allowed}, as in data/??/{{sha256}}")
    before, after = (
        re.escape(part).replace(r"\?", "[^/]").replace(r"\*", "[^/]*")
        for part in text.split(f"{{{names[0]}}}")
    )
    rest = ALGORITHMS[names[0]].hex_digits - 2
    return f"^{before}([0-9a-f]{{2}}/?[0-9a-f]{{{rest}}}){after}$", names[0]
