"""Accounting: every row of a run's buckets gets its place in the balance, segment by segment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from bucketsum.backfill.backfill_records import Backfill
from bucketsum.backfill.balance import (
    FINDINGS,
    NOT_READ,
    Balance,
    BalanceEntry,
    LeftOutRule,
    Question,
    SeenRow,
    Standing,
    entry_of,
    unread_entry,
)
from bucketsum.backfill.evidence_records import Segment, finding_of
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.listed_versions import ListedVersion, ListedVersions
from bucketsum.backfill.selection import ARCHIVED
from bucketsum.invocation.deadline import Deadline
from bucketsum.table.damage import intact
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.items import row_key_in, shown_rows
from bucketsum.table.rows import Row, RowKey
from bucketsum.table.state import ObjectState, Presence, is_repaired, state_of

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


HEADS_AT_ONCE: Final = 16
STOP_BEFORE_END_SECONDS: Final = 60.0
"""A page takes some seconds, and more if S3 is asked about each of its rows."""
FINDINGS_MAX: Final = 10_000
"""Findings of a kind that are listed; further ones are counted."""
PAGE_ROWS: Final = 1000
_NOT_FOUND: Final = ("404", "NoSuchKey", "NoSuchVersion")
_REFUSED: Final = (400, 403, 405)
"""HTTP statuses that another attempt does not change; S3 then does not say what exists."""
_NO_OBJECT: Final = frozenset({"member", "compressed_bytes"})
"""Attributes of rows of members, which stand and fall with their archive's row."""
_RESTORED: Final = 'ongoing-request="false"'


@dataclass(frozen=True, slots=True)
class Head:
    """The answer of S3 about the version of a row.

    Attributes:
        presence: Whether S3 has it; None if it did not say.
        storage_class: Its class, if it is there.
        is_archived: Whether it must be restored before it can be read.
        refusal: Why S3 did not say.
        version_id: Version ID of the request; ``null`` for an object below a newer one.
    """

    presence: Presence | None
    storage_class: str | None = None
    is_archived: bool = False
    refusal: str | None = None
    version_id: str | None = None


@dataclass(frozen=True, slots=True)
class CountedRun:
    """A run whose rows are counted.

    Attributes:
        members: Its backfills, by bucket.
        since: Bucket → the time after which deletions are findings.
        listed_in: The versions that it listed, of the share of a segment.
    """

    run_id: str
    members: Mapping[str, Backfill]
    since: Mapping[str, str]
    listed_in: Callable[[Segment], ListedVersions]


