"""Delivery of a report: to the report bucket, and to the topic."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.backfill.evidence_records import ChainedReport, RowFinding
from bucketsum.backfill.report import findings_file, subject_of, text_of
from bucketsum.clock import now

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


_TEXT_BYTES_MAX: Final = 200_000
"""[A] SNS takes 256 KB."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where reports go; an empty name is nowhere."""

    s3: S3Client
    sns: Any  # its client has no types here
    stack: str
    bucket: str = ""
    topic: str = ""

    def write(
        self, report: ChainedReport, findings: Sequence[RowFinding], hashed: Iterable[str]
    ) -> tuple[str | None, str | None]:
        """Write the two files of *report*; returns their folder, or None and why not.

        A bucket that is *hashed* is refused: each report would be an object of the next.
        """
        if not self.bucket or report.place:
            return report.place, None
        if self.bucket in hashed:
            reason = "is hashed itself, and each report would be an object of the next"
            return None, f"ReportBucket {self.bucket} {reason}; name another bucket"
        folder = f"{self.stack}/{report.run}/"
        files = {"findings.jsonl": findings_file(findings), "report.json": report.document.encode()}
        for name, content in files.items():
            try:
                self.s3.put_object(
                    Bucket=self.bucket,
                    Key=folder + name,
                    Body=content,
                    ChecksumAlgorithm="SHA256",  # a bucket with Object Lock needs a checksum
                )
            except (BotoCoreError, ClientError) as error:
                return None, f"ReportBucket {self.bucket} did not take {name}: {error}"
        return f"s3://{self.bucket}/{folder}", None

    def notify(
        self, report: ChainedReport, findings: Sequence[RowFinding], place: str | None
    ) -> tuple[str | None, str | None]:
        """Publish the message of *report*; returns when it was taken, or None and why not."""
        if not self.topic or report.notified_at:
            return report.notified_at, None
        document = json.loads(report.document)
        text = text_of(document, findings, place).encode()[:_TEXT_BYTES_MAX]
        try:
            self.sns.publish(
                TopicArn=self.topic,
                Subject=subject_of(document),
                Message=text.decode(errors="ignore"),
            )
        except (BotoCoreError, ClientError) as error:
            return None, f"ReportTopicArn {self.topic} did not take the message: {error}"
        return now(), None
