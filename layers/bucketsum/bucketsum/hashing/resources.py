"""Resources of a function that reads objects: settings, log, clients, table and reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger, Metrics

from bucketsum.environment import present
from bucketsum.hashing.report import Report
from bucketsum.invocation.access import usual_region
from bucketsum.invocation.first_use import at_first_use
from bucketsum.queue.dead_letters import DeadLetters
from bucketsum.s3.chosen_reader import reader
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum.s3.stored_checksums import StoredChecksums
from bucketsum.settings import Settings
from bucketsum.table.digests_table import DigestsTable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient


class Resources:
    """They are made once, at the start of an execution environment, by its variables.

    Attributes:
        dynamodb, sqs, s3: Clients, which `at_first_use` makes: a usual small object needs none.
    """

    def __init__(self, environ: Mapping[str, str], *, asks_checksum: bool) -> None:
        """With *asks_checksum*, each GET asks for S3's checksum, if that is compared."""
        self.settings = settings = Settings.from_env(environ)
        self.backfills_table = present(environ, "BACKFILLS_TABLE")
        # Service and namespace are variables too, so that two stacks never share a metric.
        self.logger = Logger(use_rfc3339=True)  # Lambda filters JSON logs where it knows the time
        self.metrics = Metrics()
        self.dynamodb = at_first_use(_dynamodb)
        self.sqs = at_first_use(_sqs)
        self.s3 = at_first_use(_s3)
        self.table = DigestsTable(
            self.dynamodb,
            settings.digests_table,
            settings.deleted_row_days,
            has_sha1_index=settings.has_sha1_index,
        )
        compares = settings.compares_checksums
        region = usual_region() or self.dynamodb.meta.region_name
        requests = SignedRequests.of_region(region, asks_checksum=asks_checksum and compares)
        self.reader = reader(self.s3, requests, settings.read_policy, environ)
        extra = settings.extra_algorithms
        self.checksums = StoredChecksums(self.s3, extra) if compares else None

    def report(self) -> Report:
        """The log lines and metrics of its messages."""
        dead_letters = DeadLetters(self.sqs, self.settings)
        return Report(dead_letters, self.logger, self.metrics, self.settings.logs_objects)


def _dynamodb() -> DynamoDBClient:
    from bucketsum.invocation.clients import PROMPT, client_of  # noqa: PLC0415 - at first use

    return client_of("dynamodb", PROMPT)


def _sqs() -> SQSClient:
    from bucketsum.invocation.clients import PROMPT, client_of  # noqa: PLC0415 - as above

    return client_of("sqs", PROMPT)


def _s3() -> S3Client:
    from bucketsum.invocation.clients import client_of  # noqa: PLC0415 - as above

    return client_of("s3", CLIENT_CONFIG)
