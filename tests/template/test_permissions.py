"""The hasher and the slicer may do what their code does, and nothing else."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from tests.support.recorded_calls import listed
from tests.support.sam_template import load_template
from tests.template import roles
from tests.template.client_calls import OF_THE_PRODUCT, clients_kept, operations_called
from tests.template.layer_reach import reached
from tests.template.roles import WRITES_LOGS, action_of, known_actions, statements_of

from bucketsum.long_objects.progress import PARTITION
from bucketsum_cli.buckets.attachments.access_template import template_of
from bucketsum_cli.buckets.served_buckets import AttachedBucket

LIBRARY: Final = roles.LIBRARY
"""Neither function imports what sweeps; test_imports.py holds that."""

HANDLER, SLICER = roles.HANDLERS["hasher"], roles.HANDLERS["slicer"]
IMPLIED: Final = {
    # Beside what the operation itself is called:
    "s3:GetObject": {
        "s3:GetObjectVersion",  # what GetObject needs when it names a version
        "s3:ListBucket",  # without it S3 answers 403 where it means 404
        "s3:ListBucketVersions",  # AWS documents the rule for keys only; perhaps so for versions
    },
    "s3:GetObjectAttributes": {"s3:GetObjectVersionAttributes"},  # as GetObjectVersion
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
    actions = {action_of(*call) for call in operations_called(handler, reached([handler]))}
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
        (action, json.dumps([statement["Resource"], statement.get("Condition")]))
        for statement in statements_of(role)
        for action in listed(statement["Action"])
    ]
    assert len(places) == len(set(places))
    assert set(allowed) == actions_of_the_code(handler) | NOT_CALLED_BY_CODE


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
    assert clients_kept(LIBRARY) == set(OF_THE_PRODUCT)
    [resources] = [path for path in LIBRARY if path.name == "resources.py"]
    services = re.findall(r"client_of\(\s*\"(\w+)\"", resources.read_text(encoding="utf-8"))
    assert sorted(services) == ["dynamodb", "s3", "sqs"]


def kinds_of(service: str, resource: Any) -> set[str]:  # noqa: ANN401 - a template's value
    """The kind of resource of an ARN in the template."""
    if resource in ("*", ",", {"Ref": "AWS::NoValue"}):
        return set()
    if isinstance(resource, list):
        return set().union(*(kinds_of(service, entry) for entry in resource))
    if "Fn::If" in resource or "Fn::Split" in resource:
        [[_, *parts]] = resource.values()
        return kinds_of(service, parts)
    if isinstance(resource, str) or "Fn::Sub" in resource:
        text = resource if isinstance(resource, str) else resource["Fn::Sub"]
        return {"object" if text.endswith("/*") else "bucket"}
    if "Ref" in resource:
        return {"key"}
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


def test_only_buckets_of_the_account_may_send() -> None:
    """The queue takes messages from S3, of all buckets of one account: no deployment drops one."""
    statement = queue_statements()["BucketNotifications"]
    assert statement["Effect"] == "Allow"
    assert statement["Principal"] == {"Service": "s3.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Resource"] == {"Fn::GetAtt": ["ArrivalsQueue", "Arn"]}
    assert statement["Condition"] == {
        "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}},
        "ArnLike": {"aws:SourceArn": {"Fn::Sub": "arn:${AWS::Partition}:s3:::*"}},
    }


@pytest.mark.parametrize(
    ("policy", "queue"),
    [("ArrivalsQueuePolicy", "ArrivalsQueue"), ("DeadLetterQueuePolicy", "DeadLetterQueue")],
)
def test_only_own_rules_may_send_from_eventbridge(policy: str, queue: str) -> None:
    """Of EventBridge's rules, the two queues take messages from those of `attach` alone."""
    [statement] = [
        s for s in statements_of(policy) if s["Principal"] == {"Service": "events.amazonaws.com"}
    ]
    rules = (
        "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:"
        "rule/${AWS::StackName}-attached-*"
    )
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Resource"] == {"Fn::GetAtt": [queue, "Arn"]}
    assert statement["Condition"] == {"ArnLike": {"aws:SourceArn": {"Fn::Sub": rules}}}


def test_the_slicer_reads_what_the_hasher_reads() -> None:
    """An object that the hasher may read can be handed over; progress is moved, and no rows."""
    hasher = {statement["Sid"]: statement for statement in statements_of("HasherRole")}
    slicer = {statement["Sid"]: statement for statement in statements_of("SlicerRole")}
    for sid in ("ReadObjects", "TellMissingFromForbidden", "DecryptObjects"):
        assert slicer[sid] == hasher[sid]
    of_progress = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [PARTITION]}}
    assert slicer["MoveProgress"]["Condition"] == of_progress


@pytest.mark.parametrize(
    ("role", "kind", "sids"),
    [
        ("HasherRole", "ReadObjects0", ("ReadObjects", "TellMissingFromForbidden")),
        ("EnqueuerRole", "ReadObjects0", ("ReadObjects", "TellMissingFromForbidden")),
        ("EnqueuerRole", "ListObjects0", ("ListObjects",)),
    ],
)
def test_attached_buckets_get_what_the_own_bucket_gets(
    role: str, kind: str, sids: tuple[str, ...]
) -> None:
    """The same actions, on the same kinds of resources; inventories are read from one bucket."""
    stack: Any = SimpleNamespace(
        name="sums",
        outputs={"HasherRoleName": ""},
        parameters={},
        arrivals_queue_arn="arn:aws:sqs:eu-west-1:1:arrivals",
        dead_letter_queue_url="/dead",
    )
    resources = template_of(stack, [AttachedBucket("photos")])["Resources"]
    attached = resources[kind]["Properties"]["PolicyDocument"]["Statement"]
    assert f"sums-{role}Name" in str(resources[kind]["Properties"]["Roles"])
    own = [
        (statement["Action"], kinds_of("s3", statement["Resource"]))
        for statement in statements_of(role)
        if statement["Sid"] in sids
    ]
    assert [(s["Action"], kinds_of("s3", s["Resource"])) for s in attached] == own


def test_inventories_are_read_from_their_bucket_alone() -> None:
    """Other objects the enqueuer may read as the hasher may: HEAD has no permission of its own."""
    reads, hasher = (
        [s["Resource"] for s in statements_of(role) if "s3:GetObject" in listed(s["Action"])]
        for role in ("EnqueuerRole", "HasherRole")
    )
    assert reads == [{"Fn::Sub": "${InventoryBucketArn}/*"}, *hasher]


def test_only_two_queues_take_messages_from_a_service() -> None:
    """Without a policy, a queue takes messages from principals of its account that may send."""
    policies = [r for r in load_template()["Resources"].values() if "Policy" in r["Type"]]
    queues = [queue for r in policies for queue in r["Properties"].get("Queues", ())]
    assert queues == [{"Ref": "ArrivalsQueue"}, {"Ref": "DeadLetterQueue"}]


@pytest.mark.parametrize("role", ["HasherRole", "SlicerRole", "EnqueuerRole"])
def test_the_key_decrypts_for_s3_alone(role: str) -> None:
    """With the role's credentials, nothing else that the key encrypts can be read."""
    [decrypt] = [s for s in statements_of(role) if "kms:Decrypt" in listed(s["Action"])]
    via = {"Fn::Sub": "s3.${AWS::Region}.${AWS::URLSuffix}"}
    assert decrypt["Condition"] == {"StringEquals": {"kms:ViaService": via}}
    assert decrypt["Resource"] == {"Fn::Split": [",", {"Ref": "KmsKeyArn"}]}
