"""A deployed stack: its parts, and clients and tables for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

from bucketsum_cli.aws.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_lambda.type_defs import FunctionConfigurationResponseTypeDef
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from mypy_boto3_stepfunctions import SFNClient

    from bucketsum.backfill.evidence_table import EvidenceTable
    from bucketsum.backfill.table import BackfillsTable
    from bucketsum.long_objects.progress_table import ProgressTable
    from bucketsum.table.digests_table import DigestsTable


@dataclass(frozen=True, slots=True)
class Stack:
    """The parts of a stack that the commands need.

    Attributes:
        table: Table of the digests.
        function: Name of the hasher.
        log_group: Name of its log group.
        outputs: All outputs of the stack, for the parts that only some stacks have.
    """

    name: str
    connection: Connection
    bucket: str
    table: str
    arrivals_queue_url: str
    dead_letter_queue_url: str
    function: str
    log_group: str
    outputs: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)

    @overload
    def client(self, service: Literal["s3"]) -> S3Client: ...
    @overload
    def client(self, service: Literal["sqs"]) -> SQSClient: ...
    @overload
    def client(self, service: Literal["dynamodb"]) -> DynamoDBClient: ...
    @overload
    def client(self, service: Literal["lambda"]) -> LambdaClient: ...
    @overload
    def client(self, service: Literal["logs"]) -> CloudWatchLogsClient: ...
    @overload
    def client(self, service: Literal["cloudformation"]) -> CloudFormationClient: ...
    @overload
    def client(self, service: Literal["cloudwatch"]) -> CloudWatchClient: ...
    @overload
    def client(self, service: Literal["stepfunctions"]) -> SFNClient: ...
    def client(self, service: str) -> Any:
        """Make a client for *service*; keep it, since this takes some 20 ms."""
        return self.connection.client(service)

    @property
    def arrivals_queue_arn(self) -> str:
        """ARN of the arrivals queue."""
        return self.outputs["ArrivalsQueueArn"]

    @property
    def extra_algorithms(self) -> tuple[str, ...]:
        """The digests that the stack computes in addition to SHA-1."""
        return tuple(filter(None, self.parameters.get("ExtraAlgorithms", "").split(",")))

    def function_configuration(
        self, name: str | None = None
    ) -> FunctionConfigurationResponseTypeDef:
        """Return Lambda's configuration of the function *name*, by default of the hasher."""
        name = name or self.function
        return self.client("lambda").get_function_configuration(FunctionName=name)

    def queue_attributes(self, url: str) -> Mapping[QueueAttributeNameType, str]:
        """Return all attributes of the queue at *url*."""
        answer = self.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
        return answer["Attributes"]

    def progress_table(self) -> ProgressTable:
        """Return the progress of long objects, which is stored in the digests table."""
        from bucketsum.long_objects.progress_table import ProgressTable  # noqa: PLC0415 - takes 40 ms

        return ProgressTable(self.client("dynamodb"), self.table)

    def digests_table(self) -> DigestsTable:
        """Return its table of digests."""
        from bucketsum.table.digests_table import DigestsTable  # noqa: PLC0415 - takes 10 ms

        has_index = self.parameters.get("Sha1Index") != "no"
        return DigestsTable(self.client("dynamodb"), self.table, has_sha1_index=has_index)

    def runs_table(self) -> BackfillsTable:
        """Return its table of backfills and verifications."""
        from bucketsum.backfill.table import BackfillsTable  # noqa: PLC0415 - takes 10 ms

        return BackfillsTable(self.client("dynamodb"), self.outputs["BackfillsTableName"])

    def evidence_table(self) -> EvidenceTable:
        """Return the evidence in the table of runs."""
        from bucketsum.backfill.evidence_table import EvidenceTable  # noqa: PLC0415 - takes 10 ms

        return EvidenceTable(self.client("dynamodb"), self.outputs["BackfillsTableName"])


def queue_name(url: str) -> str:
    """The name of the queue at *url*."""
    return url.rpartition("/")[2]
