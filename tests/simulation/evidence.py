"""Runs and their reports, with killed, repeated and interleaved invocations, all by one seed.

The product's code works on tables in memory and on S3's answers to HEAD. Between two of its calls
an invocation may die, or another one may do its work.
"""

import hashlib
import json
from collections import Counter
from contextlib import ExitStack, nullcontext, suppress
from random import Random
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.dynamodb_model import BACKFILLS, DIGESTS
from tests.simulation.evidence_tables import Tables, item_key
from tests.simulation.schedule import Killed

from bucketsum.backfill import accounting, closing, run
from bucketsum.backfill.accounting import Accountant
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part
from bucketsum.backfill.closing import Evidence
from bucketsum.backfill.delivery import Delivery
from bucketsum.backfill.evidence_records import ChainedReport
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.listed_versions import ListedVersion, packed
from bucketsum.backfill.report import Origin
from bucketsum.backfill.table import BackfillsTable
from bucketsum.events.object_events import DeletedBy, ObjectCreated
from bucketsum.hashing.ending import Purpose
from bucketsum.invocation.deadline import Deadline
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.items import item_of
from bucketsum.table.row_parts import Deletion, Difference, Verified
from bucketsum.table.rows import Row, Status

OLD, DUE, YOUNG = "2026-08-01T10:00:00Z", "2026-09-01T10:00:00Z", "2026-11-01T10:00:00Z"
BEGUN, SINCE = "2026-11-21T10:00:00Z", "2026-11-21T10:05:00Z"
BUCKETS: Final = ("photos", "scans", "tapes")
REPORTS: Final = "reports"
ROTTEN: Final = Difference("sha1:" + "a" * 40, SINCE)
DELETION: Final = Deletion(SINCE, DeletedBy.REQUEST, "0F".ljust(32, "0"))
STEPS_MAX: Final = 400

LIVES: Final[dict[str, tuple[dict[str, Any], str | None]]] = {
    "verified": ({"verified": Verified(SINCE, 1)}, "STANDARD"),
    "hashed": ({"recorded_at": SINCE}, "STANDARD"),
    "not selected": ({"recorded_at": YOUNG}, "STANDARD"),
    "of another class": ({}, "STANDARD_IA"),
    "differs": ({"difference": ROTTEN}, "STANDARD"),
    "archived": ({}, "DEEP_ARCHIVE"),
    "lost": ({}, None),
    "young, lost": ({"recorded_at": YOUNG}, None),
    "deleted": ({"deletion": DELETION}, None),
    "deleted late": ({}, None),
    "unreadable": ({"status": Status.UNREADABLE, "sha1": None, "reason": "denied"}, "STANDARD"),
    "failed": ({}, "STANDARD"),
}
"""Life of a version → its row, and its storage class while it exists."""
_SAME: Final = {
    "of another class": "not selected", "deleted late": "lost", "differs, repaired": "repaired",
    "lost, repaired": "repaired",
}  # fmt: skip
_UNREAD: Final = (
    "of another class", "archived", "lost", "lost, repaired", "deleted late", "failed",
)  # fmt: skip
"""Lives that a run which ended early says nothing about."""


