"""The backfill's state machine and roles: each may do what it does and nothing else."""

from __future__ import annotations

from typing import Any, Final

from tests.support.sam_template import TEMPLATE
from tests.template.client_calls import operations_called
from tests.template.roles import LIBRARY, RESOURCES, WRITES_LOGS, action_of, allowed
from tests.template.state_machines import load_definition, states

TASKS: Final[list[Any]] = [
    state.body for state in states(load_definition("backfill")) if state.body["Type"] == "Task"
]
BACKFILL: Final = [path for path in LIBRARY if "backfill" in path.parts]
ENQUEUER: Final = TEMPLATE.parent / "src" / "enqueuer" / "app.py"

ACTION_OF: Final = {
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "sqs:SendMessageBatch": "sqs:SendMessage*",  # the template has the reason for the wildcard
}
"""Operations whose IAM action has another name."""


def test_the_enqueuer_may_do_what_its_code_calls() -> None:
    """Its own calls, its log, the key of encrypted inventories, and nothing else."""
    actions = {action_of(*call) for call in operations_called(ENQUEUER, BACKFILL)}
    needed = {ACTION_OF.get(action, action) for action in actions}
    assert allowed("EnqueuerRole") == needed | WRITES_LOGS | {"kms:Decrypt"}


def test_the_state_machine_may_invoke_the_enqueuer_and_follow_its_children() -> None:
    """The only function that its states name is the only function that it may invoke."""
    assert {task["Arguments"]["FunctionName"] for task in TASKS} == {"${EnqueuerFunctionArn}"}
    substitutions = RESOURCES["BackfillStateMachine"]["Properties"]["DefinitionSubstitutions"]
    assert substitutions["EnqueuerFunctionArn"] == {"Fn::GetAtt": ["EnqueuerFunction", "Arn"]}
    assert allowed("BackfillRole") == {
        "lambda:InvokeFunction",
        "states:StartExecution",  # of its own children alone: a Distributed Map
        "states:DescribeExecution",
        "states:StopExecution",
    }


def test_every_task_is_tried_again() -> None:
    """Listing for days meets throttles and deaths; positions make a repetition harmless."""
    assert TASKS
    assert all(task["Retry"][0]["ErrorEquals"] == ["States.ALL"] for task in TASKS)
