"""The resources that the hasher touches, on a local S3, SQS and DynamoDB."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import boto3
from events import objects
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_s3 import S3Client
from mypy_boto3_sqs import SQSClient
from mypy_boto3_sqs.type_defs import MessageTypeDef
from tests.support.sam_template import create_table, load_template

TABLE: Final = "digests"


@dataclass(frozen=True, slots=True)
class LocalAws:
    """Clients of one local AWS, and what was made there.

    Attributes:
        endpoint: Where it listens.
        arrivals_queue: URL of the queue that the hasher is invoked from.
        dead_letter_queue: URL of the queue where it sets messages aside.
        versions: Example object's key → the version id that S3 gave it.
    """

    endpoint: str
    s3: S3Client
    sqs: SQSClient
    dynamodb: DynamoDBClient
    arrivals_queue: str
    dead_letter_queue: str
    versions: Mapping[str, str]

    def rows(self) -> list[dict[str, Any]]:
        """Every row of the digests table, as attribute name → text."""
        items = self.dynamodb.scan(TableName=TABLE, ConsistentRead=True)["Items"]
        return [{name: next(iter(v.values())) for name, v in item.items()} for item in items]

    def dead_letters(self) -> list[MessageTypeDef]:
        """The messages in the dead-letter queue, at most ten."""
        return self.sqs.receive_message(
            QueueUrl=self.dead_letter_queue,
            MaxNumberOfMessages=10,
            MessageAttributeNames=["All"],
        ).get("Messages", [])

    def variables(self) -> dict[str, str]:
        """The hasher's environment variables as the template sets them.

        Raises:
            KeyError: The template refers to something that was not made here.
        """
        template = load_template()
        defaults = {
            name: str(parameter["Default"]) for name, parameter in template["Parameters"].items()
        }
        created = {
            "DigestsTable": TABLE,
            "BackfillsTable": "backfills",  # no example is listed by a backfill
            "LongObjectsQueue": "https://long-objects.invalid",  # and none is long
            "ArrivalsQueue": self.arrivals_queue,
            "DeadLetterQueue": self.dead_letter_queue,
            "AWS::StackName": "bucketsum",
        }
        values = hasher_properties()["Environment"]["Variables"]
        resolved = {
            name: value if isinstance(value, str) else (defaults | created)[value["Ref"]]
            for name, value in values.items()
        }
        return resolved | {"AWS_ENDPOINT_URL": self.endpoint}


def hasher_properties() -> dict[str, Any]:
    """The hasher's properties in the template."""
    properties: dict[str, Any] = load_template()["Resources"]["HasherFunction"]["Properties"]
    return properties


def default_memory_mb() -> int:
    """The memory that the hasher has if nobody says otherwise."""
    return int(load_template()["Parameters"]["MemorySize"]["Default"])


def make_local_aws(endpoint: str) -> LocalAws:
    """Make table, queues and bucket as the template describes them, and upload the examples."""
    s3: S3Client = boto3.client("s3", endpoint_url=endpoint)
    sqs: SQSClient = boto3.client("sqs", endpoint_url=endpoint)
    dynamodb: DynamoDBClient = boto3.client("dynamodb", endpoint_url=endpoint)
    create_table(dynamodb, "DigestsTable", TABLE)
    s3.create_bucket(Bucket=objects.BUCKET)
    s3.put_bucket_versioning(Bucket=objects.BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return LocalAws(
        endpoint=endpoint,
        s3=s3,
        sqs=sqs,
        dynamodb=dynamodb,
        arrivals_queue=sqs.create_queue(QueueName="arrivals")["QueueUrl"],
        dead_letter_queue=sqs.create_queue(QueueName="dead-letters")["QueueUrl"],
        versions=objects.upload(s3, objects.BUCKET),
    )
