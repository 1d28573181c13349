"""The hasher may do what its code does, and nothing else."""

from __future__ import annotations

import importlib.metadata
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import botocore.session
import pytest
from botocore import xform_name
from tests.support.sam_template import TEMPLATE, load_template
from tests.template.client_calls import CLIENTS, operations_called

ROOT: Final = TEMPLATE.parent
LIBRARY: Final = sorted((ROOT / "layers" / "bucketsum" / "bucketsum").rglob("*.py"))
HANDLER: Final = ROOT / "src" / "hasher" / "app.py"

IMPLIED: Final = {
    # Beside what the operation itself is called:
    "s3:GetObject": {
        "s3:GetObjectVersion",  # what GetObject needs when it names a version
        "s3:ListBucket",  # without it S3 answers 403 where it means 404
        "s3:ListBucketVersions",  # AWS documents the rule for keys only; perhaps so for versions
    },
}
NOT_CALLED_BY_CODE: Final = {
    # Lambda's poller takes messages with the function's role:
    "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes",
    # Lambda writes the function's log with it, into a group that the template makes:
    "logs:CreateLogStream", "logs:PutLogEvents",
    # and its traces:
    "xray:PutTraceSegments", "xray:PutTelemetryRecords",
    # S3 decrypts with it what is encrypted with the key that a parameter names:
    "kms:Decrypt",
}  # fmt: skip
WITHOUT_RESOURCE: Final = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
"""The only actions on ``*``: X-Ray knows no resource for them."""

KIND_OF: Final = {
    "dynamodb": {"DigestsTable": "table"},
    "sqs": {"ArrivalsQueue": "queue", "DeadLetterQueue": "queue"},
    "logs": {"HasherLogGroup": "log-group"},
}


def listed(value: Any) -> list[Any]:  # noqa: ANN401 - a policy's one-or-many
    """IAM lets a list of one be written without its brackets."""
    return value if isinstance(value, list) else [value]


def role_statements() -> list[dict[str, Any]]:
    """The statements of the hasher's role, conditional statements included."""
    role = load_template()["Resources"]["HasherRole"]["Properties"]
    [policy] = role["Policies"]
    assert "ManagedPolicyArns" not in role
    statements = policy["PolicyDocument"]["Statement"]
    return [
        statement["Fn::If"][1] if "Fn::If" in statement else statement for statement in statements
    ]


def policy_statements() -> list[dict[str, Any]]:
    """Every statement of every policy in the template."""
    resources = load_template()["Resources"]
    bucket, queue = resources["InboxBucketPolicy"], resources["ArrivalsQueuePolicy"]
    return [
        *role_statements(),
        *bucket["Properties"]["PolicyDocument"]["Statement"],
        *queue["Properties"]["PolicyDocument"]["Statement"],
    ]


@cache
def known_actions() -> dict[str, Any]:
    """Service → what cfn-lint knows of its IAM actions; it does not look into SAM templates."""
    cfn_lint = Path(str(importlib.metadata.distribution("cfn-lint").locate_file("cfnlint")))
    data = cfn_lint / "data" / "AdditionalSpecs" / "Policies.json"
    known: dict[str, Any] = json.loads(data.read_bytes())
    return known


def actions_of_the_code() -> set[str]:
    """The IAM actions of every operation that the hasher's code can call."""
    session = botocore.session.get_session()
    actions = set()
    for service, method in operations_called(HANDLER, LIBRARY):
        names = session.get_service_model(service).operation_names
        [action] = [f"{service}:{name}" for name in names if xform_name(name) == method]
        actions |= {action} | IMPLIED.get(action, set())
    return actions


def test_role_allows_what_the_code_calls_and_no_more() -> None:
    """The role's actions are those that the code needs and those that Lambda needs for it."""
    allowed = [action for statement in role_statements() for action in listed(statement["Action"])]
    assert len(allowed) == len(set(allowed))
    assert set(allowed) == actions_of_the_code() | NOT_CALLED_BY_CODE


def test_calls_are_found_in_code() -> None:
    """The calls read from the source are those that the design gives the hasher."""
    assert operations_called(HANDLER, LIBRARY) == {
        ("s3", "get_object"),
        ("dynamodb", "get_item"),
        ("dynamodb", "put_item"),
        ("dynamodb", "batch_write_item"),
        ("dynamodb", "query"),
        ("sqs", "change_message_visibility"),
        ("sqs", "send_message"),
    }


