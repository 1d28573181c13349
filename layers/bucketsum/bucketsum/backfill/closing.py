"""The end of a run: its rows are counted, and its report is written, chained and delivered."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final

from bucketsum.backfill.accounting import Accountant, CountedRun
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.backfill.balance import Balance, BalanceEntry, Standing
from bucketsum.backfill.delivery import Delivery
from bucketsum.backfill.evidence_records import (
    ChainedReport,
    Closing,
    RowFinding,
    Segment,
    finding_of,
)
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.listed_versions import SHARE_PAGES, SHARES_MAX, ListedVersions
from bucketsum.backfill.report import BucketRun, Origin, document_of, sorted_findings
from bucketsum.backfill.table import BackfillsTable
from bucketsum.clock import now, seconds_since
from bucketsum.errors import DamagedItem
from bucketsum.table.damage import intact
from bucketsum.table.rows import RowKey

SEGMENT_ROWS: Final = 1_000_000
SEGMENTS_MAX: Final = 64
COUNTED_ROWS_MAX: Final = 1_000_000
"""Rows of a table that is read for a part of a bucket too: 0.01 USD."""
DELETIONS_SECONDS: Final = 300
"""A deletion's event may come so much later than the deletion: only then a row is called lost."""
ATTEMPTS: Final = 4
_PAUSES: Final = (30, 300, 1800)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counts the rows of runs and reports them."""

    table: BackfillsTable
    accountant: Accountant
    delivery: Delivery
    origin: Origin
    enqueuers: int

    def next_events(self, run_id: str, members: Sequence[Backfill]) -> list[dict[str, Any]]:
        """Events for what is left to do after all *members* rest; none if all is done.

        Raises:
            DamagedItem: Another program changed an item of the run.
        """
        records = self.accountant.evidence
        closing = records.closing(run_id) or records.begin_closing(run_id, self._planned(members))
        segments = records.segments(run_id)
        if len(segments) < closing.segments:  # the end alone says how many there are
            segments = records.begin_segments(run_id, closing)
        left = [segment.number for segment in segments if not segment.done]
        event: dict[str, Any] = {"backfill_id": run_id}
        if left:
            shares = (left[number :: self.enqueuers] for number in range(self.enqueuers))
            return [event | {"action": "account", "parts": share} for share in shares if share]
        if closing.delivered_at:
            return []
        return [event | {"action": "report", "parts": [0]}]

    def _planned(self, members: Sequence[Backfill]) -> Closing:
        digests = self.accountant.digests
        answer = digests.dynamodb.describe_table(TableName=digests.name)
        rows = answer["Table"].get("ItemCount", 0)
        if rows > COUNTED_ROWS_MAX and all(member.is_partial for member in members):
            return Closing(0, now(), f"not counted: all of {rows:,} rows would be read for a part")
        pages = sum(part.pages for m in members for part in self.table.parts(m.backfill_id))
        shares = 1 + pages // SHARE_PAGES
        scans = min(SEGMENTS_MAX, 1 + rows // SEGMENT_ROWS)
        if shares > SHARES_MAX:
            return Closing(scans, now(), shares=0)
        return Closing(scans * shares, now(), shares=shares)

    def counted(self, run_id: str) -> CountedRun:
        """The run whose segments `Accountant.count` counts."""
        closing = self.accountant.evidence.closing(run_id)
        members = {member.bucket: member for member in self.table.members(run_id)}
        listing = members.values() if closing and closing.shares else ()
        return CountedRun(run_id, members, self._since(members), partial(self._listed, listing))

    def _listed(self, members: Iterable[Backfill], segment: Segment) -> ListedVersions:
        """The versions that *members* listed, as far as they are of the share of *segment*."""
        versions = ListedVersions(segment.share, segment.shares)
        for member in members:
            parts, kept = self.table.parts(member.backfill_id), 0
            with intact("listing of the backfill", member.backfill_id):
                for page in chain.from_iterable(
                    self.table.listed(member.backfill_id, part) for part in parts
                ):
                    versions.add(page)
                    kept += 1
            is_all = member.status is BackfillStatus.QUEUED and member.limit is None
            if is_all and 0 < sum(part.pages for part in parts) <= kept:
                versions.whole.add(member.bucket)
        return versions

    def _since(self, buckets: Collection[str]) -> Mapping[str, str]:
        """Bucket → the time after which a deletion was not reported; none for a first report."""
        since: dict[str, str] = {}
        for report in self.accountant.evidence.reports(forward=False):
            if all(bucket in since for bucket in buckets):
                break
            with suppress(AttributeError, KeyError, TypeError, ValueError):  # somebody edited it
                document = json.loads(report.document)  # type: ignore[union-attr] # or damaged
                until = str(document["deletions_until"])
                named = [] if document.get("uncounted") else document["buckets"]
                since = {run["bucket"]: until for run in named} | since
        return since

    def report(self, run_id: str, hashed: Iterable[str] = ()) -> int:
        """Write the report of a run; returns seconds until it must be tried again, or 0.

        Once it is in the chain, its findings stay. Besides the run's, the buckets that are *hashed*
        take no report.

        Raises:
            DamagedItem: Another program changed an item of the run.
        """
        records = self.accountant.evidence
        closing = records.closing(run_id)
        if closing is None or closing.delivered_at:
            return 0
        findings = whole_findings(records, run_id)
        report = records.report_of(run_id)
        if report is None:
            segments = records.segments(run_id)
            findings, balance = self._settled(run_id, segments, findings)
            self._account(run_id, segments)
            if balance.number(Standing.LOST) and closing.number is None:
                waited = seconds_since(closing.counted_from)
                if 0 <= waited < DELETIONS_SECONDS:
                    return round(DELETIONS_SECONDS - waited)
            report = self._chained(run_id, balance, findings)
        return self._deliver(run_id, report, findings, hashed)

    def _account(self, run_id: str, segments: Iterable[Segment]) -> None:
        """Note the backfills that are done by their rows; a repeated message counts twice."""
        accounted = Counter[str]()
        for segment in segments:
            with intact(f"segment {segment.number} of the run", run_id):
                accounted.update(json.loads(segment.accounted))
        for member in self.table.members(run_id):
            parts = self.table.parts(member.backfill_id)
            queued = sum(part.object_hashes for part in parts)
            if queued and accounted[member.bucket] == queued:
                self.table.account(member.backfill_id)

    def _settled(
        self, run_id: str, segments: Iterable[Segment], findings: Iterable[RowFinding]
    ) -> tuple[list[RowFinding], Balance]:
        """The findings and the balance, after another look at what seemed to be lost."""
        with intact("balance of the run", run_id):
            balance = Balance.of(Balance.in_text(segment.balance) for segment in segments)
        settled = []
        for finding in findings:
            seemed_lost = Standing.LOST in (finding.kind, finding.counted)
            place = RowKey(finding.bucket, finding.key, finding.version)
            digests = self.accountant.digests
            row = digests.row_at(place, consistent=True) if seemed_lost else None
            if row and row.deletion:
                balance.add(finding.bucket, BalanceEntry(Standing.LOST), -row.size_bytes, -1)
                balance.add(finding.bucket, BalanceEntry(Standing.DELETED), row.size_bytes)
                deleted = finding_of(row, BalanceEntry(Standing.DELETED), finding.storage_class)
                attempt = finding.attempt
                settled.append(replace(deleted, counted=Standing.LOST.value, attempt=attempt))
                self.accountant.evidence.put_finding(run_id, settled[-1])
            else:
                settled.append(finding)
        return sorted_findings(settled), balance

    def _chained(
        self, run_id: str, balance: Balance, findings: Sequence[RowFinding]
    ) -> ChainedReport:
        """The report of the run in the chain; the number is noted before it is written.

        So neither a kill between the two, nor another invocation, ever makes a second report; and
        of two runs at once that have the same number, one is written, and the other takes the next.
        """
        records = self.accountant.evidence
        while True:
            closing = records.closing(run_id)  # first: so the chain has reached its number
            assert closing  # noqa: S101 - it was there before
            last = next(filter(_number_of, records.reports(forward=False)), None)
            if report := records.report_of(run_id):
                return report
            # Where the end was removed, the chain goes on with a gap, and `list --check` says so.
            number = max(_number_of(last) + 1, closing.number or 0)
            if not records.move_closing(run_id, closing, number=number):
                continue  # another invocation is further
            document = self._document(run_id, closing, balance, findings)
            previous = last.sha256 if isinstance(last, ChainedReport) else None
            text = json.dumps(document | {"number": number, "previous_sha256": previous}, indent=1)
            sha256 = hashlib.sha256(text.encode()).hexdigest()
            report = ChainedReport(number, run_id, now(), text, sha256, previous)
            if records.append(report):
                return report

    def _document(
        self, run_id: str, closing: Closing, balance: Balance, findings: Sequence[RowFinding]
    ) -> dict[str, Any]:
        runs = [
            BucketRun(
                member,
                self.table.parts(member.backfill_id),
                self.table.tally(member.backfill_id)[0],
            )
            for member in self.table.members(run_id)
        ]
        return document_of(self.origin, runs, closing, balance, findings, now())

    def _deliver(
        self,
        run_id: str,
        report: ChainedReport,
        findings: Sequence[RowFinding],
        hashed: Iterable[str],
    ) -> int:
        records = self.accountant.evidence
        closing = records.closing(run_id)
        assert closing  # noqa: S101 - it has just been written
        refused = {*hashed, *(member.bucket for member in self.table.members(run_id))}
        place, not_written = self.delivery.write(report, findings, refused)
        notified_at, not_sent = self.delivery.notify(report, findings, place)
        failure = "; ".join(filter(None, (not_written, not_sent))) or None
        records.deliver(report, place=place, notified_at=notified_at, failure=failure)
        attempts = closing.attempts + 1
        is_over = failure is None or attempts >= ATTEMPTS
        delivered_at = now() if is_over else None
        records.move_closing(run_id, closing, attempts=attempts, delivered_at=delivered_at)
        return 0 if is_over else _PAUSES[attempts - 1]


def whole_findings(records: EvidenceTable, run_id: str) -> list[RowFinding]:
    """The findings of a run, the worst first; raises `DamagedItem` for one that is damaged."""
    whole = []
    for finding in records.findings(run_id):
        if isinstance(finding, DamagedItem):
            raise finding
        whole.append(finding)
    return sorted_findings(whole)


def _number_of(report: ChainedReport | DamagedItem | None) -> int:
    """The number of *report*: after a damaged one the chain goes on, and `list --check` says so."""
    if isinstance(report, DamagedItem):
        return int(report.name) if report.name.isdecimal() else 0
    return report.number if report else 0
