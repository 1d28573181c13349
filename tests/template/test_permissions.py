"""The hasher and the slicer may do what their code does, and nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.support.recorded_calls import listed
from tests.support.sam_template import TEMPLATE, load_template
from tests.template import roles
from tests.template.client_calls import CLIENTS, operations_called
from tests.template.roles import WRITES_LOGS, action_of, known_actions, statements_of

from bucketsum.events.notifications import DETAIL_TYPES
from bucketsum.long_objects.progress import PARTITION

if TYPE_CHECKING:
    from pathlib import Path

ROOT: Final = TEMPLATE.parent
LIBRARY: Final = roles.LIBRARY
"""Neither function imports what sweeps; test_imports.py holds that."""

HANDLER: Final = ROOT / "src" / "hasher" / "app.py"
SLICER: Final = ROOT / "src" / "slicer" / "app.py"
WITHOUT_ARCHIVES: Final = [
    path for path in LIBRARY if path.parent.name not in ("archives", "backfill")
]
"""The slicer imports neither what reads archives nor what backfills; test_imports.py holds that."""

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
    *WRITES_LOGS,
    # S3 decrypts with it what is encrypted with the key that a parameter names:
    "kms:Decrypt",
}  # fmt: skip

KIND_OF: Final = {
    "dynamodb": {"DigestsTable": "table", "BackfillsTable": "table"},
    "sqs": {
        "ArrivalsQueue": "queue",
        "BackfillQueue": "queue",
        "DeadLetterQueue": "queue",
        "LongObjectsQueue": "queue",
    },
    "logs": {"HasherLogGroup": "log-group", "SlicerLogGroup": "log-group"},
}


def actions_of_the_code(handler: Path) -> set[str]:
    """The IAM actions of every operation that the code of *handler* can call."""
    library = LIBRARY if handler == HANDLER else WITHOUT_ARCHIVES
    actions = {action_of(*call) for call in operations_called(handler, library)}
    return actions.union(*(IMPLIED.get(action, set()) for action in actions))


@pytest.mark.parametrize(("role", "handler"), [("HasherRole", HANDLER), ("SlicerRole", SLICER)])
def test_role_allows_what_the_code_calls_and_no_more(role: str, handler: Path) -> None:
    """The role's actions are those that the code needs and those that Lambda needs for it."""
    allowed = [
        action
        for statement in statements_of(role)
        for action in listed(statement["Action"])
        if "Attached" not in statement["Sid"]
    ]
    places = [
        (action, json.dumps(statement["Resource"]))
        for statement in statements_of(role)
        for action in listed(statement["Action"])
    ]
    assert len(places) == len(set(places))
    assert set(allowed) == actions_of_the_code(handler) | NOT_CALLED_BY_CODE


