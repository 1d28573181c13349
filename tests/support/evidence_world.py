"""Buckets, rows and runs whose evidence the tests look at."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from tests.support.clients import shared_client
from tests.support.moto_state import set_up
from tests.support.sam_template import create_table

from bucketsum.backfill.accounting import Accountant
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part, Tally
from bucketsum.backfill.closing import Evidence
from bucketsum.backfill.delivery import Delivery
from bucketsum.backfill.enqueue import Enqueuer
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.listing import page_of_keys
from bucketsum.backfill.report import Origin
from bucketsum.backfill.table import BackfillsTable
from bucketsum.hashing.ending import Purpose
from bucketsum.invocation.deadline import Deadline
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.items import item_of
from bucketsum.table.rows import Row, Status

BUCKET: Final = "photos"
REPORTS: Final = "reports"
RUN: Final = "20261121T100000"
BEFORE: Final = "2026-11-20T10:00:00.000Z"
BEGUN: Final = "2026-11-21T10:00:00.000Z"
SINCE: Final = "2026-11-21T10:05:00.000Z"
PLENTY: Final = Deadline(lambda: 900.0)


class Topic:
    """SNS, which keeps messages, or refuses them."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.error: Exception | None = None

    def publish(self, **message: Any) -> None:  # noqa: ANN401 - botocore's
        """Take a message."""
        if self.error:
            raise self.error
        self.messages.append(message)


def deploy() -> None:
    """Create the tables and the buckets."""
    for resource, name in (("BackfillsTable", "backfills"), ("DigestsTable", "digests")):
        create_table(shared_client("dynamodb"), resource, name)
    s3 = shared_client("s3")
    for bucket in (BUCKET, REPORTS):
        s3.create_bucket(Bucket=bucket)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})


class EvidenceWorld:
    """A bucket with versions, its rows, and the runs of its stack."""

    def __init__(self) -> None:
        set_up(deploy)
        self.s3 = shared_client("s3")
        dynamodb = shared_client("dynamodb")
        self.table = BackfillsTable(dynamodb, "backfills")
        self.digests = DigestsTable(dynamodb, "digests")
        self.records = EvidenceTable(dynamodb, "backfills")
        self.topic = Topic()

    def evidence(self, bucket: str = REPORTS) -> Evidence:
        """The evidence as an invocation sees it."""
        topic: Any = self.topic
        return Evidence(
            table=self.table,
            accountant=Accountant(self.s3, self.digests, self.records),
            delivery=Delivery(self.s3, topic, "bucketsum", bucket, "arn:topic"),
            origin=Origin("bucketsum", "123456789012", "us-east-1"),
            enqueuers=1,
        )

    def put(self, key: str, storage_class: str = "STANDARD", **facts: Any) -> Row:  # noqa: ANN401 - fields of Row
        """Put an object and record its row."""
        content = key.encode()
        answer = self.s3.put_object(
            Bucket=BUCKET,
            Key=key,
            Body=content,
            StorageClass=storage_class,
        )
        known: dict[str, Any] = {
            "status": Status.HASHED,
            "sha1": hashlib.sha1(content).hexdigest(),
            "etag": answer["ETag"].strip('"'),
            "recorded_at": BEFORE,
            "arrived_at": BEFORE,
            "sequencer": "0" * 32,
        }
        row = Row(
            bucket=BUCKET,
            key=key,
            entry=answer.get("VersionId", "null"),
            size_bytes=len(content),
            **(known | facts),
        )
        self.digests.dynamodb.put_item(TableName="digests", Item=item_of(row))
        return row

    def begin(self, run_id: str = RUN, *, lists: bool = False, **facts: Any) -> Backfill:  # noqa: ANN401 - fields of Backfill
        """Record a verification of the bucket that rests, perhaps after it has listed that."""
        known: dict[str, Any] = {
            "status": BackfillStatus.QUEUED,
            "purpose": Purpose.VERIFY,
            "all_versions": True,
            "planned_at": BEGUN,
            "ended_at": SINCE,
            "rested_at": SINCE,
            "part_count": 1,
        }
        member = Backfill(f"{run_id}-aaaaaa", BUCKET, started_at=BEGUN, run=run_id,
                          **(known | facts))  # fmt: skip
        self.table.record(replace(member, status=BackfillStatus.RUNNING))
        plan = Part(0) if lists else Part(0, done=True, objects=1)
        self.table.record_plan(member.backfill_id, [plan])
        if lists:
            queue: Any = SimpleNamespace(is_full=lambda: False, send_objects=lambda *_: 1)
            next_page = partial(page_of_keys, self.s3, member)
            Enqueuer(self.table, queue).enqueue(member, [0], next_page, PLENTY)
        self.table.record(member)
        self.table.count(member.backfill_id, Tally(verified=1))
        return member

    def close(
        self, run_id: str = RUN, evidence: Evidence | None = None, hashed: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Take the steps of a run's end, as its execution does; returns its report."""
        evidence = evidence or self.evidence()
        for _ in range(20):
            events = evidence.next_events(run_id, self.table.members(run_id))
            if not events:
                break
            for event in events:
                if event["action"] == "account":
                    evidence.accountant.count(evidence.counted(run_id), event["parts"], PLENTY)
                else:
                    evidence.report(run_id, hashed)
        return self.report(run_id)

    def report(self, run_id: str = RUN) -> dict[str, Any]:
        """The report of a run."""
        closing = self.records.closing(run_id)
        assert closing
        assert closing.number
        chained = self.records.report(closing.number)
        assert chained
        document: dict[str, Any] = json.loads(chained.document)
        return document
