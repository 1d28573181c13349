"""Runs that end with a report, as their enqueuer and the state machine take them there."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from tests.cli.aws_calls import EXECUTED, answered, change_calls
from tests.cli.deployed import BUCKET
from tests.support.evidence_world import PLENTY, Topic

from bucketsum.backfill import closing
from bucketsum.backfill.accounting import Accountant
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part
from bucketsum.backfill.closing import Evidence
from bucketsum.backfill.delivery import Delivery
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.report import Origin
from bucketsum.backfill.table import BackfillsTable
from bucketsum.clock import now
from bucketsum.hashing.ending import Purpose
from bucketsum_cli.aws.stack import Stack

REPORTS: Final = "my-reports"
FIRST: Final = "20261121T100000-aaaaaa"


def reporting(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A function that takes a verification to its end, and returns its name."""
    monkeypatch.setattr(closing, "DELETIONS_SECONDS", 0)
    change_calls(monkeypatch, answered(EXECUTED))
    dynamodb, s3 = stack.client("dynamodb"), stack.client("s3")
    s3.create_bucket(Bucket=REPORTS)
    name = stack.outputs["BackfillsTableName"]
    table, topic = BackfillsTable(dynamodb, name), Topic()
    publisher: Any = topic
    evidence = Evidence(
        table=table,
        accountant=Accountant(s3, stack.digests_table(), EvidenceTable(dynamodb, name)),
        delivery=Delivery(s3, publisher, "bucketsum", REPORTS, "arn:topic"),
        origin=Origin("bucketsum", "123456789012", "us-east-1"),
        enqueuers=1,
    )

    def close(run_id: str = FIRST, **part: Any) -> str:  # noqa: ANN401 - fields of Backfill
        facts = {"status": BackfillStatus.QUEUED, "rested_at": now(), **part}
        member = Backfill(
            run_id, BUCKET, started_at=now(), purpose=Purpose.VERIFY, all_versions=True,
            ended_at=now(), started_by="arn:aws:iam::1:user/jo", **facts,
        )  # fmt: skip
        table.record(member)
        table.record_plan(run_id, [Part(0, done=True)])
        for _ in range(3):
            for event in evidence.next_events(run_id, [member]):
                if event["action"] == "account":
                    evidence.accountant.count(evidence.counted(run_id), event["parts"], PLENTY)
                else:
                    evidence.report(run_id)
        return run_id

    return close
