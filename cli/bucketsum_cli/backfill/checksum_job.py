"""A job of S3 Batch Operations that computes checksums where the objects lie."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.clock import now
from bucketsum.prices import RESTORED_BYTE, RESTORED_OBJECT
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.backfill.counting import count_of, figures_count
from bucketsum_cli.backfill.estimate import checksum_usd
from bucketsum_cli.backfill.work import Work
from bucketsum_cli.terminal.formatting import cents_text, count_text, size_text
from bucketsum_cli.terminal.hints import command_line

_REPORTS: Final = "REPORT_BUCKET"
_ACCOUNT: Final = "ACCOUNT_ID"
_ROLE: Final = f"arn:aws:iam::{_ACCOUNT}:role/checksums"


@dataclass(frozen=True, slots=True)
class ChecksumJob:
    """A job in which S3 reads a bucket's objects; the person puts in the names in capitals."""

    bucket: str
    trust_policy: Annotated[dict[str, Any], "Trust policy of the job's role."]
    policy: Annotated[dict[str, Any], "Policy of the job's role."]
    command: Annotated[str, "Command that starts the job, in a shell."]
    import_command: Annotated[str, "Command that imports its report."]
    objects: int
    size_bytes: int
    job_usd: Annotated[float, "Price of the job, in US dollars."]
    restore_usd: Annotated[float | None, "Price of restoring in bulk; null if no class needs it."]

    @property
    def price(self) -> str:
        """The price in a sentence."""
        text = (
            f"{count_text(self.objects, 'object')}, {size_text(self.size_bytes)}: "
            f"{cents_text(self.job_usd)} USD for the job"
        )
        if self.restore_usd is None:
            return text
        usd = cents_text(self.restore_usd)
        return f"{text}; restoring them in bulk costs {usd} USD, and a copy in S3"


def checksum_job(
    connection: Connection, bucket: str, prefix: str, storage_classes: Sequence[str]
) -> ChecksumJob:
    """The job for the objects of *bucket*, which are counted for its price.

    Raises:
        ClientError: AWS refused.
    """
    counted = Backfill(
        "", bucket, BackfillStatus.RUNNING, now(), prefix=prefix or None, archived=True,
        all_versions=True, storage_classes=tuple(storage_classes),
    )  # fmt: skip
    count = figures_count(connection, counted) or count_of(connection.client("s3"), counted)
    return ChecksumJob(
        bucket=bucket,
        trust_policy=_policy(
            {
                "Effect": "Allow",
                "Principal": {"Service": "batchoperations.s3.amazonaws.com"},
                "Action": "sts:AssumeRole",
            }
        ),
        policy=_role_policy(bucket),
        command=_command(connection.region, job_request(bucket, prefix, storage_classes)),
        import_command=command_line(
            "import", f"s3://{_REPORTS}/checksums/job-JOB_ID/manifest.json"
        ),
        objects=count.work.object_count,
        size_bytes=count.work.size_bytes,
        job_usd=checksum_usd(count.work),
        restore_usd=_restore_usd(count.work),
    )


def job_request(bucket: str, prefix: str, storage_classes: Sequence[str]) -> dict[str, Any]:
    """The parameters of CreateJob: SHA-1 of whole objects, of a manifest that S3 generates."""
    chosen: dict[str, Any] = {}
    if storage_classes:
        chosen["MatchAnyStorageClass"] = [*storage_classes]
    if prefix:
        chosen["KeyNameConstraint"] = {"MatchAnyPrefix": [prefix]}
    return {
        "operation": {
            "S3ComputeObjectChecksum": {"ChecksumAlgorithm": "SHA1", "ChecksumType": "FULL_OBJECT"}
        },
        "manifest-generator": {
            "S3JobManifestGenerator": {
                "SourceBucket": f"arn:aws:s3:::{bucket}",
                "EnableManifestOutput": False,
                **({"Filter": chosen} if chosen else {}),
            }
        },
        "report": {
            "Bucket": f"arn:aws:s3:::{_REPORTS}",
            "Prefix": "checksums",
            "Format": "Report_CSV_20180820",
            "Enabled": True,
            "ReportScope": "AllTasks",
        },
    }


def _policy(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": [*statements]}


def _role_policy(bucket: str) -> dict[str, Any]:
    source = f"arn:aws:s3:::{bucket}"
    read = ["s3:GetObject", "s3:GetObjectVersion"]
    manifest = ["s3:PutInventoryConfiguration", "s3:ListBucket"]
    return _policy(
        {"Effect": "Allow", "Action": read, "Resource": f"{source}/*"},
        {"Effect": "Allow", "Action": manifest, "Resource": source},
        {
            "Effect": "Allow",
            "Action": "s3:PutObject",
            "Resource": f"arn:aws:s3:::{_REPORTS}/checksums/*",
        },
    )


def _command(region: str, request: dict[str, Any]) -> str:
    options = [f"--{name} {shlex.quote(json.dumps(value))}" for name, value in request.items()]
    return " \\\n  ".join(
        [
            f"aws s3control create-job --region {region} --account-id {_ACCOUNT}",
            *options,
            f"--role-arn {_ROLE} --priority 10 --no-confirmation-required",
            '--client-request-token "$(uuidgen)"',
        ]
    )


def _restore_usd(work: Work) -> float | None:
    prices = [
        size_bytes * RESTORED_BYTE[name].each
        for name, size_bytes in work.bytes_by_class.items()
        if name in RESTORED_BYTE
    ]
    return sum(prices) + work.object_count * RESTORED_OBJECT.each if prices else None
