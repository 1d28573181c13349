"""Completion reports of S3 Batch Operations' Compute checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import IO, Final
from urllib.parse import unquote_plus

from bucketsum.clock import text_of
from bucketsum_cli.manifests.entries import BadLine, Entry, Reported, algorithm_called, digests_of
from bucketsum_cli.manifests.records import csv_records
from bucketsum_cli.terminal.errors import CannotDoError

_FORM: Final = b"Report_CSV_20180820"
MANIFEST_BYTES_MAX: Final = 1 << 24
_LINE_BYTES_MAX: Final = 1 << 20
_CHUNK_BYTES: Final = 1 << 20
_COLUMNS: Final = 7
HEAD_BYTES: Final = 4000
"""The beginning of a file that tells whether it is one."""


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file with rows of a report, as the report's manifest names it."""

    bucket: str
    key: str
    md5: str


def is_manifest(head: bytes) -> bool:
    """Whether a file with this beginning is the ``manifest.json`` of a report."""
    return head.lstrip().startswith(b"{") and _FORM in head


def is_part(head: bytes) -> bool:
    """Whether a file with this beginning has the rows of a report."""
    return b"checksumAlgorithm" in head and not head.lstrip().startswith(b"{")


def created_at(manifest: bytes, file: str) -> str:
    """The time at which the report with this *manifest* was made, ISO 8601 UTC.

    Raises:
        CannotDoError: It is not such a manifest, or has no such time.
    """
    try:
        content = json.loads(manifest) if is_manifest(manifest) else {}
        return text_of(datetime.fromisoformat(content["ReportCreationDate"]))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise CannotDoError(
            f"{file} is not the manifest.json of a completion report of S3 Batch Operations, whose "
            f"ReportCreationDate says when S3 read the objects: {error!r}"
        ) from error


def parts_of(manifest: bytes, file: str) -> list[ReportFile]:
    """The files of a report.

    Raises:
        CannotDoError: The manifest is damaged.
    """
    try:
        results = json.loads(manifest)["Results"]
        return [
            ReportFile(
                str(part["Bucket"]), str(part["Key"]), str(part.get("MD5Checksum", "")).lower()
            )
            for part in results
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CannotDoError(
            f"{file} is not the manifest of a whole completion report: {error!r}"
        ) from error


def copy_whole(part: IO[bytes], to: IO[bytes], file: str, md5: str) -> None:
    """Copy a report's *part*, whose bytes must have the *md5* of the manifest: no line is used yet.

    Raises:
        CannotDoError: They have another.
    """
    digest = hashlib.md5(usedforsecurity=False)
    for chunk in iter(partial(part.read, _CHUNK_BYTES), b""):
        digest.update(chunk)
        to.write(chunk)
    if md5 not in ("", digest.hexdigest()):
        raise CannotDoError(
            f"{file} is damaged: its MD5 is {digest.hexdigest()}, the report's manifest has {md5}"
        )
    to.seek(0)


def rows_in(part: IO[bytes]) -> Iterator[Entry | BadLine]:
    """Read the rows of a report's *part*.

    A composite checksum is none of the whole object: its entry has no digest that is compared.
    """
    for record in csv_records(iter(partial(part.readline, _LINE_BYTES_MAX), b"")):
        if isinstance(record, BadLine):
            yield record
        elif len(record.values) != _COLUMNS:
            yield BadLine.of(record.line, "a row of a completion report", record.shown)
        else:
            bucket, key, version, status, _, _, message = record.values
            name = unquote_plus(key, errors="surrogateescape").encode("utf-8", "surrogateescape")
            digests, etag = _result_in(status, message)
            reported = Reported(bucket, version, etag)
            yield Entry(name, digests, line=record.line, reported=reported)


def _result_in(status: str, message: str) -> tuple[dict[str, str], str]:
    """The digests, and the entity tag of the object that was read, if the result has it."""
    try:
        result = json.loads(message)
        algorithm = algorithm_called(result["checksumAlgorithm"])
        etag = str(result.get("ETag") or "").strip('"')
        if status != "succeeded":
            return {}, ""
        if result.get("checksumType") == "COMPOSITE":
            return {f"a composite {algorithm}": ""}, etag
        return digests_of(result["checksum_hex"], algorithm) or {}, etag
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}, ""
