"""The report of a run: what it did, the balance of its rows, and its findings."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from bucketsum import __version__, clock
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part, Tally, is_done
from bucketsum.backfill.balance import FINDINGS, PROBLEMS, Balance, Standing
from bucketsum.backfill.evidence_records import Closing, RowFinding
from bucketsum.hashing.ending import Purpose

FORMAT: Final = 1
DONE: Final = "done"
_SHOWN: Final = 20
_DELETIONS_LATE: Final = timedelta(hours=1)
"""So much later than its row was counted, a deletion may be recorded."""
_UNFINISHED: Final = "unfinished"
_SUBJECT_MAX: Final = 100
"""[A] SNS: characters of a subject."""
_SELECTION: Final = (
    "prefix", "all_versions", "inventory", "limit", "archived", "older_than", "missing", "sample",
    "storage_classes",
)  # fmt: skip

_REPAIR: Final = "`bucketsum repair KEY --bucket BUCKET`"
NEXT_STEPS: Final[Mapping[str, str]] = {
    Standing.DIFFERS: f"{_REPAIR} puts a copy that has the recorded digest at the key again",
    Standing.LOST: "S3 has no such version, and no deletion was reported; if one was on its way, "
    f"the next report says so. CloudTrail may say who; {_REPAIR} brings back a copy",
    Standing.UNREADABLE: "grant what the reason says is missing, and verify again",
    Standing.FAILED: "`bucketsum failures` shows the reasons; `bucketsum redrive` repeats",
    Standing.DAMAGED: "another program changed these rows; `bucketsum show KEY` says how",
    Standing.DELETED: "deletions since the last report; look whether you expect them",
    Standing.REPAIRED: "a newer version has the recorded digest; the old one may be deleted",
}
"""What to do, by the kind of a finding."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The stack that writes a report.

    Attributes:
        account: Number of its account.
    """

    stack: str
    account: str
    region: str


@dataclass(frozen=True, slots=True)
class BucketRun:
    """The records of one bucket's backfill."""

    backfill: Backfill
    parts: Sequence[Part]
    tally: Tally

    @property
    def state(self) -> str:
        """The state in a word; see `verify show`."""
        if self.backfill.status is not BackfillStatus.QUEUED:
            return self.backfill.status.value
        return DONE if is_done(self.backfill, self.parts, self.tally) else "incomplete"

    def document(self, balance: Balance | None) -> dict[str, Any]:
        """Its part of the report; without a *balance*, its rows are not counted."""
        backfill = self.backfill
        lines = None if balance is None else list(balance.lines(backfill.bucket))
        return {
            "bucket": backfill.bucket,
            "backfill": backfill.backfill_id,
            "state": self.state,
            "failure": backfill.failure,
            "selection": {name: getattr(backfill, name) for name in _SELECTION},
            "queued_objects": sum(part.objects for part in self.parts),
            "queued_bytes": sum(part.size_bytes for part in self.parts),
            "archived_objects": sum(part.archived for part in self.parts),
            "outcomes": {n: v for n, v in asdict(self.tally).items() if n != "object_hashes"},
            "balance": lines,
            "rows": None if lines is None else sum(line["rows"] for line in lines),
        }


def document_of(
    origin: Origin,
    runs: Sequence[BucketRun],
    closing: Closing,
    balance: Balance,
    findings: Sequence[RowFinding],
    reported_at: str,
) -> dict[str, Any]:
    """The report without its place in the chain."""
    first = runs[0].backfill
    counted = None if closing.uncounted else balance
    numbers = {kind.value: balance.number(kind) for kind in FINDINGS}
    verified = balance.number(Standing.VERIFIED)  # a message that came twice is counted twice
    if counted is None:  # then the run's own counts are all that is known
        for kind in (Standing.DIFFERS, Standing.UNREADABLE, Standing.FAILED):
            numbers[kind.value] = sum(getattr(run.tally, kind.value) for run in runs)
    lines = findings_file(findings)
    counted_from = datetime.fromisoformat(closing.counted_from)
    return {
        "format": FORMAT,
        **asdict(origin),
        "version": __version__,
        "run": first.run_id,
        "purpose": first.purpose.value,
        "started_by": first.started_by,
        "started_at": min(run.backfill.started_at for run in runs),
        "ended_at": max(run.backfill.rested_at or run.backfill.ended_at or "" for run in runs),
        "counted_from": closing.counted_from,
        "deletions_until": clock.text_of(counted_from - _DELETIONS_LATE),
        "reported_at": reported_at,
        "buckets": [run.document(counted) for run in runs],
        "rows": None if counted is None else balance.number(),
        "uncounted": closing.uncounted,
        "verified": verified if counted else sum(run.tally.verified for run in runs),
        "hashed": sum(run.tally.hashed for run in runs),
        "findings": numbers,
        "findings_listed": dict(Counter(finding.kind for finding in findings)),
        "findings_sha256": hashlib.sha256(lines).hexdigest(),
    }