def test_calls_are_found_in_code() -> None:
    """The calls read from the source are those that the design gives the hasher."""
    assert operations_called(HANDLER, LIBRARY) == {
        ("s3", "get_object"),
        ("dynamodb", "get_item"),
        ("dynamodb", "put_item"),
        ("dynamodb", "batch_get_item"),
        ("dynamodb", "batch_write_item"),
        ("dynamodb", "update_item"),
        ("dynamodb", "query"),
        ("dynamodb", "update_item"),
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
    for path in (*roles.LIBRARY, *roles.LAB_LIBRARY):
        text = path.read_text(encoding="utf-8")
        for parameter in re.findall(r"(\w+): \"?\w+Client\b", text):
            used = re.findall(rf"(?<![\w.])({parameter})\.(?!meta\b)", text)
            kept |= set(re.findall(rf"self\.(\w+) = {parameter}\b", text)) or set(used)
    assert kept == set(CLIENTS)
    services = re.findall(r"client_of\(\s*\"(\w+)\"", HANDLER.read_text(encoding="utf-8"))
    assert sorted(services) == ["dynamodb", "s3", "sqs"]


def kinds_of(service: str, resource: Any) -> set[str]:  # noqa: ANN401 - a template's value
    """The kind of resource of an ARN in the template."""
    if resource in ("*", {"Ref": "AWS::NoValue"}):
        return set()
    if isinstance(resource, list):
        return set().union(*(kinds_of(service, entry) for entry in resource))
    if "Fn::If" in resource or "Fn::Split" in resource:
        [[_, *parts]] = resource.values()
        return kinds_of(service, parts)
    if "Fn::Sub" in resource:
        text = resource["Fn::Sub"]
        text = text if isinstance(text, str) else text[0]
        return {"object" if text.endswith("/*") else "bucket"}
    if "Ref" in resource:
        return {"bucket" if resource["Ref"] == "AttachedBucketArns" else "key"}
    return {KIND_OF[service][resource["Fn::GetAtt"][0]]}


@pytest.mark.parametrize(
    "statement",
    [*statements_of("HasherRole"), *statements_of("SlicerRole")],
    ids=lambda statement: statement["Sid"],
)
def test_actions_stand_with_a_resource_they_know(statement: dict[str, Any]) -> None:
    """An object action stands with objects, a bucket action with the bucket: else it is void."""
    for action in listed(statement["Action"]):
        service, name = action.split(":")
        admitted = set(known_actions()[service]["Actions"][name.lower()].get("Resources", ()))
        if action in WRITES_LOGS:
            admitted = {"log-group"}  # its ARN ends in ":*", which is its streams
        kinds = kinds_of(service, statement["Resource"])
        assert kinds <= admitted
        assert bool(kinds) == bool(admitted)


def test_no_resource_is_a_wildcard() -> None:
    """No action and no resource is ``*``."""
    statements = [*statements_of("HasherRole"), *statements_of("SlicerRole")]
    assert all(statement["Resource"] != "*" for statement in statements)
    assert all(
        "*" not in action for statement in statements for action in listed(statement["Action"])
    )


def queue_statements() -> dict[str, dict[str, Any]]:
    """The statements of the arrivals queue's policy by their names."""
    policy = load_template()["Resources"]["ArrivalsQueuePolicy"]["Properties"]
    assert policy["Queues"] == [{"Ref": "ArrivalsQueue"}]
    return {statement["Sid"]: statement for statement in statements_of("ArrivalsQueuePolicy")}


@pytest.mark.parametrize("sid", ["BucketNotifications", "AttachedBucketNotifications"])
def test_only_buckets_of_the_account_may_send(sid: str) -> None:
    """The queue takes messages from S3, and there from named buckets of one account alone."""
    statement = queue_statements()[sid]
    assert statement["Effect"] == "Allow"
    assert statement["Principal"] == {"Service": "s3.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Resource"] == {"Fn::GetAtt": ["ArrivalsQueue", "Arn"]}
    assert set(statement["Condition"]) == {"ArnEquals", "StringEquals"}
    assert statement["Condition"]["StringEquals"] == {
        "aws:SourceAccount": {"Ref": "AWS::AccountId"}
    }
    assert set(statement["Condition"]["ArnEquals"]) == {"aws:SourceArn"}


def test_only_the_rule_may_send_from_eventbridge() -> None:
    """Of EventBridge's rules, the queue takes messages from the template's own alone."""
    assert queue_statements()["EventBridgeEvents"] == {
        "Sid": "EventBridgeEvents",
        "Effect": "Allow",
        "Principal": {"Service": "events.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": {"Fn::GetAtt": ["ArrivalsQueue", "Arn"]},
        "Condition": {"ArnEquals": {"aws:SourceArn": {"Fn::GetAtt": ["ObjectCreatedRule", "Arn"]}}},
    }


def conditions_of_statements(resource: dict[str, Any]) -> dict[str, str]:
    """Conditional statements in *resource*: their names, and the conditions."""
    policies = resource.get("Policies", [resource])
    return {
        statement["Fn::If"][1]["Sid"]: statement["Fn::If"][0]
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        if "Fn::If" in statement
    }


def test_attached_buckets_are_served_only_while_there_are_some() -> None:
    """An empty list makes no statement and no rule: a policy without resources is refused."""
    resources = load_template()["Resources"]
    attached, eventbridge = "HasAttachedBuckets", "HasEventBridgeBuckets"
    assert conditions_of_statements(resources["ArrivalsQueuePolicy"]["Properties"]) == {
        "AttachedBucketNotifications": attached,
        "EventBridgeEvents": eventbridge,
    }
    assert conditions_of_statements(resources["HasherRole"]["Properties"]) == {
        "ReadAttachedObjects": attached,
        "TellMissingInAttached": attached,
        "DecryptObjects": "HasKmsKey",
    }
    assert resources["ObjectCreatedRule"]["Condition"] == eventbridge


def test_the_slicer_reads_what_the_hasher_reads() -> None:
    """An object that the hasher may read can be handed over; progress is moved, and no rows."""
    hasher = {statement["Sid"]: statement for statement in statements_of("HasherRole")}
    slicer = {statement["Sid"]: statement for statement in statements_of("SlicerRole")}
    for sid in ("ReadObjects", "TellMissingFromForbidden", "ReadAttachedObjects",
                "TellMissingInAttached", "DecryptObjects"):  # fmt: skip
        assert slicer[sid] == hasher[sid]
    of_progress = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [PARTITION]}}
    assert slicer["MoveProgress"]["Condition"] == of_progress


