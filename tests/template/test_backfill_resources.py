"""The backfill's state machine and roles: each may do what it does and nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import botocore.session
import pytest
import yaml
from botocore import xform_name
from tests.support.sam_template import TEMPLATE, load_template
from tests.template.client_calls import operations_called
from tests.template.sweep_definition import objections, states, targets
from tests.template.test_permissions import (
    WHOLE_LIBRARY,
    allowed_actions,
    known_actions,
    listed,
    role_statements,
)

if TYPE_CHECKING:
    from pathlib import Path

RESOURCES: Final = load_template()["Resources"]
DEFINITION: Final = TEMPLATE.parent / "statemachines" / "backfill.asl.yaml"
MACHINE: Final[dict[str, Any]] = yaml.safe_load(DEFINITION.read_text(encoding="utf-8"))
LIBRARY: Final = [path for path in WHOLE_LIBRARY if "backfill" in path.parts]
ENQUEUER: Final = TEMPLATE.parent / "src" / "enqueuer" / "app.py"

ACTION_OF: Final = {
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "sqs:SendMessageBatch": "sqs:SendMessage*",  # the template has the reason for the wildcard
}
"""Operations whose IAM action has another name."""

WRITES_LOGS: Final = {"logs:CreateLogStream", "logs:PutLogEvents"}
OWN_BUCKET: Final = "${AWS::StackName}-${AWS::AccountId}-${AWS::Region}"


def test_the_enqueuer_may_do_what_its_code_calls() -> None:
    """Its own calls, its log, and nothing else."""
    session = botocore.session.get_session()
    needed = set()
    for service, method in operations_called(ENQUEUER, LIBRARY):
        names = session.get_service_model(service).operation_names
        [action] = [f"{service}:{name}" for name in names if xform_name(name) == method]
        needed.add(ACTION_OF.get(action, action))
    assert allowed_actions("EnqueuerRole") == needed | WRITES_LOGS


def test_the_state_machine_may_invoke_the_enqueuer_and_follow_its_children() -> None:
    """The only function that its states name is the only function that it may invoke."""
    arguments = [
        state.body["Arguments"]["FunctionName"]
        for state in states(MACHINE)
        if state.body["Type"] == "Task"
    ]
    assert set(arguments) == {"${EnqueuerFunctionArn}"}
    substitutions = RESOURCES["BackfillStateMachine"]["Properties"]["DefinitionSubstitutions"]
    assert substitutions["EnqueuerFunctionArn"] == {"Fn::GetAtt": ["EnqueuerFunction", "Arn"]}
    assert allowed_actions("BackfillRole") == {
        "lambda:InvokeFunction",
        "states:StartExecution",  # of its own children alone: a Distributed Map
        "states:DescribeExecution",
        "states:StopExecution",
    }


@pytest.mark.parametrize("role", ["EnqueuerRole", "BackfillRole"])
def test_every_permission_names_a_resource(role: str) -> None:
    """No wildcard; the tables, queues and functions of arrivals are out of reach."""
    for statement in role_statements(role):
        for resource in listed(statement["Resource"]):
            text = json.dumps(resource)
            assert resource != "*"
            assert re.search(r"Backfill|Enqueuer|Bucket|" + re.escape(OWN_BUCKET), text), text
            assert not re.search(r"Hasher|Digests|ArrivalsQueue|Slicer|Sweep", text), text


@pytest.mark.parametrize("role", ["EnqueuerRole", "BackfillRole"])
def test_actions_exist(role: str) -> None:
    """IAM knows every action; a misspelt one would be accepted and do nothing."""
    for action in allowed_actions(role):
        service, name = action.removesuffix("*").split(":")
        assert name.lower() in known_actions()[service]["Actions"], action


@pytest.mark.parametrize(
    ("role", "service"), [("EnqueuerRole", "lambda"), ("BackfillRole", "states")]
)
def test_only_its_service_takes_a_role(role: str, service: str) -> None:
    """Lambda takes the enqueuer's role, Step Functions the state machine's."""
    [statement] = RESOURCES[role]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": f"{service}.amazonaws.com"}


@pytest.mark.parametrize(
    "machine",
    [
        MACHINE,
        *(s.body["ItemProcessor"] for s in states(MACHINE) if s.body["Type"] == "Map"),
    ],
    ids=lambda machine: str(machine["StartAt"]),
)
def test_every_state_is_reached_and_leads_on(machine: dict[str, Any]) -> None:
    """From StartAt each state can be reached, and each leads to another or ends."""
    reached, waiting = set(), [machine["StartAt"]]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        body = machine["States"][name]
        waiting += targets(body) - reached
        assert targets(body) or body.get("End") or body["Type"] == "Succeed"
    assert reached == set(machine["States"])


def test_every_task_is_tried_again() -> None:
    """Listing for days meets throttles and deaths; positions make a repetition harmless."""
    tasks = [state.body for state in states(MACHINE) if state.body["Type"] == "Task"]
    assert tasks
    assert all(task["Retry"][0]["ErrorEquals"] == ["States.ALL"] for task in tasks)


def test_asl_validator_accepts_the_definition(tmp_path: Path) -> None:
    """The validator that knows JSONata has no objection."""
    assert not objections(MACHINE, tmp_path)
