"""A report on the terminal, and as a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Annotated, Any, Final
from xml.etree import ElementTree as ET

from bucketsum.backfill.backfill_records import Backfill
from bucketsum.backfill.balance import PROBLEMS
from bucketsum.backfill.evidence_records import RowFinding
from bucketsum.backfill.report import DONE, NEXT_STEPS, sorted_findings, standing_text, subject_of
from bucketsum.errors import DamagedItem
from bucketsum_cli.backfill.reports import ReadReport, Reports
from bucketsum_cli.html.markup import coded, definitions, document, element, table
from bucketsum_cli.terminal.columns import Cell, Column
from bucketsum_cli.terminal.documents import document_of
from bucketsum_cli.terminal.formatting import MISSING, size_text
from bucketsum_cli.terminal.output import say
from bucketsum_cli.terminal.tables import print_table

_SHOWN: Final = 20
_BALANCE: Final = (
    Column("bucket", shrinks=True),
    Column("rows are"),
    Column("number", right=True),
    Column("size", right=True),
)
_BALANCE_HEADS: Final = tuple((c.title, "number" if c.right else "word") for c in _BALANCE)
_FINDING_HEADS: Final = tuple(
    (name, "text") for name in ("object", "version", "recorded", "read", "at", "reason")
)


@dataclass(frozen=True, slots=True)
class BalanceLine:
    """Rows of a bucket in one standing."""

    standing: Annotated[str, "How its rows stand at the end of the run."]
    rule: Annotated[str | None, "Of rows that are not selected: what left them out."]
    rows: Annotated[int, "Number of rows."]
    bytes: Annotated[int, "Size of their objects."]
    storage_class: Annotated[
        str | None, "That of their objects, as the run has listed them; null if it did not."
    ] = None


@dataclass(frozen=True, slots=True)
class BucketReport:
    """One bucket of a report."""

    bucket: str
    backfill: Annotated[str, "Name of its backfill or verification."]
    state: Annotated[str, "`done`, `incomplete`, `failed` or `stopped`."]
    failure: Annotated[str | None, "Why it did not go on."]
    queued_objects: Annotated[int, "Objects that were listed and selected."]
    rows: Annotated[int | None, "The sum of its balance; null if rows were not counted."]
    balance: Annotated[Sequence[BalanceLine] | None, "Each row once."]


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """The report of a run, and its place in the chain."""

    run: Annotated[str, "Name of the run."]
    subject: Annotated[str, "The report in a line, as in its message."]
    stack: Annotated[str, "Name of the stack."]
    account: Annotated[str, "Number of the account."]
    region: Annotated[str, "AWS Region of the stack."]
    version: Annotated[str, "Version of bucketsum."]
    purpose: Annotated[str, "`record` or `verify`."]
    started_by: Annotated[str | None, "ARN of the caller, or `schedule`."]
    started_at: Annotated[str, "When it was started."]
    ended_at: Annotated[str, "When its last object was done."]
    rows: Annotated[int | None, "Rows of all its buckets."]
    uncounted: Annotated[str | None, "Why rows were not counted."]
    buckets: Annotated[Sequence[BucketReport], "Each bucket of the run."]
    counts: Annotated[Mapping[str, int], "Number of findings by kind."]
    findings: Annotated[Sequence[RowFinding], "Its findings, at most 10,000 of a kind."]
    number: Annotated[int, "Its number in the chain."]
    sha256: Annotated[str, "SHA-256 of its file, which the next report holds."]
    previous_sha256: Annotated[str | None, "SHA-256 of the report before it."]
    place: Annotated[str | None, "URL of its folder in `ReportBucket`."]
    notified_at: Annotated[str | None, "When `ReportTopicArn` took its message."]
    not_delivered: Annotated[str | None, "Why it could not be written or sent."]


def report_document(read: ReadReport) -> ReportDocument:
    """Return the report as a document."""
    buckets = []
    for bucket in read.document["buckets"]:
        lines = bucket["balance"]
        balance = None if lines is None else [BalanceLine(**line) for line in lines]
        buckets.append(document_of(BucketReport, bucket, balance=balance))
    return document_of(
        ReportDocument,
        read.chained,
        read.document,
        subject=subject_of(read.document),
        buckets=buckets,
        counts=read.document["findings"],
        findings=read.findings,
        not_delivered=read.chained.failure,
    )


def print_report(read: ReadReport) -> None:
    """Show the balance, the first findings and the next steps."""
    say(subject_of(read.document))
    for name, text in _facts(read).items():
        say(f"{name:<8} {text}")
    print_table(_BALANCE, (_cells(*line) for line in _lines(read.document)))
    for kind, number in read.document["findings"].items():
        named = [finding for finding in read.findings if finding.kind == kind]
        if not number:
            continue
        say(f"{kind}: {NEXT_STEPS[kind]}")
        for finding in named[:_SHOWN]:
            reason = f": {finding.why}" if finding.why else ""
            say(f"{finding.bucket}/{finding.key} {finding.version}{reason}", indent=2)
        if number > _SHOWN:
            say(f"… {number:,} in all; --csv lists up to 10,000", indent=2)


def print_findings(reports: Reports, backfill: Backfill) -> None:
    """Show the first findings of one bucket that somebody must look at, and where all are."""
    findings = reports.records.findings(backfill.run_id)
    bad = (f for f in findings if not isinstance(f, DamagedItem) and f.kind in PROBLEMS)
    named = sorted_findings(f for f in bad if f.bucket == backfill.bucket)
    for finding in named[:_SHOWN]:
        say(f"{finding.kind}: {finding.bucket}/{finding.key} {finding.version}")
    if named:
        say(f"`{reports.words.line('report', backfill.run_id)}` has all, and what to do")


def _facts(read: ReadReport) -> dict[str, str]:
    document, chained = read.document, read.chained
    facts = {
        "run": f"{chained.run}, report {chained.number}",
        "stack": f"{document['stack']}, {document['region']}, account {document['account']}, "
        f"bucketsum {document['version']}",
        "started": f"{document['started_at']} by {document['started_by'] or 'somebody'}",
        "ended": document["ended_at"] or MISSING,
        "report": chained.place or "in the table of runs",
        "SHA-256": f"{chained.sha256} after {chained.previous_sha256 or 'none'}",
    }
    if chained.failure:
        facts["failure"] = chained.failure
    facts["rows"] = document["uncounted"] or f"{document['rows']:,}, each counted once"
    facts |= {bucket["bucket"]: ": ".join(filter(None, (bucket["state"], bucket["failure"])))
              for bucket in document["buckets"] if bucket["state"] != DONE}  # fmt: skip
    return facts


def _lines(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for bucket in document["buckets"]:
        for line in bucket["balance"] or ():
            yield bucket["bucket"], line


def _cells(bucket: str, line: Mapping[str, Any]) -> list[str | Cell]:
    standing = standing_text(line)
    is_bad = line["standing"] in PROBLEMS
    return [
        bucket,
        Cell(standing, "red") if is_bad else standing,
        f"{line['rows']:,}",
        size_text(line["bytes"]),
    ]


def report_page(read: ReadReport) -> str:
    """The report as a page that needs no other file."""
    subject = subject_of(read.document)
    rows = ([_text(cell) for cell in _cells(*line)] for line in _lines(read.document))
    sections = [element("h2", "Balance"), _figures("Balance", _BALANCE_HEADS, rows)]
    for kind in dict.fromkeys(finding.kind for finding in read.findings):
        sections += _section(read, kind)
    kicker = element("p", f"bucketsum · {read.document['stack']}", class_="kicker")
    header = element("header", kicker, element("h1", subject), definitions(_facts(read), "facts"))
    return document(subject, header, element("main", *sections))


def _section(read: ReadReport, kind: str) -> list[ET.Element]:
    rows = [
        (f"{f.bucket}/{f.key}", f.version, f.recorded, f.read, f.at, f.why if not f.read else "")
        for f in read.findings
        if f.kind == kind
    ]
    filled = [any(column) for column in zip(*rows, strict=True)]
    heads = tuple(compress(_FINDING_HEADS, filled))
    number = f"{kind}: {read.document['findings'][kind]:,}"
    step = element("p", *coded(NEXT_STEPS[kind]))
    cells = [tuple(compress(row, filled)) for row in rows]
    return [element("h2", number), step, _figures(kind, heads, cells)]


def _figures(
    name: str, heads: Sequence[tuple[str, str]], rows: Iterable[Sequence[str | None]]
) -> ET.Element:
    body = element("tbody")
    for row in rows:
        cells = zip(row, heads, strict=True)
        columns = (element("td", text or "", class_=kind) for text, (_, kind) in cells)
        body.append(element("tr", *columns))
    return table(name, "figures", heads, [body])


def _text(cell: str | Cell) -> str:
    return cell.text if isinstance(cell, Cell) else cell