def test_calls_through_a_reached_function_are_found(tmp_path: Path) -> None:
    """A call counts as soon as something that the handler mentions makes it; else it does not."""
    handler, library = tmp_path / "app.py", tmp_path / "library.py"
    handler.write_text("Thing(client).step()")
    library.write_text(
        "class Thing:\n"
        "    def step(self): return list(map(_inner, self.pages()))\n"
        "    def pages(self): return self._dynamodb.get_paginator('query')\n"
        "    def idle(self): return self._dynamodb.scan()\n"
        "def _inner(one): return one._s3.head_object()\n"
    )
    assert operations_called(handler, [library]) == {("dynamodb", "query"), ("s3", "head_object")}


def test_every_client_is_looked_at() -> None:
    """Every annotated client goes into an attribute that the search for calls knows."""
    kept = set()
    for path in LIBRARY:
        text = path.read_text(encoding="utf-8")
        for parameter in re.findall(r"(\w+): \"?\w+Client\b", text):
            used = re.findall(rf"(?<![\w.])({parameter})\.(?!meta\b)", text)
            kept |= set(re.findall(rf"self\.(\w+) = {parameter}\b", text)) or set(used)
    assert kept == set(CLIENTS)
    services = re.findall(r"client_of\(\s*\"(\w+)\"", HANDLER.read_text(encoding="utf-8"))
    assert sorted(services) == ["dynamodb", "s3", "sqs"]


@pytest.mark.parametrize("statement", policy_statements(), ids=lambda statement: statement["Sid"])
def test_actions_exist(statement: dict[str, Any]) -> None:
    """IAM knows every action in a policy; a misspelt name would be accepted and do nothing."""
    known = known_actions()
    for action in listed(statement["Action"]):
        service, name = action.split(":")
        assert name == "*" or name.lower() in known[service]["Actions"], action


def kinds_of(service: str, resource: Any) -> set[str]:  # noqa: ANN401 - a template's value
    """The kind of resource of an ARN in the template."""
    if resource in ("*", {"Ref": "AWS::NoValue"}):
        return set()
    if isinstance(resource, list):
        return set().union(*(kinds_of(service, entry) for entry in resource))
    if "Fn::If" in resource:
        _, first, second = resource["Fn::If"]
        return kinds_of(service, first) | kinds_of(service, second)
    if "Fn::Sub" in resource:
        return {"object" if resource["Fn::Sub"].endswith("/*") else "bucket"}
    if "Ref" in resource:
        return {"key"}
    return {KIND_OF[service][resource["Fn::GetAtt"][0]]}


@pytest.mark.parametrize("statement", role_statements(), ids=lambda statement: statement["Sid"])
def test_actions_stand_with_a_resource_they_know(statement: dict[str, Any]) -> None:
    """An object action stands with objects, a bucket action with the bucket: else it is void."""
    for action in listed(statement["Action"]):
        service, name = action.split(":")
        admitted = set(known_actions()[service]["Actions"][name.lower()].get("Resources", ()))
        if action in {"logs:CreateLogStream", "logs:PutLogEvents"}:
            admitted = {"log-group"}  # its ARN ends in ":*", which is its streams
        kinds = kinds_of(service, statement["Resource"])
        assert kinds <= admitted
        assert bool(kinds) == bool(admitted)


def test_no_resource_is_a_wildcard() -> None:
    """Only the listed actions may touch ``*``."""
    everywhere = [statement for statement in role_statements() if statement["Resource"] == "*"]
    assert {a for statement in everywhere for a in listed(statement["Action"])} == WITHOUT_RESOURCE
    assert all(
        "*" not in action
        for statement in role_statements()
        for action in listed(statement["Action"])
    )


def test_only_lambda_takes_the_role() -> None:
    """No person and no other service can act as the hasher."""
    role = load_template()["Resources"]["HasherRole"]["Properties"]
    [statement] = role["AssumeRolePolicyDocument"]["Statement"]
    assert statement == {
        "Effect": "Allow",
        "Principal": {"Service": "lambda.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }


def test_only_the_bucket_may_send() -> None:
    """The queue takes messages from S3 alone, and there from one bucket of one account alone."""
    policy = load_template()["Resources"]["ArrivalsQueuePolicy"]["Properties"]
    [statement] = policy["PolicyDocument"]["Statement"]
    assert policy["Queues"] == [{"Ref": "ArrivalsQueue"}]
    assert statement["Effect"] == "Allow"
    assert statement["Principal"] == {"Service": "s3.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Resource"] == {"Fn::GetAtt": ["ArrivalsQueue", "Arn"]}
    assert set(statement["Condition"]) == {"ArnEquals", "StringEquals"}
    assert statement["Condition"]["StringEquals"] == {
        "aws:SourceAccount": {"Ref": "AWS::AccountId"}
    }
    assert set(statement["Condition"]["ArnEquals"]) == {"aws:SourceArn"}