class Simulation:
    """A stack with some buckets, and some runs at once."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - a schedule, not a secret
        self.kills, self.depth = self.random.choice((0.0, 0.01, 0.05)), 0
        self.others = self.random.choice((0.0, 0.1))
        self.tables = Tables(self.random, lambda: self._interrupt())  # noqa: PLW0108 - patched while it is built
        client: Any = self.tables
        self.runs = BackfillsTable(client, BACKFILLS)
        self.records = EvidenceTable(client, BACKFILLS)
        self.violations: list[str] = []
        self.checked = 0
        """Number of the last write that `_check_ends` has seen."""
        self.lives: dict[str, list[tuple[str, Row]]] = {bucket: [] for bucket in BUCKETS}
        self.late: list[Row] = []
        self.evidence = Evidence(
            self.runs,
            Accountant(client, DigestsTable(client, DIGESTS), self.records),
            Delivery(client, client, "stack", REPORTS),
            Origin("stack", "123456789012", "us-east-1"),
            enqueuers=2,
        )
        self.open = [f"2026112{number}T100000" for number in range(self.random.randint(1, 3))]
        self._populate()
        for run_id in self.open:
            for bucket in self.random.sample(BUCKETS, self.random.randint(1, len(BUCKETS))):
                member = Backfill(
                    f"{run_id}-{bucket}", bucket, BackfillStatus.RUNNING, BEGUN, run=run_id,
                    all_versions=True, purpose=Purpose.VERIFY, older_than="2026-10-01T10:00:00Z",
                    storage_classes=("STANDARD", "DEEP_ARCHIVE"), planned_at=BEGUN, part_count=1,
                )  # fmt: skip
                self.runs.record(member)
                self.runs.record_plan(member.backfill_id, [Part(0, done=True, pages=1)])
                self.runs.record(member)
                if self.random.random() < 0.5:
                    self._list(member)

    def _list(self, member: Backfill) -> None:
        """Keep a listing of all that exists, which names what is lost besides."""
        versions = packed([
            (
                ObjectCreated(member.bucket, row.key, row.entry, "e", 0, "", ""),
                ListedVersion(self.tables.classes[member.bucket, row.key, row.entry], True),
            )
            for _, row in self.lives[member.bucket]
            if (member.bucket, row.key, row.entry) in self.tables.classes
        ])  # fmt: skip
        self.runs.keep_listed(member.backfill_id, Part(0), versions)

    def _populate(self) -> None:
        for number in range(self.random.randint(1, 25)):
            bucket, life = self.random.choice(BUCKETS), self.random.choice([*LIVES])
            row = self._put(bucket, life, number)
            if life in ("differs", "lost") and self.random.random() < 0.3:
                self.lives[bucket][-1] = (f"{life}, repaired", row)
                self._put(bucket, "verified", number, "1")
            if life == "deleted late":
                self.late.append(row)
            if self.random.random() < 0.2:  # a member stands and falls with its archive
                member = {"member": {"S": "a"}, "compressed_bytes": {"N": "1"}}
                key = row.bucket + "/" + row.key, f"{row.entry}!{number}"
                self.tables.put(DIGESTS, key, {**item_of(row), **item_key(key), **member})

    def _put(self, bucket: str, life: str, number: int, sequencer: str = "0") -> Row:
        facts, storage_class = LIVES[life]
        known: dict[str, Any] = {
            "status": Status.HASHED, "sha1": f"{number:040x}", "etag": "e", "recorded_at": DUE,
            "arrived_at": OLD if sequencer == "0" else DUE, "sequencer": sequencer.ljust(32, "0"),
            "size_bytes": number,
        }  # fmt: skip
        key = "k" * self.random.randint(1, 9) + str(number)
        if sequencer != "0":
            key = self.lives[bucket][-1][1].key
        row = Row(bucket=bucket, key=key, entry=f"v{sequencer}", **{**known, **facts})
        self.lives[bucket].append((life, row))
        item = item_of(row)
        self.tables.put(DIGESTS, (item["object"]["S"], item["entry"]["S"]), item)
        if storage_class:
            self.tables.classes[bucket, key, row.entry] = storage_class
        return row

    def _interrupt(self) -> None:
        """Die, or let another invocation do its work first."""
        if self.random.random() < self.kills:
            raise Killed
        if self.depth == 1 and self.random.random() < self.others:
            with suppress(Killed):
                self.step()

    def step(self) -> None:
        """Take a step of some run, as an execution of it does."""
        if not self.open:
            return
        run_id = self.random.choice(self.open)
        self.depth += 1
        try:
            next_step = run.next_step(run_id, self.runs, self.evidence, lambda _: [])
            for event in next_step.events:
                for _ in range(self.random.choice((1, 1, 2))):
                    self._invoke(event)
            if not next_step.events and run_id in self.open:
                self.open.remove(run_id)
        finally:
            self.depth -= 1
        self._check_ends()

    def _invoke(self, event: dict[str, Any]) -> None:
        match event["action"]:
            case "settle":
                self._settle(event["backfill_id"])
            case "account":
                left = iter((900.0,) * self.random.randint(1, 9))
                deadline = Deadline(lambda: next(left, 0.0))
                self.evidence.accountant.count(
                    self.evidence.counted(event["backfill_id"]), event["parts"], deadline
                )
            case "report":
                self.evidence.report(event["backfill_id"])

    def _settle(self, backfill_id: str) -> None:
        """An execution that waits; or it fails, and the bucket with it."""
        backfill = self.runs.backfill(backfill_id)
        assert backfill
        if self.random.random() < 0.1 and not backfill.rested_at:
            self.runs.fail(backfill, "its execution failed")
        elif not self.runs.end(backfill_id, BackfillStatus.QUEUED, SINCE):
            self.runs.rest(backfill_id)
        if self.late and self.random.random() < 0.5:
            row = self.late.pop()
            item = {**item_of(row), "deleted_at": {"S": SINCE}, "deleted_by": {"S": "request"},
                    "deletion_sequencer": {"S": DELETION.sequencer}}  # fmt: skip
            self.tables.put(DIGESTS, (f"{row.bucket}/{row.key}", row.entry), item)

    def _reports(self) -> list[ChainedReport]:
        return [report for report in self.records.reports() if isinstance(report, ChainedReport)]

    def _check_ends(self) -> None:
        """No report comes before the end of its run."""
        if self.tables.writes == self.checked:
            return
        self.checked = self.tables.writes
        for report in self._reports():
            for member in self.runs.members(report.run):
                if not (member.rested_at or member.status is BackfillStatus.FAILED):
                    self.violations.append(f"{report.run} is reported before {member.bucket}")
            if not all(segment.done for segment in self.records.segments(report.run)):
                self.violations.append(f"{report.run} is reported, but not counted")

    def check(self, runs: list[str]) -> None:
        """At the end: one report for each run, a whole chain, and balances without a remainder."""
        reports, before = self._reports(), None
        if sorted(report.run for report in reports) != runs:
            self.violations.append(f"reports of {[report.run for report in reports]}, not {runs}")
        for number, report in enumerate(reports, 1):
            if (report.number, report.previous_sha256) != (number, before):
                self.violations.append(f"report {report.number} does not follow {number - 1}")
            before = hashlib.sha256(report.document.encode()).hexdigest()
            if self.tables.files.get(f"stack/{report.run}/report.json") != report.document.encode():
                self.violations.append(f"the file of {report.run} is another")
            document = json.loads(report.document)
            findings = self.records.findings(report.run)
            named = Counter(finding.kind for finding in findings)  # type: ignore[union-attr] # not damaged
            counted = Counter(document["findings"])
            counted["deleted"] = min(counted["deleted"], named["deleted"])  # others name some
            if named != +counted:
                self.violations.append(f"{report.run} names {named}, counted {counted}")
            for bucket in document["buckets"]:
                self._check_balance(bucket)

    def _check_balance(self, bucket: dict[str, Any]) -> None:
        counted: Counter[str] = Counter()
        for line in bucket["balance"]:
            counted[line["standing"]] += line["rows"]
        lives = [life for life, _ in self.lives[bucket["bucket"]]]
        late = lives.count("deleted late")
        unread = _UNREAD if bucket["state"] == "failed" else ()
        expected = Counter("not selected" if life in unread else _SAME.get(life, life)
                           for life in lives)  # fmt: skip
        if "young, lost" in expected:
            is_listed = bool([*self.runs.listed(bucket["backfill"], Part(0))])
            is_seen = is_listed and bucket["state"] != "failed"
            expected["lost" if is_seen else "not selected"] += expected.pop("young, lost")
        found_late = counted["deleted"] - expected["deleted"]
        if 0 < found_late <= late:  # a deletion that was recorded meanwhile
            counted["deleted"] -= found_late
            counted["not selected" if unread else "lost"] += found_late
        if +counted != +expected:
            self.violations.append(f"{bucket['bucket']} has {expected}, counted {counted}")


def simulate_evidence(seed: int) -> list[str]:
    """The promises that a seed breaks."""
    with ExitStack() as patches:
        for target, name, value in (
            (accounting, "PAGE_ROWS", 3), (closing, "SEGMENT_ROWS", 6),
            (closing, "DELETIONS_SECONDS", 0),
            (accounting, "ThreadPoolExecutor", lambda _: nullcontext(SimpleNamespace(map=map))),
            (closing, "SHARE_PAGES", 10 if seed % 4 else 1),
        ):  # fmt: skip
            patches.enter_context(patch.object(target, name, value))
        simulation = _built(seed)
        runs, steps = sorted(simulation.open), 0
        while simulation.open and not simulation.violations:
            steps += 1
            if steps > STEPS_MAX:
                return [f"{simulation.open} do not end"]
            with suppress(Killed):
                simulation.step()
        simulation.kills = 0.0
        if not simulation.violations:
            simulation.check(runs)
        return simulation.violations


def _built(seed: int) -> Simulation:
    """A simulation before its first step: nothing dies while it is built."""
    with patch.object(Simulation, "_interrupt", lambda _: None):
        return Simulation(seed)
