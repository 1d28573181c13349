"""Reports of runs, as the table of runs keeps them, and the chain that they form."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.backfill.closing import whole_findings
from bucketsum.backfill.evidence_records import ChainedReport, RowFinding
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.report import findings_file, problems_in, sorted_findings
from bucketsum.errors import DamagedItem
from bucketsum.hashing.ending import Purpose
from bucketsum.table.state import ObjectState, Presence, is_repaired, state_of
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.backfill.purpose_words import LAST, VERIFICATION, PurposeWords
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import tally_text

_OPEN: Final = (ObjectState.DIFFERS, ObjectState.LOST)
_LOOKED_UP: Final = 100
_COLUMNS: Final = (
    "kind", "bucket", "key", "version", "recorded", "read", "at", "by", "storage_class", "reason",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadReport:
    """A report with its findings."""

    chained: ChainedReport
    document: Mapping[str, Any]
    findings: Sequence[RowFinding]

    @property
    def problems(self) -> dict[str, int]:
        """Kind → number of what somebody must look at."""
        return problems_in(self.document)

    def csv(self) -> str:
        """The findings as CSV."""
        text = io.StringIO()
        writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(finding.line for finding in self.findings)
        return text.getvalue()


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports of a stack."""

    stack: Stack
    words: PurposeWords

    @property
    def records(self) -> EvidenceTable:
        """The evidence in the table of runs."""
        return self.stack.evidence_table()

    def read(self, run_id: str) -> ReadReport:
        """The report of a run, of the run of a bucket's backfill, or the last one.

        Raises:
            CannotDoError: There is none yet.
            DamagedItem: Another program changed it or a finding.
        """
        run_id = self._last() if run_id == LAST else run_id
        chained = self._of(run_id)
        if chained is None:
            show, resume = self.words.line("show", run_id), self.words.line("resume", run_id)
            raise CannotDoError(
                f"there is no report of {run_id}: it is written at the end, or up to five minutes "
                f"later if an object seems lost, as its deletion may be on its way. `{show}` shows "
                f"how far it is; `{resume}` continues one that ended early"
            )
        findings = whole_findings(self.records, chained.run)
        return ReadReport(chained, json.loads(chained.document), findings)

    def has(self, run_id: str) -> bool:
        """Whether there is a report of a run."""
        return self._of(run_id) is not None

    def problems_of(self, run_id: str) -> dict[str, int]:
        """Kind → number of what somebody must look at; none while there is no report."""
        chained = self._of(run_id)
        return problems_in(json.loads(chained.document)) if chained else {}

    def _last(self) -> str:
        """The newest run that was not stopped: an older report would answer for it."""
        for run in self.stack.runs_table().backfills():
            if isinstance(run, DamagedItem):
                raise run
            if run.purpose is self.words.purpose and run.status is not BackfillStatus.STOPPED:
                return run.backfill_id
        return LAST

    def _of(self, run_id: str) -> ChainedReport | None:
        backfill = self.stack.runs_table().backfill(run_id)
        return self.records.report_of(backfill.run_id if backfill else run_id)

    def places(self) -> dict[str, str]:
        """Run → where its report is."""
        whole = (report for report in self.records.reports() if not isinstance(report, DamagedItem))
        return {report.run: report.place or "table" for report in whole}

    def breaks(self) -> Iterator[str]:
        """Follow the chain of digests, in the table and in the bucket, and say where it breaks."""
        previous: ChainedReport | None = None
        for number, report in enumerate(self.records.reports(), 1):
            if isinstance(report, DamagedItem):
                yield str(report)
                return
            if report.number != number:
                yield f"report {number} is missing: {report.number} follows {number - 1}"
                return
            yield from (f"report {number} of {report.run}: {text}"
                        for text in self._breaks_at(report, previous))  # fmt: skip
            previous = report
        yield from self._missing_ends(previous.number if previous else 0)

    def _breaks_at(self, report: ChainedReport, previous: ChainedReport | None) -> Iterator[str]:
        before = previous.sha256 if previous else None
        try:
            document = json.loads(report.document)
            named, findings = document["previous_sha256"], document["findings_sha256"]
        except (ValueError, KeyError, TypeError):
            yield "it is not a report"
            return
        if named != before:
            yield f"it follows {named}, but the report before it is {before}"
        rows = self.records.findings(report.run)
        listed = [row for row in rows if not isinstance(row, DamagedItem)]
        if _sha256(findings_file(sorted_findings(listed))) != findings:
            yield "its findings were altered"
        for name, sha256 in (("report.json", report.sha256), ("findings.jsonl", findings)):
            yield from self._breaks_in_bucket(report.place, name, sha256)

    def _breaks_in_bucket(self, place: str | None, name: str, sha256: str) -> Iterator[str]:
        if place is None:
            return
        file = S3Place.of(f"{place}{name}")
        try:
            answer = self.stack.client("s3").get_object(Bucket=file.bucket, Key=file.key)
        except ClientError as error:
            yield f"{place}{name} cannot be read: {error.response['Error']['Code']}"
            return
        if (actual := _sha256(answer["Body"].read())) != sha256:
            yield f"{place}{name} has the SHA-256 {actual}, not {sha256}"

    def _missing_ends(self, last: int) -> Iterator[str]:
        """Reports that runs have, and the chain has not: its end was cut off."""
        whole = (
            run for run in self.stack.runs_table().backfills() if not isinstance(run, DamagedItem)
        )
        for run_id in dict.fromkeys(run.run_id for run in whole if run.rested_at):
            closing = self.records.closing(run_id)
            if closing and closing.delivered_at and (closing.number or 0) > last:
                yield f"report {closing.number} of {run_id} is missing at the end of the chain"


