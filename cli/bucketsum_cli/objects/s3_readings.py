"""S3's own readings: reports of its Compute checksum become rows, or verify those that exist."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final

from botocore.exceptions import ClientError

from bucketsum.algorithms import SHA1
from bucketsum.clock import now, text_of
from bucketsum.errors import BucketsumError, DamagedRow, ObjectUnreadable
from bucketsum.events.message_fields import KEY_MAX_BYTES
from bucketsum.events.version import NULL
from bucketsum.hashing.verification import mark
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Deletion, ReadByS3
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum.table.sequencer import NO_SEQUENCER
from bucketsum_cli.aws.connection import CONNECTIONS
from bucketsum_cli.manifests.entries import NOT_UTF_8, BadLine, Entry

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


_BATCH: Final = 100
"""Rows that are looked up by one request."""
_GONE: Final = ("404", "NoSuchKey", "NoSuchVersion", "405", "MethodNotAllowed")
_REFUSED: Final = ("400", "InvalidArgument", "BadRequest")
_VERSION: Final = re.compile(r"[\w.~-]{0,1024}", re.ASCII)
"""[A] Version IDs need no encoding in a URL."""


class LineOutcome(StrEnum):
    """The outcome of a line of a report."""

    RECORDED = "recorded"
    """A row: there was none with a digest."""
    VERIFIED = "verified"
    DIFFERS = "differs"
    """S3 read another digest than the one recorded, which stays."""
    UNCHANGED = "unchanged"
    """This report, or a later reading, is recorded already."""
    GONE = "gone"
    """S3 has no such version any more."""
    SUPERSEDED = "superseded"
    """The object was overwritten since the job read it."""
    NOT_READ = "not read"
    """S3 could not read it, or the digest is not one of the whole object."""
    OTHER_BUCKET = "other bucket"
    BAD_LINE = "bad line"


PROBLEMS: Final = frozenset(
    {LineOutcome.DIFFERS, LineOutcome.NOT_READ, LineOutcome.OTHER_BUCKET, LineOutcome.BAD_LINE}
)
"""These leave a question open."""


@dataclass(frozen=True, slots=True)
class ImportedLine:
    """A line of a report, and its outcome."""

    outcome: Annotated[LineOutcome, "Outcome: see `counts`."]
    bucket: str = ""
    key: str = ""
    version: str = ""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ReportImport:
    """Imports the lines of a report.

    Attributes:
        buckets: Buckets of the stack; lines of others are left out.
        source: The job, and when its report was made.
        writes: Whether rows are written; if not, the readings are those that they would be.
    """

    s3: S3Client
    table: DigestsTable
    buckets: Collection[str]
    source: ReadByS3
    writes: bool = True

    def lines(self, entries: Iterable[Entry | BadLine]) -> Iterator[ImportedLine]:
        """Yield the outcome of each of *entries*; at most `_BATCH` of them are in memory.

        Raises:
            ClientError: AWS refused; what was imported is kept, and unchanged the next time.
        """
        waiting = iter(entries)
        with ThreadPoolExecutor(CONNECTIONS) as threads:
            while batch := [*islice(waiting, _BATCH)]:
                wanted = {n: at for n, entry in enumerate(batch) if (at := self._row_key(entry))}
                records = self.table.records_at(wanted.values())
                keys = (wanted.get(n) for n in range(len(batch)))
                yield from threads.map(partial(self._line, records), batch, keys)

    def _row_key(self, entry: Entry | BadLine) -> RowKey | None:
        """The key of the row of an *entry* that has a digest and a bucket of the stack."""
        if isinstance(entry, BadLine) or not entry.reported or not _digests_of(entry):
            return None
        if entry.reported.bucket not in self.buckets or _impossible(entry):
            return None
        version = entry.reported.version or NULL.entry
        return RowKey(entry.reported.bucket, entry.name.decode(), version)

    def _line(
        self,
        records: dict[RowKey, Row | Deletion | DamagedRow],
        entry: Entry | BadLine,
        at: RowKey | None,
    ) -> ImportedLine:
        if isinstance(entry, BadLine):
            return ImportedLine(LineOutcome.BAD_LINE, reason=entry.reason)
        if at is None:
            return _left_out(entry, self.buckets)
        try:
            reading, reason = self._imported(entry, at, records.get(at))
        except BucketsumError as error:
            reading, reason = LineOutcome.NOT_READ, str(error)
        return ImportedLine(reading, at.bucket, at.key, at.entry, reason)

    def _imported(
        self, entry: Entry, at: RowKey, record: Row | Deletion | DamagedRow | None
    ) -> tuple[LineOutcome, str | None]:
        if isinstance(record, DamagedRow):
            raise record
        if isinstance(record, Deletion) or (record and record.deletion):
            return LineOutcome.GONE, "its deletion is recorded"
        if record and record.status is Status.HASHED:
            return self._compared(entry, at, record)
        digests = _digests_of(entry)
        if SHA1.name not in digests:
            return LineOutcome.NOT_READ, f"a row needs a SHA-1, the report has {', '.join(digests)}"
        return self._recorded(entry, at, record)

    def _compared(self, entry: Entry, at: RowKey, recorded: Row) -> tuple[LineOutcome, str | None]:
        """Verify *recorded*, unless a reading that is not older is there.

        If that is of the same report, another digest differs again, and nothing is written.
        """
        known, read = {SHA1.name: recorded.sha1, **recorded.digests}, _digests_of(entry)
        differing = [name for name, value in read.items() if known.get(name, value) != value]
        readings = [recorded.read_by_s3, recorded.verified, recorded.difference]
        newer = [r.at for r in readings if r and not _is_earlier(r.at, self.source.at)]
        if newer and not (differing and {*newer} == {self.source.at}):
            return LineOutcome.UNCHANGED, None
        if at.version.is_null:
            reading, head = self._head(at, entry)
            if reading or recorded.etag not in (None, _etag_of(head)):
                return reading or LineOutcome.SUPERSEDED, None
        if not (differing or read.keys() & known.keys()):
            return LineOutcome.NOT_READ, f"the row has no {', '.join(read)}"
        text = f"{differing[0]}:{read[differing[0]]}" if differing else None
        if self.writes and not newer:
            outcome = mark(self.table, recorded, recorded, text, self.source.at)
            if outcome not in (Outcome.VERIFIED, Outcome.DIFFERS):
                return LineOutcome.SUPERSEDED, "its row has changed meanwhile"
        reason = f"S3 read {text}, the row has {known[differing[0]]}" if differing else None
        return (LineOutcome.DIFFERS if differing else LineOutcome.VERIFIED), reason

    def _recorded(
        self, entry: Entry, at: RowKey, record: Row | None
    ) -> tuple[LineOutcome, str | None]:
        reading, head = self._head(at, entry)
        if reading:
            return reading, None
        digests = _digests_of(entry)
        row = Row(
            bucket=at.bucket,
            key=at.key,
            entry=at.entry,
            status=Status.HASHED,
            size_bytes=head["ContentLength"],
            sequencer=record.sequencer if record else NO_SEQUENCER,
            arrived_at=record.arrived_at if record else text_of(head["LastModified"]),
            recorded_at=now(),
            etag=_etag_of(head),
            sha1=digests.pop(SHA1.name),
            digests=digests,
            read_by_s3=self.source,
        )
        if not self.writes:
            return LineOutcome.RECORDED, None
        outcome = self.table.replace(row, record) if record else self.table.record(row)
        if outcome is Outcome.HASHED:
            return LineOutcome.RECORDED, None
        meanwhile = self.table.row_at(at, consistent=True)
        if meanwhile and meanwhile.has_digest_of(row.etag):  # perhaps by a line of this report
            return self._compared(entry, at, meanwhile)
        return LineOutcome.SUPERSEDED, "its row has changed meanwhile"

    def _head(self, at: RowKey, entry: Entry) -> tuple[LineOutcome | None, Any]:
        """S3's head of the version, or why there is none of the object that the job read.

        Raises:
            ObjectUnreadable: S3 refuses the request itself.
        """
        request: dict[str, Any] = {"Bucket": at.bucket, "Key": at.key, "VersionId": at.entry}
        try:
            head = self.s3.head_object(**request)
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code in _GONE:
                return LineOutcome.GONE, None
            if code in _REFUSED:
                raise ObjectUnreadable(
                    "S3 refuses the request: no such version, or encrypted with a customer's key"
                ) from error
            raise
        read = entry.reported.etag if entry.reported else ""
        is_read = read in ("", _etag_of(head)) and _is_earlier(
            text_of(head["LastModified"]), self.source.at
        )
        return (None, head) if is_read or not at.version.is_null else (LineOutcome.SUPERSEDED, None)


def _digests_of(entry: Entry) -> dict[str, str]:
    """The digests of the whole object; of one in parts, S3 has a digest of digests."""
    return {name: value for name, value in entry.digests.items() if value}


def _left_out(entry: Entry, buckets: Collection[str]) -> ImportedLine:
    reported, name = entry.reported, entry.name.decode("utf-8", "replace")
    if reported and reported.bucket not in buckets:
        return ImportedLine(LineOutcome.OTHER_BUCKET, reported.bucket, name, reported.version)
    only = f"only {', '.join(entry.digests)}" if entry.digests else "S3 has no digest of it"
    reason = _impossible(entry) or only
    bucket, version = (reported.bucket, reported.version) if reported else ("", "")
    return ImportedLine(LineOutcome.NOT_READ, bucket, name, version, reason)


def _impossible(entry: Entry) -> str | None:
    """Why no object of S3 is that of *entry*; None if one may be."""
    try:
        entry.name.decode()
    except UnicodeDecodeError:
        return NOT_UTF_8
    if not 0 < len(entry.name) <= KEY_MAX_BYTES:
        return f"its key has {len(entry.name):,} bytes, one of S3 1 to {KEY_MAX_BYTES:,}"
    version = entry.reported.version if entry.reported else ""
    return None if _VERSION.fullmatch(version) else "its version ID is not one of S3"


def _etag_of(head: Any) -> str:  # noqa: ANN401 - the output of HeadObject
    etag: str = head["ETag"]
    return etag.strip('"')


def _is_earlier(text: str, than: str) -> bool:
    """Whether one time is earlier; one that cannot be read is."""
    try:
        return datetime.fromisoformat(text) < datetime.fromisoformat(than)
    except (ValueError, TypeError):
        return True
