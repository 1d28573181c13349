"""The evidence in the table of runs: segments, findings and the chain of reports."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from bucketsum.backfill.counts import key_of
from bucketsum.backfill.evidence_records import ChainedReport, Closing, RowFinding, Segment
from bucketsum.backfill.table import RunItems, require
from bucketsum.clock import now
from bucketsum.errors import DamagedItem
from bucketsum.table.codec import decoded, encoded
from bucketsum.table.condition import Condition, absent, compared
from bucketsum.table.damage import each_read, intact

_CHAIN: Final = "reports"  # in place of a run's id; its items are the reports' numbers
_WATCHED: Final = "watched"  # its items are buckets
_CLOSING: Final = "closing"
_FIRST: Final = "0"  # numbers have leading zeros
_SEGMENT: Final = "segment#"
_FINDING: Final = "finding#"


class EvidenceTable(RunItems):
    """Counts, findings and reports in the table of backfills."""

    def closing(self, run_id: str) -> Closing | None:
        """The end of a run, or None while nothing of it is recorded; consistent."""
        if not (item := self._item(run_id, _CLOSING)):
            return None
        with intact("end of the run", run_id):
            closing = decoded(Closing, item)
            if bool(closing.segments) == bool(closing.uncounted):
                raise ValueError("it either counts rows, or says why not")
        return closing

    def begin_closing(self, run_id: str, closing: Closing) -> Closing:
        """Write the end of a run, unless there is one; returns the one that is there."""
        is_first = self._put(key_of(run_id, _CLOSING), closing, absent("item"))
        return closing if is_first else self.closing(run_id) or closing

    def begin_segments(self, run_id: str, closing: Closing) -> list[Segment]:
        """Write the segments of a run's accounting that are not there; returns all of them."""
        for number in range(closing.segments):
            segment = Segment(number, closing.segments, max(1, closing.shares))
            self._put(key_of(run_id, _segment_item(number)), segment, absent("item"))
        return self.segments(run_id)

    def move_closing(self, run_id: str, before: Closing, **changes: str | int | None) -> bool:
        """Change the end of a run; False if it is over, or its number is not that *before*."""
        same = compared("counted_from", "=", before.counted_from) & absent("delivered_at")
        number = before.number
        same &= absent("number") if number is None else compared("number", "=", number)
        return self._change_item(key_of(run_id, _CLOSING), changes, same)

    def segments(self, run_id: str) -> list[Segment]:
        """The segments of a run, by number; consistent."""
        return [_segment_of(item) for item in self._items(run_id, _SEGMENT)]

    def advance(self, run_id: str, before: Segment, after: Segment) -> bool:
        """Move a segment forward from *before*; False if another invocation has moved it."""
        same = compared("position", "=", before.position) & compared("done", "=", before.done)
        return self._put(key_of(run_id, _segment_item(after.number)), after, same)

    def put_finding(self, run_id: str, finding: RowFinding) -> None:
        """Write a finding, in place of an earlier one about its version."""
        self._put(key_of(run_id, f"{_FINDING}{finding.item}"), finding)

    def findings(self, run_id: str) -> Iterator[RowFinding | DamagedItem]:
        """The findings of a run, always in the same order; for a damaged one, its error.

        An attempt at a page that was killed does not count; the next may have found other rows.
        """
        attempts = {None, *(a for s in self.segments(run_id) for a in s.attempts.split())}
        for finding in each_read(_finding_of, self._items(run_id, _FINDING)):
            if isinstance(finding, DamagedItem) or finding.attempt in attempts:
                yield finding

    def reports(self, *, forward: bool = True) -> Iterator[ChainedReport | DamagedItem]:
        """The chain of reports; for a damaged one, its error."""
        return each_read(_report_of, self._items(_CHAIN, _FIRST, forward=forward))

    def report(self, number: int) -> ChainedReport | None:
        """The report with this number; consistent."""
        item = self._item(_CHAIN, _report_item(number))
        return _report_of(item) if item else None

    def report_of(self, run_id: str) -> ChainedReport | None:
        """The report of a run in the chain; None if there is none, or another took its number."""
        closing = self.closing(run_id)
        report = self.report(closing.number) if closing and closing.number else None
        return report if report and report.run == run_id else None

    def append(self, report: ChainedReport) -> bool:
        """Write a report at the end of the chain; False if another has its number."""
        return self._put(key_of(_CHAIN, _report_item(report.number)), report, absent("item"))

    def deliver(self, report: ChainedReport, **changes: str | None) -> ChainedReport:
        """Note where a report was written, or why not; its document stays as it is."""
        changed = replace(report, **changes)  # type: ignore[arg-type]  # names of texts
        self._put(key_of(_CHAIN, _report_item(report.number)), changed)
        return changed

    def watch(self, buckets: Iterable[str]) -> dict[str, str]:
        """Since when each of *buckets* is watched: from now on, unless that was noted before."""
        for bucket in buckets:
            self._put_item({**key_of(_WATCHED, bucket), "since": {"S": now()}}, absent("item"))
        return self.watched()

    def watched(self) -> dict[str, str]:
        """Since when buckets are watched for overdue verifications."""
        items = self._items(_WATCHED)
        return {item["item"]["S"]: item.get("since", {}).get("S", "") for item in items}

    def _put(
        self, key: Mapping[str, Any], value: object, condition: Condition | None = None
    ) -> bool:
        return self._put_item({**encoded(value, ""), **key}, condition)


def _segment_item(number: int) -> str:
    return f"{_SEGMENT}{number:06d}"


def _report_item(number: int) -> str:
    return f"{number:08d}"


def _segment_of(item: Mapping[str, Any]) -> Segment:
    run_id, number = item["backfill"]["S"], item["item"]["S"].removeprefix(_SEGMENT)
    with intact(f"segment {number} of the run", run_id):
        require(item, "position", "done", "balance", "listed")
        segment = decoded(Segment, item, number=int(number))
        if not 1 <= segment.shares <= segment.total:
            raise ValueError(f"it has {segment.shares} shares of {segment.total} segments")
    return segment


def _finding_of(item: Mapping[str, Any]) -> RowFinding:
    with intact("finding", item["item"]["S"]):
        return decoded(RowFinding, item)


def _report_of(item: Mapping[str, Any]) -> ChainedReport:
    number = item["item"]["S"]
    with intact("report", number):
        report = decoded(ChainedReport, item, number=int(number))
    sha256 = hashlib.sha256(report.document.encode()).hexdigest()
    if sha256 != report.sha256:
        text = f"report {report.number}: its SHA-256 is {sha256}, not {report.sha256}"
        raise DamagedItem(f"{text}: it was altered", number)
    return report
