"""Reporting of a stack: whose rows are counted, where the evidence is kept, where reports go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bucketsum.backfill.accounting import HEADS_AT_ONCE, Accountant
from bucketsum.backfill.closing import Evidence
from bucketsum.backfill.delivery import Delivery
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.report import Origin
from bucketsum.backfill.table import BackfillsTable
from bucketsum.table.digests_table import DigestsTable

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext
    from mypy_boto3_s3 import S3Client


CONNECTIONS: Final = HEADS_AT_ONCE
"""Requests to S3 that counting sends at a time."""


@dataclass(frozen=True, slots=True)
class Reporting:
    """The parts of a stack that report its runs.

    Attributes:
        sns: Makes the client of the topic's messages; called only if there is a topic.
        stack: Name of the stack, which the reports name.
        bucket: Bucket of reports; empty for none.
        topic: ARN of the topic of reports; empty for none.
        enqueuers: Invocations that count rows in parallel.
    """

    s3: S3Client
    sns: Callable[[], Any]
    table: BackfillsTable
    digests: DigestsTable
    stack: str
    bucket: str
    topic: str
    enqueuers: int

    @property
    def records(self) -> EvidenceTable:
        """The evidence, which is kept in the table of runs."""
        return EvidenceTable(self.digests.dynamodb, self.table.name)

    def evidence(self, context: LambdaContext) -> Evidence:
        """The evidence of the stack; Region and account are in the function's own ARN."""
        _, _, _, region, account, *_ = context.invoked_function_arn.split(":")
        sns = self.sns() if self.topic else None
        return Evidence(
            table=self.table,
            accountant=Accountant(self.s3, self.digests, self.records),
            delivery=Delivery(self.s3, sns, self.stack, self.bucket, self.topic),
            origin=Origin(self.stack, account, region),
            enqueuers=self.enqueuers,
        )