def open_findings(stack: Stack, recorded: Iterable[Backfill | DamagedItem]) -> dict[str, str]:
    """Findings of each bucket's last verification, and of those of its parts since, still open.

    Of the *recorded* runs, which begin with the newest, one without a report counts so far.
    """
    evidence, open_in = stack.evidence_table(), dict[str, str]()
    reported: set[str] = set()
    for run in recorded:
        if isinstance(run, DamagedItem) or run.purpose is not Purpose.VERIFY:
            continue
        if run.bucket in reported:
            continue
        closing = evidence.closing(run.run_id)
        if closing and closing.number:
            if not run.is_partial:  # as a self-test is, which looks at one key
                reported.add(run.bucket)
            kinds = Counter(_open_kinds(stack, evidence, run))
            counts = tally_text({kind.value: kinds[kind] for kind in _OPEN})
            text = f"{counts}: `{VERIFICATION.line('report', run.run_id)}`" if counts else ""
        else:
            differs = stack.runs_table().tally(run.backfill_id)[0].differs
            show = VERIFICATION.line("show", run.backfill_id)
            text = f"{tally_text({'differs': differs})} so far: `{show}`" if differs else ""
        if text:
            open_in.setdefault(run.bucket, text)
    return open_in


def _open_kinds(stack: Stack, evidence: EvidenceTable, run: Backfill) -> Iterator[str]:
    """Yield the kind of each finding that is still so; only the first are looked up."""
    digests, looked_up = stack.digests_table(), 0
    for finding in evidence.findings(run.run_id):
        if isinstance(finding, DamagedItem) or finding.bucket != run.bucket:
            continue
        if finding.kind not in _OPEN:
            continue
        looked_up += 1
        rows = digests.versions_of(finding.bucket, finding.key) if looked_up <= _LOOKED_UP else []
        presence = Presence.ABSENT if finding.kind == ObjectState.LOST else Presence.UNKNOWN
        states = [
            state_of(row, presence, is_repaired=is_repaired(row, rows))
            for row in rows
            if row.entry == finding.version
        ]
        if looked_up > _LOOKED_UP or finding.kind in states:
            yield finding.kind


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
