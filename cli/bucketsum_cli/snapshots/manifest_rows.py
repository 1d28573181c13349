"""Rows of a manifest as the side of a comparison; it is a file, stdin, or an object of S3."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Final

import click
from botocore.exceptions import ClientError

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.manifests import reports
from bucketsum_cli.manifests.entries import (
    NO_NAME,
    NOT_UTF_8,
    BadLine,
    Entry,
    Reported,
    without_names,
)
from bucketsum_cli.manifests.formats import Format, entries_in
from bucketsum_cli.manifests.lines import peeked
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import count_text
from bucketsum_cli.terminal.output import note

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

STDIN: Final = "-"
_BAG: Final = re.compile(r"(?:^|[/\\])(tag)?manifest-[\w-]+\.txt(?:\.\w+)?$", re.IGNORECASE)
COLUMNS: Final = ", ".join(
    ("name VARCHAR", "size_bytes BIGINT", "status VARCHAR", "detail VARCHAR",
     "bucket VARCHAR", "version VARCHAR", *(f"{name} VARCHAR" for name in ALGORITHMS))
)  # fmt: skip
"""Of the table of a side; bucket and version are those of a report of S3."""


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """A list of digests and names: a path, ``-`` for stdin, or an object's URL."""

    place: str
    format_: Format | None = None
    algorithm: str | None = None


def scope_of(place: str) -> str:
    """The part of a bag that a manifest of this name has: ``payload``, ``tags``, or none."""
    manifest = _BAG.search(place)
    return "" if manifest is None else "tags" if manifest[1] else "payload"


def rows_of(manifest: ManifestFile, s3: Callable[[], S3Client]) -> Iterator[dict[str, Any]]:
    """The rows of the table of a side; a line without a key has no name.

    Raises:
        CannotDoError: No line has a name, or the list cannot be read to its end.
    """
    counts: Counter[str] = Counter()
    for entry in _entries(manifest, s3):
        row = _row(entry)
        if isinstance(entry, Entry):
            counts["named" if entry.name else "nameless"] += 1
        yield row
    if counts["nameless"] and not counts["named"]:
        raise without_names(manifest.place)


def _row(entry: Entry | BadLine) -> dict[str, Any]:
    if isinstance(entry, BadLine):
        return {"status": "bad line", "detail": entry.reason}
    try:
        name = entry.name.decode()
    except UnicodeDecodeError:  # its escapes would be another key
        return {"status": "bad line", "detail": f"line {entry.line}: {NOT_UTF_8}"}
    if not name:
        return {"status": "bad line", "detail": f"line {entry.line}: {NO_NAME}"}
    digests = {name: value for name, value in entry.digests.items() if name in ALGORITHMS}
    reported = entry.reported or Reported("", "")
    return {
        "name": name,
        "size_bytes": entry.size_bytes,
        "status": "hashed" if digests else "unreadable",
        "detail": None if digests else f"only {', '.join(entry.digests) or 'an error'}",
        "bucket": reported.bucket,
        "version": reported.version,
        **digests,
    }


def _entries(manifest: ManifestFile, s3: Callable[[], S3Client]) -> Iterator[Entry | BadLine]:
    place, format_ = manifest.place, manifest.format_
    with opened(place, s3) as stream:
        is_terminal = stream.isatty()
        head, whole = (b"", stream) if is_terminal else peeked(stream, reports.HEAD_BYTES)
        if format_ is None and reports.is_manifest(head):
            yield from reported(reports.parts_of(whole.read(reports.MANIFEST_BYTES_MAX), place), s3)
        elif format_ is None and reports.is_part(head):
            yield from reports.rows_in(whole)
        else:
            yield from entries_in(whole, place, format_, manifest.algorithm)


def reported(
    parts: list[reports.ReportFile], s3: Callable[[], S3Client]
) -> Iterator[Entry | BadLine]:
    """Yield the lines of all *parts* of a report, which are objects of S3.

    Raises:
        CannotDoError: A part is missing, or is not as the report's manifest says.
    """
    if unproven := sum(not part.md5 for part in parts):
        note(f"the report has no MD5 of {count_text(unproven, 'file')}: whether they are whole is "
             "not known")  # fmt: skip
    for part in parts:
        place = str(S3Place(part.bucket, part.key))
        with TemporaryFile() as whole:
            with opened(place, s3) as stream:
                reports.copy_whole(stream, whole, place, part.md5)
            yield from reports.rows_in(whole)


@contextmanager
def opened(place: str, s3: Callable[[], S3Client]) -> Iterator[IO[bytes]]:
    """Open a list for reading once; an object is not read before its bytes are needed."""
    if place == STDIN:
        yield click.get_binary_stream("stdin")
    elif S3Place.is_url(place):
        at = S3Place.of_object(place)
        try:
            body = s3().get_object(Bucket=at.bucket, Key=at.key)["Body"]
        except ClientError as error:
            if error.response["Error"]["Code"] not in ("NoSuchKey", "404"):
                raise
            raise CannotDoError(
                f"there is no object {place}, which would be a manifest; for objects whose keys "
                f"begin so, write {place}/"
            ) from error
        with body:
            yield peeked(body, 0)[1]
    else:
        with open(place, "rb") as file:  # noqa: PTH123 - as click does, for pipes too
            yield file
