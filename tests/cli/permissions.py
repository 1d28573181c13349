"""The permissions that docs/reference/permissions.md lists for each command, and its needs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

import pytest
from botocore.client import BaseClient
from tests.support.recorded_calls import action_of
from tools.reference.permissions import ACTIONS, EVERY_COMMAND, USERS, policy_of

_ALWAYS: Final = frozenset({*EVERY_COMMAND.split(), "sts:GetCallerIdentity"})
"""The last needs no permission."""

_FAKE_ACTS: Final = ContextVar("_FAKE_ACTS", default=False)
"""Of each thread by itself: others go on as the command's."""

_NAMES: Final = {
    "sums": "bucketsum",
    "other": "bucketsum",
    "elsewhere": "bucketsum",
    "inbox": "bucketsum-123456789012-us-east-1",
    "SweepBucketName": "bucketsum-sweepbucket-1",
    **dict.fromkeys(("free", "enforced", "managed"), "my-workgroup"),
    "digests": "bucketsum-DigestsTable-1",
    "arrivals": "bucketsum-ArrivalsQueue-1",
    "backfill": "bucketsum-BackfillQueue-1",
    "long-objects": "bucketsum-LongObjectsQueue-1",
    "dead-letters": "bucketsum-DeadLetterQueue-1",
    "HasherLogGroupName": "/bucketsum/bucketsum/hasher",
    "BackfillStateMachineArn": "bucketsum-Backfill",
    "SweepStateMachineArn": "bucketsum-Sweep",
}
"""Names in tests → those that CloudFormation gives; a stack's output is its own name there."""

_ARNS: Final = {
    "athena": {"WorkGroup": "workgroup/{}", "QueryExecutionId": "workgroup/primary"},
    "cloudformation": {"StackName": "stack/{}/1"},
    "dynamodb": {"TableName": "table/{}", "TableArn": "{}", "ExportArn": "{}"},
    "events": {"Name": "rule/{}"},
    "glue": {"Name": "database/{}", "DatabaseName": "table/{}/t", "DatabaseInput": "catalog"},
    "iam": {"PolicyArn": "{}", "RoleName": "role/{}"},
    "kms": {"KeyId": "key/1"},
    "lambda": {"FunctionName": "function:{}"},
    "logs": {"logGroupName": "log-group:{}"},
    "sqs": {"QueueUrl": "{}"},
    "stepfunctions": {"executionArn": "execution:{}", "stateMachineArn": "stateMachine:{}"},
}
"""Service → parameters of its operations → what an ARN ends with."""


class Call(NamedTuple):
    """A call of AWS.

    Attributes:
        resources: ARNs, of which one is the place that the test means.
        partition: Of the item that DynamoDB reads or writes.
    """

    action: str
    resources: tuple[str, ...]
    partition: str


@contextmanager
def as_fake() -> Iterator[None]:
    """Calls in the block are a fake's, not the command's."""
    token = _FAKE_ACTS.set(True)
    try:
        yield
    finally:
        _FAKE_ACTS.reset(token)


def recorded_calls(monkeypatch: pytest.MonkeyPatch) -> set[Call]:
    """A set to which every further call to AWS is added."""
    calls: set[Call] = set()
    call: Any = vars(BaseClient)["_make_api_call"]

    def recorded(client: BaseClient, operation: str, params: dict[str, Any]) -> object:
        if not _FAKE_ACTS.get():
            service = client.meta.service_model.service_name
            item = params.get("Key") if service == "dynamodb" else None
            partition = next(iter(item.values()))["S"] if item else ""
            resources = tuple(_resources_of(service, params))
            calls.add(Call(action_of(service, operation, params), resources, partition))
        return call(client, operation, params)

    monkeypatch.setattr(BaseClient, "_make_api_call", recorded)
    return calls


def refused_calls(arguments: Sequence[str], calls: Iterable[Call]) -> list[Call]:
    """Those of *calls* that the command's row of the table lacks, or its users' policies refuse."""
    names = [
        name
        for name in ACTIONS
        if name.split()[0] == arguments[0] and set(name.split()) <= {*arguments}
    ]
    listed = _ALWAYS.union(ACTIONS[names[-1]].split() if names else ())
    users = [user for user, commands in USERS.items() if {*names[-1:]} & {*commands}]
    policies = [policy_of(user)["Statement"] for user in users]
    return [
        call
        for call in calls
        if call.action not in listed
        or (call.action.partition(":")[0] != "sts" and not all(_allows(p, call) for p in policies))
    ]


def _allows(policy: Iterable[Mapping[str, Any]], call: Call) -> bool:
    return any(
        call.action in statement["Action"]
        and any(
            fnmatchcase(arn, pattern) for arn in call.resources for pattern in statement["Resource"]
        )
        and any(fnmatchcase(call.partition, key) for key in _leading_keys(statement))
        for statement in policy
    )


def _leading_keys(statement: Mapping[str, Any]) -> list[str]:
    condition = statement.get("Condition", {"ForAllValues:StringLike": {}})
    return list(condition["ForAllValues:StringLike"].get("dynamodb:LeadingKeys", ["*"]))


def _resources_of(service: str, params: Mapping[str, Any]) -> Iterator[str]:
    if "Bucket" in params:
        key = f"/{params['Key']}" if isinstance(params.get("Key"), str) else ""
        if "Delete" in params:
            key = f"/{params['Delete']['Objects'][0]['Key']}"
        own = _named(params["Bucket"])
        for bucket in (
            own,
            "my-lists",
            *(("my-photos",) if not own.startswith("bucketsum-") else ()),
        ):
            yield f"arn:aws:s3:::{bucket}{key}"
        return
    places = [(end, params[name]) for name, end in _ARNS.get(service, {}).items() if name in params]
    places += [("table/{}", name) for name in params.get("RequestItems", ())]
    service = service.replace("stepfunctions", "states")
    for end, value in places[:1] or [("*", "")]:
        name = _named(str(value).rpartition("/")[2] if service == "sqs" else str(value))
        region = "" if service == "iam" else "us-east-1"
        arn = f"arn:aws:{service}:{region}:123456789012:{end.format(name)}"
        yield name if name.startswith("arn:") else arn


def _named(text: str) -> str:
    """*text*, a name or an ARN, with the names that CloudFormation would give."""

    def new(match: re.Match[str]) -> str:
        name = _NAMES.get(match[0], match[0])
        output = re.fullmatch(r"(\w+(?:Table|Function))Name", name)
        return f"bucketsum-{output[1]}-1" if output else name

    return re.sub(r"(?<![\w-])(sums(?=-)|[\w-]+)", new, text)