@dataclass(frozen=True, slots=True)
class Accountant:
    """Counts the rows of a run's buckets, and names what somebody must look at."""

    s3: S3Client
    digests: DigestsTable
    evidence: EvidenceTable

    def count(self, run: CountedRun, numbers: Sequence[int], deadline: Deadline) -> Sequence[int]:
        """Count segments until they are done, or the invocation's time is over.

        Findings are written before the position is, with which their attempt counts.

        Returns:
            The segments that the next invocation goes on with.

        Raises:
            DamagedItem: Another program changed a segment.
            ClientError: DynamoDB refused, or S3 cannot be reached.
        """
        segments = {segment.number: segment for segment in self.evidence.segments(run.run_id)}
        listed: ListedVersions | None = None
        for place, number in enumerate(numbers):
            segment = segments[number]
            while not segment.done:
                if not deadline.leaves(STOP_BEFORE_END_SECONDS):
                    return numbers[place:]
                if listed is None or listed.share != segment.share:
                    listed = None  # memory is for one share
                    listed = run.listed_in(segment)
                moved = self._with_next_page(run, segment, listed)
                if not self.evidence.advance(run.run_id, segment, moved):
                    return ()  # another invocation has it
                segment = moved
        return ()

    def _with_next_page(self, run: CountedRun, segment: Segment, listed: ListedVersions) -> Segment:
        with intact(f"segment {segment.number} of the run", run.run_id):
            balance, named = Balance.in_text(segment.balance), Balance.in_text(segment.listed)
            accounted = Counter({b: int(n) for b, n in json.loads(segment.accounted).items()})
            items, position = self._page(segment)
        findings = []
        for seen, entry, storage_class in self._entries(items, run.members, listed):
            row = seen.row
            balance.add(row.bucket, entry, row.size_bytes, storage_class=storage_class)
            if entry != NOT_READ:
                accounted[row.bucket] += seen.queued_hash
            if _is_named(row, entry, run.since.get(row.bucket, "")):
                findings.append(finding_of(row, entry, storage_class or None))
        room, attempt = FINDINGS_MAX // segment.total, token_hex(4) if findings else ""
        for finding in findings:
            kind = BalanceEntry(Standing(finding.kind))
            if named.number(kind.standing) < room:
                self.evidence.put_finding(run.run_id, replace(finding, attempt=attempt))
                named.add("", kind, 0)
        return replace(
            segment,
            position=position,
            done=not position,
            balance=balance.text(),
            listed=named.text(),
            accounted=json.dumps(accounted),
            attempts=f"{segment.attempts} {attempt}".strip(),
        )

    def _page(self, segment: Segment) -> tuple[list[Any], str]:
        start: Any = {}
        if segment.position:
            start = {"ExclusiveStartKey": dict(json.loads(segment.position))}
        page = self.digests.dynamodb.scan(
            TableName=self.digests.name,
            Segment=segment.number % segment.scans,
            TotalSegments=segment.scans,
            Limit=PAGE_ROWS,
            **start,
        )
        last = page.get("LastEvaluatedKey")
        return page["Items"], json.dumps(last, sort_keys=True) if last else ""

    def _entries(
        self,
        items: Iterable[Mapping[str, Any]],
        members: Mapping[str, Backfill],
        listed: ListedVersions,
    ) -> Iterator[tuple[SeenRow, BalanceEntry, str]]:
        """Yield the rows of the buckets, each once, with their entries and storage classes."""
        open_rows: list[tuple[SeenRow, Question]] = []
        for item in items:
            if row_key_in(item).bucket not in members or not _NO_OBJECT.isdisjoint(item):
                continue
            for row in filter(listed.has_share_of, shown_rows([item])):  # none for a tombstone
                bucket, version = row.bucket, listed.of(row)
                seen = SeenRow(row, members[bucket], version, is_whole=bucket in listed.whole)
                entry = entry_of(seen)
                if isinstance(entry, BalanceEntry):
                    yield seen, entry, version.storage_class if version else ""
                else:
                    open_rows.append((seen, entry))
        with ThreadPoolExecutor(HEADS_AT_ONCE) as threads:
            heads = threads.map(partial(head_of, self.s3), (seen.row for seen, _ in open_rows))
            for (seen, question), head in zip(open_rows, heads, strict=True):
                listed_class = seen.version.storage_class if seen.version else ""
                entry = self._answered(seen, question, head)
                yield seen, entry, head.storage_class or listed_class

    def _answered(self, seen: SeenRow, question: Question, head: Head) -> BalanceEntry:
        """The entry of a row about which S3 was asked; each test leaves fewer cases."""
        row, version = seen.row, seen.version
        if head.presence is Presence.ABSENT:
            return self._lost(row)
        if question.read or head.presence is Presence.CHANGED:
            return question.read or BalanceEntry(Standing.NOT_SELECTED, LeftOutRule.OVERWRITTEN)
        state = state_of(row)
        if state is ObjectState.DIFFERS:
            return BalanceEntry(self._bad(row, Presence.LISTED))
        if state is ObjectState.UNREADABLE or head.refusal:
            failed = row.failed_reading.reason if row.failed_reading else row.reason
            is_unreadable = state is ObjectState.UNREADABLE
            return BalanceEntry(Standing.UNREADABLE if is_unreadable else Standing.FAILED,
                         reason=failed or head.refusal)  # fmt: skip
        present = ListedVersion(head.storage_class or "", bool(version and version.is_latest))
        archived = BalanceEntry(Standing.ARCHIVED) if head.is_archived else None
        return unread_entry(seen.backfill, present) or archived or NOT_READ

    def _bad(self, row: Row, presence: Presence) -> Standing:
        """The standing of what differs or is lost, unless a newer version has repaired it."""
        repairs = (
            other
            for other in self.digests.versions_of(row.bucket, row.key)
            if is_repaired(row, [other]) and head_of(self.s3, other).presence is Presence.LISTED
        )
        return Standing(state_of(row, presence, is_repaired=any(repairs)).value)

    def _lost(self, row: Row) -> BalanceEntry:
        """It is lost, unless its deletion was recorded since the page was read."""
        now = self.digests.row_at(RowKey(row.bucket, row.key, row.entry), consistent=True)
        if now is None or now.deletion:
            return BalanceEntry(Standing.DELETED)
        return BalanceEntry(self._bad(row, Presence.ABSENT))


def head_of(s3: S3Client, row: Row) -> Head:
    """The answer of S3 about the version of *row*; raises its error if it cannot be reached."""
    head = _head(s3, row, row.version.id)
    if row.version.is_null and head.presence in (Presence.ABSENT, Presence.CHANGED):
        below = _head(s3, row, row.entry)  # a newer version or a delete marker may be above it
        return below if below.presence is Presence.LISTED else head
    return head


def _head(s3: S3Client, row: Row, version_id: str | None) -> Head:
    version: Any = {} if version_id is None else {"VersionId": version_id}
    try:
        answer = s3.head_object(Bucket=row.bucket, Key=row.key, **version)
    except ClientError as error:
        code = error.response["Error"]["Code"]
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in _NOT_FOUND or status == HTTPStatus.NOT_FOUND:
            return Head(Presence.ABSENT, version_id=version_id)
        if status in _REFUSED:
            reason = f"S3 did not say whether it exists: {error}"
            return Head(None, refusal=reason, version_id=version_id)
        raise
    storage_class = answer.get("StorageClass", "STANDARD")
    is_archived = storage_class in ARCHIVED or "ArchiveStatus" in answer
    return Head(
        Presence.LISTED if row.is_of(answer["ETag"].strip('"')) else Presence.CHANGED,
        storage_class,
        is_archived and _RESTORED not in answer.get("Restore", ""),
        version_id=version_id,
    )


def _is_named(row: Row, entry: BalanceEntry, since: str) -> bool:
    """Whether its object is named: of the deleted ones, those since the last report."""
    if entry.standing is Standing.DELETED:
        return bool(row.deletion) and row.changed_at >= since
    return entry.standing in FINDINGS