def standing_text(line: Mapping[str, Any]) -> str:
    """The standing of a *line* of a balance, with its rule and its storage class."""
    rule = f" ({line['rule']})" if line["rule"] else ""
    storage_class = line.get("storage_class")  # absent from reports of earlier releases
    return f"{line['standing']}{rule}" + (f", {storage_class}" if storage_class else "")


def sorted_findings(findings: Iterable[RowFinding]) -> list[RowFinding]:
    """Findings by kind, the worst first, and by name."""
    order = [kind.value for kind in FINDINGS]
    return sorted(findings, key=lambda f: (order.index(f.kind), f.bucket, f.key, f.version))


def findings_file(findings: Iterable[RowFinding]) -> bytes:
    """`findings.jsonl`: a line for each finding that is listed."""
    texts = (json.dumps(finding.line, ensure_ascii=False) for finding in findings)
    return "".join(f"{text}\n" for text in texts).encode()


def problems_in(document: Mapping[str, Any]) -> dict[str, int]:
    """Kind → number of what somebody must look at, and runs that did not end well."""
    numbers = {kind.value: document["findings"].get(kind.value, 0) for kind in PROBLEMS}
    numbers["failed"] = max(
        numbers["failed"], sum(bucket["outcomes"]["failed"] for bucket in document["buckets"])
    )
    unfinished = sum(bucket["state"] != DONE for bucket in document["buckets"])
    return {
        kind: number for kind, number in (numbers | {_UNFINISHED: unfinished}).items() if number
    }


def subject_of(document: Mapping[str, Any]) -> str:
    """The subject of its message: all is well, or what is not."""
    verifies = document["purpose"] == Purpose.VERIFY
    done = document["verified" if verifies else "hashed"]
    what = f"bucketsum: {_counted(done, 'object')} {'verified' if verifies else 'hashed'}"
    problems = [_problem(kind, number) for kind, number in problems_in(document).items()]
    repaired = document["findings"].get(Standing.REPAIRED, 0)
    well = ["none differs"] if verifies and done else ["nothing was read"] if not done else []
    well = [_problem(Standing.REPAIRED, repaired)] if repaired else well
    return ", ".join([what, *(problems or well)])[:_SUBJECT_MAX]


def _problem(kind: str, number: int) -> str:
    if kind == Standing.DIFFERS and number != 1:
        return f"{number:,} differ"
    return f"{_counted(number, 'bucket')} {kind}" if kind == _UNFINISHED else f"{number:,} {kind}"


def _counted(number: int, name: str) -> str:
    return f"{number:,} {name}" + "s" * (number != 1)


def text_of(document: Mapping[str, Any], findings: Sequence[RowFinding], place: str | None) -> str:
    """The text of its message: the balance, the first findings, and what to do."""
    verb = "verify" if document["purpose"] == Purpose.VERIFY else "backfill"
    lines = [
        subject_of(document),
        f"stack {document['stack']}, {document['region']}, account {document['account']}",
        f"started {document['started_at']} by {document['started_by'] or 'somebody'}",
        f"report: {place or 'in the table of runs'}; `bucketsum {verb} report {document['run']}`",
    ]
    for bucket in document["buckets"]:
        lines += ["", f"{bucket['bucket']}: {bucket['state']}"]
        lines += [
            f"  {failure}" for failure in (bucket["failure"], document["uncounted"]) if failure
        ]
        for line in bucket["balance"] or ():
            lines.append(f"  {line['rows']:>14,} {standing_text(line)}")
    for kind in dict.fromkeys(finding.kind for finding in findings):
        named = [finding for finding in findings if finding.kind == kind]
        lines += ["", f"{kind}: {NEXT_STEPS[kind]}"]
        lines += [f"  {_in_a_line(finding)}" for finding in named[:_SHOWN]]
        if document["findings"][kind] > _SHOWN:
            lines.append(f"  … {document['findings'][kind]:,} in all")
    return "\n".join(lines)


def _in_a_line(finding: RowFinding) -> str:
    """*finding*, with its reason; a key may have characters that would begin another line."""
    reason = f": {finding.why}" if finding.why else ""
    text = f"{finding.bucket}/{finding.key} {finding.version}{reason}"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
