"""Recorded calls of AWS as IAM actions, and the permissions of the template's roles."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final, NamedTuple

import pytest
from botocore.client import BaseClient
from tests.support.sam_template import load_template

from bucketsum.s3.sigv4 import Signer


class Permission(NamedTuple):
    """An IAM action on a resource.

    Attributes:
        action: As ``s3:GetObject``.
        resource: A logical id of the template, ``bucket`` or ``objects``.
    """

    action: str
    resource: str


_ACTIONS: Final = {
    # Operations whose action has another name:
    "s3:HeadObject": "s3:GetObject",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "s3:ListMultipartUploads": "s3:ListBucketMultipartUploads",
    "s3:GetBucketNotificationConfiguration": "s3:GetBucketNotification",
    "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration",
    "s3:GetBucketMetadataConfiguration": "s3:GetBucketMetadataTableConfiguration",
    "s3:PutBucketNotificationConfiguration": "s3:PutBucketNotification",
    "s3:DeleteObjects": "s3:DeleteObject",
    "s3:CreateMultipartUpload": "s3:PutObject",
    "s3:UploadPart": "s3:PutObject",
    "s3:CopyObject": "s3:PutObject",
    "s3:CompleteMultipartUpload": "s3:PutObject",
    "sqs:SendMessageBatch": "sqs:SendMessage",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
}
_OF_VERSIONS: Final = frozenset({"s3:GetObject", "s3:DeleteObject"})
_RESOURCES: Final = {
    "digests": "DigestsTable",
    "backfills": "BackfillsTable",
    "measurements": "MeasurementsTable",
    "records": "SweepRecordsTable",
}


def action_of(service: str, operation: str, params: Mapping[str, Any]) -> str:
    """The IAM action that botocore's *operation* needs."""
    action = _ACTIONS.get(f"{service}:{operation}", f"{service}:{operation}")
    names_version = "VersionId" in params or operation == "DeleteObjects"
    if action in _OF_VERSIONS and names_version:
        action += "Version"
    if action == "s3:GetObjectAttributes" and names_version:
        action = "s3:GetObjectVersionAttributes"
    return action.replace("stepfunctions:", "states:")


class CallRecorder:
    """Records the calls that functions make through botocore, and those that they sign.

    Attributes:
        calls: The permissions that they need.
        partitions: Partition keys of the items of single-item calls, by action.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.calls: set[Permission] = set()
        self.partitions: dict[str, set[str]] = {}
        self._is_on = False
        self._record_botocore(patch)
        self._record_signed(patch)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what the block calls."""
        self._is_on = True
        try:
            yield
        finally:
            self._is_on = False

    def record_handler(self, app: ModuleType) -> None:
        """Record what the handler of *app* calls from now on."""
        handler = app.lambda_handler

        def recorded(event: object, context: object) -> object:
            with self.recording():
                return handler(event, context)

        vars(app)["lambda_handler"] = recorded

    def _record_botocore(self, patch: pytest.MonkeyPatch) -> None:
        call: Callable[..., Any] = vars(BaseClient)["_make_api_call"]

        def recorded(client: BaseClient, operation: str, params: dict[str, Any]) -> object:
            if self._is_on:
                self._add(client.meta.service_model.service_name, operation, params)
            return call(client, operation, params)

        patch.setattr(BaseClient, "_make_api_call", recorded)

    def _record_signed(self, patch: pytest.MonkeyPatch) -> None:
        sign = Signer.headers_of

        def signed(signer: Signer, headers: Mapping[str, str], *rest: Any, **named: Any) -> Any:  # noqa: ANN401 - as the product's
            if self._is_on:
                call = Permission("s3:GetObject", "objects")
                if target := headers.get("x-amz-target"):
                    call = Permission(f"dynamodb:{target.rpartition('.')[2]}", "DigestsTable")
                self.calls.add(call)
            return sign(signer, headers, *rest, **named)

        patch.setattr(Signer, "headers_of", signed)

    def _add(self, service: str, operation: str, params: dict[str, Any]) -> None:
        action = action_of(service, operation, params)
        for resource in _resources_of(params):
            self.calls.add(Permission(action, resource))
        item = params.get("Key", params.get("Item"))
        if service == "dynamodb" and item and "object" in item:
            self.partitions.setdefault(action, set()).add(item["object"]["S"])


def _resources_of(params: Mapping[str, Any]) -> list[str]:
    if "Bucket" in params:
        return ["objects" if "Key" in params else "bucket"]
    if "QueueUrl" in params:
        return [params["QueueUrl"].rpartition("/")[2]]
    if "executionArn" in params:
        return ["executions"]
    tables = params["RequestItems"] if "RequestItems" in params else [params["TableName"]]
    return [_RESOURCES[table] for table in tables]


def role_permissions(role: str) -> set[Permission]:
    """The permissions of *role* in a stack of default parameters.

    Those that are given to Lambda itself, for logs, traces and messages, are left out.
    """
    resources = load_template()["Resources"]
    properties = resources[role]["Properties"]
    policies = list(properties["Policies"])
    arns = properties.get("ManagedPolicyArns")
    if isinstance(arns, list):  # and no Fn::If, which the default parameters do not meet
        policies += [resources[arn["Ref"]]["Properties"] for arn in arns if "Ref" in arn]
    policies += [
        resource["Properties"]
        for resource in resources.values()
        if resource["Type"] == "AWS::IAM::Policy"
        and {"Ref": role} in resource["Properties"]["Roles"]
    ]
    return {
        Permission(action.rstrip("*"), resource)
        for policy in policies
        for statement in map(_by_default, policy["PolicyDocument"]["Statement"])
        if statement
        for action in listed(statement["Action"])
        if action not in _OF_LAMBDA
        for resource in {_label(arn) for arn in listed(statement["Resource"])} - {""}
    }


_OF_LAMBDA: Final = frozenset(
    {
        "sqs:ReceiveMessage", "sqs:DeleteMessage",
        "logs:CreateLogStream", "logs:PutLogEvents",
    }
)  # fmt: skip


def _by_default(value: Any) -> Any:  # noqa: ANN401 - of a template
    """The branch of ``Fn::If`` that a stack of default parameters has; None for none."""
    if isinstance(value, dict) and "Fn::If" in value:
        condition, yes, no = value["Fn::If"]
        value = yes if condition == "CreatesBucket" else no
    return None if value == {"Ref": "AWS::NoValue"} else value


def listed(value: Any) -> list[Any]:  # noqa: ANN401 - a policy's one-or-many
    """IAM lets a list of one be written without its brackets."""
    return value if isinstance(value, list) else [value]


def _label(resource: Any) -> str:  # noqa: ANN401 - of a template
    match _by_default(resource):
        case {"Fn::GetAtt": [name, _]}:
            return "bucket" if name.endswith("Bucket") else str(name)
        case {"Fn::Sub": str(text)} if ":execution:" in text:
            return "executions"
        case {"Fn::Sub": str(text)}:
            return "objects" if text.endswith("/*") else "bucket"
    return ""
