"""The hasher as deployed, with the template's queues and table in moto."""

import json
from collections.abc import Mapping
from threading import Lock
from types import ModuleType
from typing import Any, Final
from uuid import uuid4

import pytest
from botocore.endpoint import Endpoint
from botocore.model import OperationModel
from moto.core.utils import unix_time_millis
from moto.sqs import models as sqs_models
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_s3 import S3Client
from mypy_boto3_sqs import SQSClient
from mypy_boto3_sqs.literals import QueueAttributeNameType
from tests.support.clients import shared_client
from tests.support.events import BUCKET
from tests.support.lambda_invocation import Context, loaded
from tests.support.moto_versions import take_version_null
from tests.support.sam_template import create_table, load_template

from bucketsum.events.object_events import ObjectCreated
from bucketsum.queue.dead_letters import REASON_ATTRIBUTE

QUEUE_ARN: Final = "arn:aws:sqs:us-east-1:123456789012:ArrivalsQueue"


class HasherStack:
    """Everything around the function, with Lambda's own part played by `deliver`.

    Attributes:
        queue_arn: Queue that messages say they come from.
        requests: Names of the AWS operations that the last delivery's invocation asked for.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self._resources = load_template()["Resources"]
        self.s3: S3Client = shared_client("s3")
        self.sqs: SQSClient = shared_client("sqs")
        self.dynamodb: DynamoDBClient = shared_client("dynamodb")
        self.queue_arn = QUEUE_ARN
        self.requests: tuple[str, ...] = ()
        self._requests: list[str] = []
        self._sequencer = 0
        self._now_ms = unix_time_millis()
        patch.setattr(sqs_models, "unix_time_millis", lambda: self._now_ms)
        self._count_requests()
        take_version_null(self._patch)
        self.s3.create_bucket(Bucket=BUCKET)
        self.dead_letters_url = self._make_queue("DeadLetterQueue", {})
        redrive = {
            "deadLetterTargetArn": "arn:aws:sqs:us-east-1:123456789012:DeadLetterQueue",
            "maxReceiveCount": self._of("ArrivalsQueue")["RedrivePolicy"]["maxReceiveCount"],
        }
        self.arrivals_url = self._make_queue(
            "ArrivalsQueue",
            {
                "VisibilityTimeout": str(
                    self._of("ArrivalsQueue")["VisibilityTimeout"]["Fn::If"][2]
                ),
                "RedrivePolicy": json.dumps(redrive),
            },
        )
        create_table(self.dynamodb, "DigestsTable", "digests")
        self._app: ModuleType | None = None

    def _count_requests(self) -> None:
        make_request = Endpoint.make_request
        writing = Lock()

        def counted(endpoint: Endpoint, operation: OperationModel, request: Any) -> Any:  # noqa: ANN401 - as botocore's
            self._requests.append(operation.name)
            if operation.service_model.service_name != "dynamodb":
                return make_request(endpoint, operation, request)
            with writing:  # DynamoDB checks a condition and writes in one step; moto does in two
                return make_request(endpoint, operation, request)

        self._patch.setattr(Endpoint, "make_request", counted)

    def _of(self, resource: str) -> dict[str, Any]:
        properties: dict[str, Any] = self._resources[resource]["Properties"]
        return properties

    def _make_queue(self, name: str, attributes: Mapping[QueueAttributeNameType, str]) -> str:
        return self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]

    def load(self, **env: str) -> ModuleType:
        """Import the function anew, with *env* over what the stack sets.

        Not before the test itself runs: its log goes to the stdout of now, which pytest changes.
        """
        deployed = {
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
            "DIGESTS_TABLE": "digests",
            "BACKFILLS_TABLE": "backfills",
            "ARRIVALS_QUEUE_URL": self.arrivals_url,
            "DEAD_LETTER_QUEUE_URL": self.dead_letters_url,
            "MAX_RECEIVES": str(self._variables()["MAX_RECEIVES"]),
            "CHUNK_BYTES": str(64 * 1024),
            "STREAMS": "auto",
            "EXTRA_ALGORITHMS": "",
            "DELETED_ROW_DAYS": "0",
            "POWERTOOLS_SERVICE_NAME": f"hasher-{uuid4()}",  # a logger of its own, on this stdout
            "POWERTOOLS_METRICS_NAMESPACE": "bucketsum",
        }
        for name, value in (deployed | env).items():
            self._patch.setenv(name, value)
        self._app = loaded("hasher")
        return self._app

    def _variables(self) -> dict[str, Any]:
        variables: dict[str, Any] = self._of("HasherFunction")["Environment"]["Variables"]
        return variables

    def put(self, key: str, body: bytes) -> ObjectCreated:
        """Put an object; returns the event that S3 would send of it."""
        answer = self.s3.put_object(Bucket=BUCKET, Key=key, Body=body)
        self._sequencer += 1
        return ObjectCreated(
            bucket=BUCKET,
            key=key,
            version_id=answer.get("VersionId"),
            etag=answer["ETag"].strip('"'),
            size_bytes=len(body),
            sequencer=f"{self._sequencer:04X}",
            event_time="2026-11-01T00:00:00.000Z",
        )

    def keep_versions(self) -> None:
        """Turn versioning on."""
        status: Any = {"Status": "Enabled"}
        self.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration=status)

    def send(self, *bodies: str) -> None:
        """Put messages on the arrivals queue."""
        for body in bodies:
            self.sqs.send_message(QueueUrl=self.arrivals_url, MessageBody=body)

    def deliver(self, *bodies: str, context: Context | None = None) -> list[str]:
        """Be Lambda: send *bodies*, invoke with what is received, delete all but the failures.

        Returns the bodies of the messages that the function gave back.
        """
        app = self._app or self.load()
        self.send(*bodies)
        records = self.receive()
        self._requests.clear()
        answer = app.lambda_handler({"Records": records}, context or Context())
        failed = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        self.requests = tuple(self._requests)
        for record in records:
            if record["messageId"] not in failed:
                self.sqs.delete_message(
                    QueueUrl=self.arrivals_url, ReceiptHandle=record["receiptHandle"]
                )
        return [record["body"] for record in records if record["messageId"] in failed]

    def receive(self) -> list[dict[str, Any]]:
        """Messages visible on the arrivals queue, as records of a Lambda event."""
        answer = self.sqs.receive_message(
            QueueUrl=self.arrivals_url, MaxNumberOfMessages=10, AttributeNames=["All"]
        )
        return [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "eventSource": "aws:sqs",
                "eventSourceARN": self.queue_arn,
                "awsRegion": "us-east-1",
            }
            for message in answer.get("Messages", [])
        ]

    def pass_seconds(self, seconds: int) -> None:
        """Let time pass for SQS, which has no other clock: a slow machine makes nothing visible.

        It is a moment more, since moto shows a message only after its time has come.
        """
        self._now_ms += seconds * 1000 + 1

    def after(self, seconds: int) -> list[str]:
        """The bodies that are visible on the arrivals queue that many seconds later."""
        self.pass_seconds(seconds)
        return [record["body"] for record in self.receive()]

    def dead_letters(self) -> dict[str, str]:
        """Messages in the dead-letter queue: bodies → reasons."""
        answer = self.sqs.receive_message(
            QueueUrl=self.dead_letters_url,
            MaxNumberOfMessages=10,
            MessageAttributeNames=["All"],
            VisibilityTimeout=0,
        )
        return {
            message["Body"]: message["MessageAttributes"][REASON_ATTRIBUTE]["StringValue"]
            for message in answer.get("Messages", [])
        }

    def rows(self) -> dict[tuple[str, str], dict[str, str]]:
        """Recorded rows: (key, entry) → attributes, numbers as DynamoDB writes them."""
        items: list[dict[str, Any]] = list(self.dynamodb.scan(TableName="digests")["Items"])
        plain = [{name: next(iter(value.values())) for name, value in i.items()} for i in items]
        return {(row["object"].partition("/")[2], row["entry"]): row for row in plain}

    def change_row(self, key: str, attributes: Mapping[str, Any], entry: str | None = None) -> None:
        """Let another program change attributes of a row, by default of the version ``null``."""
        for name, value in attributes.items():
            self.dynamodb.update_item(
                TableName="digests",
                Key={"object": {"S": f"{BUCKET}/{key}"}, "entry": {"S": entry or "null"}},
                UpdateExpression="SET #name = :value",
                ExpressionAttributeNames={"#name": name},
                ExpressionAttributeValues={":value": value},
            )

    def digests(self) -> dict[str, str | None]:
        """Recorded digests: key → SHA-1, or None if unreadable."""
        return {key: row.get("sha1") for (key, _), row in self.rows().items()}