def test_attached_buckets_get_what_the_own_bucket_gets() -> None:
    """The same actions, on the same kinds of resources."""
    statements = {statement["Sid"]: statement for statement in statements_of("HasherRole")}
    for own, attached in [
        ("ReadObjects", "ReadAttachedObjects"),
        ("TellMissingFromForbidden", "TellMissingInAttached"),
    ]:
        assert statements[own]["Action"] == statements[attached]["Action"]
        kinds = [kinds_of("s3", statements[sid]["Resource"]) for sid in (own, attached)]
        assert kinds[0] == kinds[1]


def test_the_rule_takes_only_events_of_its_buckets_that_the_hasher_reads() -> None:
    """The rule's pattern has the buckets' ARNs, and sends the events as they are."""
    rule = load_template()["Resources"]["ObjectCreatedRule"]["Properties"]
    assert rule["EventPattern"] == {
        "source": ["aws.s3"],
        "detail-type": list(DETAIL_TYPES),
        "resources": {"Fn::Split": [",", {"Ref": "EventBridgeBucketArns"}]},
    }
    [target] = rule["Targets"]
    assert target["Arn"] == {"Fn::GetAtt": ["ArrivalsQueue", "Arn"]}
    assert set(target) == {"Id", "Arn"}


def test_only_the_arrivals_queue_takes_messages_from_a_service() -> None:
    """Without a policy, a queue takes messages from principals of its account that may send."""
    policies = [r for r in load_template()["Resources"].values() if "Policy" in r["Type"]]
    queues = [queue for r in policies for queue in r["Properties"].get("Queues", ())]
    assert queues == [{"Ref": "ArrivalsQueue"}]


@pytest.mark.parametrize("role", ["HasherRole", "SlicerRole", "EnqueuerRole"])
def test_the_key_decrypts_for_s3_alone(role: str) -> None:
    """With the role's credentials, nothing else that the key encrypts can be read."""
    [decrypt] = [s for s in statements_of(role) if "kms:Decrypt" in listed(s["Action"])]
    via = {"Fn::Sub": "s3.${AWS::Region}.${AWS::URLSuffix}"}
    assert decrypt["Condition"] == {"StringEquals": {"kms:ViaService": via}}
    assert decrypt["Resource"] == {"Ref": "KmsKeyArn"}
