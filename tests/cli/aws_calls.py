"""Calls to AWS, changed on their way: what moto does not have, or what a test wants to fail."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from tests.cli.deployed import BUCKET
from tests.cli.permissions import as_fake

Change = Callable[[str, dict[str, Any]], Any]

HEALTHY: Final[dict[str, Any]] = {
    "GetFunctionConfiguration": {
        "Architectures": ["arm64"],
        "Runtime": "python3.13",
        "MemorySize": 1024,
        "Timeout": 900,
        "LastModified": "2026-11-20T10:00:00.000+0000",
        "Environment": {"Variables": {"MAX_RECEIVES": "5"}},
    },
    "ListEventSourceMappings": {
        "EventSourceMappings": [
            {
                "State": "Enabled",
                "EventSourceArn": f"arn:aws:sqs:us-east-1:123456789012:{queue}",
                "ScalingConfig": {"MaximumConcurrency": maximum},
                "FunctionResponseTypes": ["ReportBatchItemFailures"],
            }
            for queue, maximum in (("arrivals", 50), ("backfill", 10), ("long-objects", 10))
        ]
    },
    "GetAccountSettings": {"AccountLimit": {"UnreservedConcurrentExecutions": 1000}},
    "GetFunctionRecursionConfig": {"RecursiveLoop": "Allow"},
}
"""Operation → answer of a stack that is deployed as the template says."""

EXECUTED: Final[dict[str, Any]] = {
    "GetFunctionConfiguration": HEALTHY["GetFunctionConfiguration"],
    "StartExecution": {"executionArn": "arn"},
    "StopExecution": {},
    "DescribeExecution": {"status": "RUNNING"},
}
"""The same of Step Functions, whose executions never end, and of the hasher."""


def change_calls(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    """Let *change* see every call to AWS; what it returns, where not None, is the answer."""
    call: Any = vars(BaseClient)["_make_api_call"]  # private, and where all calls pass

    def changed(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:  # noqa: ANN401
        try:
            with as_fake():
                answer = change(operation, request)
        except ClientError as error:  # botocore raises the client's own class
            kind: Any = client.exceptions.from_code(error.response["Error"]["Code"])
            raise kind(error.response, operation) from error
        return call(client, operation, request) if answer is None else answer

    monkeypatch.setattr(BaseClient, "_make_api_call", changed)


def refusal(operation: str, code: str = "AccessDenied") -> ClientError:
    """An error of AWS whose text names the account and the bucket, as real ones do."""
    text = f"not authorized on arn:aws:s3:::{BUCKET}/x by arn:aws:iam::123456789012:user/jo"
    return ClientError({"Error": {"Code": code, "Message": text}}, operation)


def answered(answers: dict[str, Any]) -> Change:
    """A change that answers from *answers*: operation → answer, error, or function of a request."""

    def change(operation: str, request: dict[str, Any]) -> Any:  # noqa: ANN401 - any answer
        answer = answers.get(operation)
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    return change


def metadata_answer(**table: object) -> dict[str, Any]:
    """S3's answer about a bucket with an active live inventory table, which *table* changes."""
    active = {"ConfigurationState": "ENABLED", "TableStatus": "ACTIVE", "TableName": "inventory"}
    result = {
        "DestinationResult": {"TableBucketType": "aws", "TableNamespace": "b_my-photos"},
        "JournalTableConfigurationResult": {"TableStatus": "ACTIVE", "TableName": "journal"},
        "InventoryTableConfigurationResult": active | table,
    }
    return {"GetBucketMetadataConfigurationResult": {"MetadataConfigurationResult": result}}
