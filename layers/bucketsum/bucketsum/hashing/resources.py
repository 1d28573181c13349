"""Resources of a function that reads objects: settings, log, clients, table and reader."""

from __future__ import annotations

from collections.abc import Mapping

from aws_lambda_powertools import Logger, Metrics

from bucketsum.environment import present
from bucketsum.hashing.report import Report
from bucketsum.invocation.clients import PROMPT, client_of, made_once, speed_up_botocore
from bucketsum.queue.dead_letters import DeadLetters
from bucketsum.s3.chosen_reader import reader
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum.s3.stored_checksums import StoredChecksums
from bucketsum.settings import Settings
from bucketsum.table.digests_table import DigestsTable


class Resources:
    """They are made once, at the start of an execution environment, by its variables."""

    def __init__(self, environ: Mapping[str, str], *, asks_checksum: bool) -> None:
        """With *asks_checksum*, each GET asks for S3's checksum, if that is compared."""
        self.settings = settings = Settings.from_env(environ)
        self.backfills_table = present(environ, "BACKFILLS_TABLE")
        # Service and namespace are variables too, so that two stacks never share a metric.
        self.logger = Logger(use_rfc3339=True)  # Lambda filters JSON logs where it knows the time
        self.metrics = Metrics()
        speed_up_botocore()
        self.dynamodb = client_of("dynamodb", PROMPT)
        self.sqs = made_once(lambda: client_of("sqs", PROMPT))
        self.s3 = made_once(lambda: client_of("s3", CLIENT_CONFIG))  # for archives and few objects
        self.table = DigestsTable(
            self.dynamodb,
            settings.digests_table,
            settings.deleted_row_days,
            has_sha1_index=settings.has_sha1_index,
        )
        compares, region = settings.compares_checksums, self.dynamodb.meta.region_name
        requests = SignedRequests.of_region(region, asks_checksum=asks_checksum and compares)
        self.reader = reader(self.s3, requests, settings.read_policy, environ)
        extra = settings.extra_algorithms
        self.checksums = StoredChecksums(self.s3, extra) if compares else None

    def report(self) -> Report:
        """The log lines and metrics of its messages."""
        settings = self.settings
        return Report(
            lambda: DeadLetters(self.sqs(), settings),
            self.logger,
            self.metrics,
            settings.logs_objects,
        )
