"""Records of evidence: what a run counted, what it found, and its report in the chain."""

from __future__ import annotations

import hashlib
import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import Any, Final

from bucketsum.backfill.balance import BalanceEntry
from bucketsum.events.message_fields import is_moment
from bucketsum.table.codec import attributes_of
from bucketsum.table.rows import Row
from bucketsum.table.stored_fields import NOT_STORED, stored

_PLAIN_CHARACTERS_MAX: Final = 100_000
_COMPRESSED: Final = "zlib:"
_TEXT_BYTES_MAX: Final = 64 * 1024 * 1024


def _written(text: str) -> str:
    """*text* as an attribute: DynamoDB takes 400 kB, and some hundred buckets need more."""
    if len(text) <= _PLAIN_CHARACTERS_MAX:
        return text
    return _COMPRESSED + b64encode(zlib.compress(text.encode())).decode()


def _read(text: str) -> str:
    """The inverse of `_written`; raises ValueError if it did not make *text*."""
    if not text.startswith(_COMPRESSED):
        return text
    try:
        data = b64decode(text.removeprefix(_COMPRESSED), validate=True)
        return zlib.decompressobj().decompress(data, _TEXT_BYTES_MAX).decode()
    except zlib.error as error:
        raise ValueError(str(error)) from error


def _moment(text: str) -> str:
    if not is_moment(text):
        raise ValueError(f"{text!r:.80} is not a moment")
    return text


_LARGE: Final = stored(read=_read, write=_written)
_MOMENT: Final = stored(read=_moment)


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the digests table, which one invocation at a time counts.

    Attributes:
        total: Number of segments.
        shares: Number of times that the table is read, each for other rows; see `ListedVersions`.
        position: The key after which it goes on, as JSON; empty at the beginning and the end.
        done: Whether all of it is counted.
        balance: Its rows, as `Balance.text`.
        listed: Its findings that are listed, in the same form; others are only counted.
        accounted: Bucket → sum of the hashes of its rows that the run queued, as JSON.
        attempts: The attempts at pages that count, if they had findings; between blanks.
    """

    number: int = field(metadata=NOT_STORED)
    total: int
    shares: int = 1
    position: str = ""
    done: bool = False
    balance: str = field(default="[]", metadata=_LARGE)
    listed: str = "[]"
    accounted: str = "{}"
    attempts: str = field(default="", metadata=_LARGE)

    @property
    def scans(self) -> int:
        """Number of segments of the table itself."""
        return self.total // self.shares

    @property
    def share(self) -> int:
        """The share of the rows that it counts."""
        return self.number // self.scans


@dataclass(frozen=True, slots=True)
class RowFinding:
    """A row that somebody must look at, or should know of.

    Attributes:
        kind: `differs`, `lost`, `unreadable`, `failed`, `damaged`, `repaired` or `deleted`.
        recorded: The recorded SHA-1.
        read: The digest that was read instead, as ``algorithm:digest``.
        at: When it was found or deleted, ISO 8601 UTC.
        by: Who deleted it: a request, or a lifecycle rule.
        counted: The standing in which its row was counted, if that is another by now.
        attempt: The attempt at its page; None in records of earlier releases.
    """

    kind: str
    bucket: str
    key: str
    version: str
    recorded: str | None = None
    read: str | None = None
    at: str | None = None
    by: str | None = None
    storage_class: str | None = None
    reason: str | None = None
    counted: str | None = None
    attempt: str | None = None

    @property
    def item(self) -> str:
        """Its sort key: the same for the same version and attempt, however long the key is."""
        name = f"{self.bucket}\0{self.key}\0{self.version}\0{self.attempt or ''}".encode()
        return hashlib.blake2b(name, digest_size=16).hexdigest()

    @property
    def why(self) -> str | None:
        """Its reason, what was read instead, or who deleted it."""
        read = self.read and f"{self.read} was read"
        return self.reason or read or (self.by and f"by {self.by}")

    @property
    def line(self) -> dict[str, Any]:
        """It as an object of JSON, without what is not known."""
        known = ((name, value) for name, value in attributes_of(self) if value is not None)
        return {name: value for name, value in known if name not in ("counted", "attempt")}


def finding_of(row: Row, entry: BalanceEntry, storage_class: str | None) -> RowFinding:
    """The finding about *row*."""
    difference, deletion, failed = row.difference, row.deletion, row.failed_reading
    at = difference.at if difference else failed.at if failed else None
    return RowFinding(
        kind=entry.standing.value,
        bucket=row.bucket,
        key=row.key,
        version=row.entry,
        recorded=row.sha1,
        read=difference.digest if difference else None,
        at=deletion.at if deletion else at,
        by=deletion.by.value if deletion else None,
        storage_class=storage_class or row.storage_class,
        reason=entry.reason,
    )


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of a run: what is left to do until its report is delivered.

    Attributes:
        segments: Number of segments of its accounting; 0 if its rows are not counted.
        shares: Of its segments; 0 if the run listed too much, and rows are looked up instead.
        counted_from: When the accounting began: later deletions are the next report's.
        uncounted: Why its rows are not counted; None if they are.
        number: The number of its report in the chain, once it is chosen.
        attempts: Attempts at delivering the report.
        delivered_at: When its report was delivered, or given up; ISO 8601 UTC.
    """

    segments: int
    counted_from: str = field(metadata=_MOMENT)
    uncounted: str | None = None
    number: int | None = None
    attempts: int = 0
    delivered_at: str | None = None
    shares: int = 1


@dataclass(frozen=True, slots=True)
class ChainedReport:
    """A report in the chain of a stack.

    Attributes:
        number: From 1, without gaps.
        document: `report.json`, byte by byte.
        sha256: Of *document*.
        previous_sha256: Of the report before it; None for the first.
        place: URL of its folder in the report bucket; None if it was not written there.
        notified_at: When the topic took its message; ISO 8601 UTC.
        failure: Why it could not be written or sent; None if it could.
    """

    number: int = field(metadata=NOT_STORED)
    run: str
    at: str
    document: str = field(metadata=_LARGE)
    sha256: str
    previous_sha256: str | None = None
    place: str | None = None
    notified_at: str | None = None
    failure: str | None = None
