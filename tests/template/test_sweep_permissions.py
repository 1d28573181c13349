"""Each of the sweep's functions, and its state machine, may do what it does and nothing else."""

from typing import Any, Final

import pytest
from tests.support.sam_template import load_template
from tests.template.client_calls import CLIENTS, clients_kept, operations_called
from tests.template.references import referred
from tests.template.roles import (
    HANDLERS,
    LAB_LIBRARY,
    LIBRARY,
    RESOURCES,
    WRITES_LOGS,
    action_of,
    allowed,
    resources_outside,
    statements_of,
)
from tests.template.state_machines import load_definition, states

FUNCTIONS: Final = ("Planner", "Publisher", "Prober", "Analyst")
REACH: Final = (
    r"Sweep|Prober|Measurements|Planner|Publisher|Analyst",
    r"Hasher|Digests|Arrivals|Inbox",
)
"""The names of a role's resources are of the first kind, and none is of the second."""

CALLED: Final = {
    # Operations whose action has another name, or that stand behind another one:
    "Planner": {"s3:CreateMultipartUpload": "s3:PutObject",
                "s3:UploadPart": "s3:PutObject", "s3:CompleteMultipartUpload": "s3:PutObject",
                "stepfunctions:DescribeExecution": "states:DescribeExecution"},
    "Publisher": {"stepfunctions:DescribeExecution": "states:DescribeExecution"},
    "Prober": {},
    "Analyst": {},
}  # fmt: skip
BESIDE: Final = {
    "Planner": {"s3:ListBucket"},  # without it S3 answers 403 where it means 404
    "Publisher": {"lambda:GetFunctionConfiguration"},  # its waiters ask with it
    "Prober": {"s3:ListBucket"},
    "Analyst": set[str](),
}
OPERATIONS: Final = {
    # What is found in the source finds too much: methods of one name are taken for one another.
    "Planner": {"head_object", "create_multipart_upload", "upload_part",
                "put_item", "complete_multipart_upload", "abort_multipart_upload",
                "describe_execution", "batch_write_item"},
    "Publisher": {"get_function_configuration", "update_function_configuration",
                  "publish_version", "list_versions_by_function", "delete_function",
                  "describe_execution", "query", "put_item"},
    "Prober": {"get_object", "head_object", "batch_get_item"},
    "Analyst": {"query", "put_item"},
}  # fmt: skip
INTEGRATIONS: Final = {
    "arn:${Partition}:states:::lambda:invoke": "lambda:InvokeFunction",
    "arn:${Partition}:states:::dynamodb:putItem": "dynamodb:PutItem",
    "arn:${Partition}:states:::dynamodb:updateItem": "dynamodb:UpdateItem",
}


def actions_of(name: str) -> set[str]:
    """The IAM actions of the operations that a function calls."""
    called = {
        (service, method)
        for service, method in operations_called(HANDLERS[name.lower()], [*LIBRARY, *LAB_LIBRARY])
        if method in OPERATIONS[name]
    }
    assert {method for _, method in called} == OPERATIONS[name]
    actions = {action_of(*call) for call in called}
    return {CALLED[name].get(action, action) for action in actions}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_may_do_what_its_code_calls(name: str) -> None:
    """Its own calls, its log, and nothing else."""
    assert allowed(f"{name}Role") == actions_of(name) | BESIDE[name] | WRITES_LOGS


def test_the_state_machine_may_do_what_its_states_do() -> None:
    """Ministack does not hold a state machine to its role, so this does."""
    resources = {
        state.body["Resource"]
        for state in states(load_definition())
        if state.body["Type"] == "Task"
    }
    assert allowed("SweepRole") == {INTEGRATIONS[resource] for resource in resources}


def test_the_state_machine_invokes_its_functions_alone() -> None:
    """Of the prober, its versions and never what is unpublished."""
    [invoke] = [
        statement
        for statement in statements_of("SweepRole")
        if statement["Action"] == "lambda:InvokeFunction"
    ]
    assert invoke["Resource"] == [
        {"Fn::GetAtt": ["PlannerFunction", "Arn"]},
        {"Fn::GetAtt": ["PublisherFunction", "Arn"]},
        {"Fn::GetAtt": ["AnalystFunction", "Arn"]},
        {"Fn::Sub": "${ProberFunction.Arn}:*"},
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_writes_into_its_own_log(name: str) -> None:
    """And into no other."""
    [logs] = [
        statement
        for statement in statements_of(f"{name}Role")
        if statement.get("Sid") == "WriteLogs"
    ]
    function = RESOURCES[f"{name}Function"]["Properties"]
    assert logs["Resource"] == {"Fn::GetAtt": [f"{name}LogGroup", "Arn"]}
    assert function["LoggingConfig"]["LogGroup"] == {"Ref": f"{name}LogGroup"}
    assert function["Role"] == {"Fn::GetAtt": [f"{name}Role", "Arn"]}


def test_what_the_publisher_sets_back_is_what_the_template_says() -> None:
    """Memory and description of the prober stand in two places; they are the same."""
    prober = RESOURCES["ProberFunction"]["Properties"]
    variables = RESOURCES["PublisherFunction"]["Properties"]["Environment"]["Variables"]
    assert variables["PROBER_MEMORY_MB"] == prober["MemorySize"]
    assert variables["PROBER_DESCRIPTION"] == prober["Description"]


def test_the_prober_stands_on_the_hashers_layer() -> None:
    """The prober is measured as the hasher runs: same layer, runtime and architecture."""
    hasher = RESOURCES["HasherFunction"]["Properties"]
    prober = RESOURCES["ProberFunction"]["Properties"]
    assert prober["Layers"] == [*hasher["Layers"], {"Ref": "LabLayer"}]
    for name in ("Runtime", "Architectures", "Timeout", "MemorySize"):
        assert prober[name] == hasher[name], name


def test_executions_that_are_broken_off_are_cleaned_up_after_and_closed() -> None:
    """Step Functions runs no state after StopExecution, a time-out or a broken expression."""
    rule = RESOURCES["BrokenOffRule"]["Properties"]
    detail = rule["EventPattern"]["detail"]
    targets = {target["Arn"]["Fn::GetAtt"][0] for target in rule["Targets"]}
    may = {
        resource["Properties"]["FunctionName"]["Ref"]
        for resource in RESOURCES.values()
        if resource["Type"] == "AWS::Lambda::Permission"
        and resource["Properties"]["SourceArn"] == {"Fn::GetAtt": ["BrokenOffRule", "Arn"]}
    }
    assert detail["stateMachineArn"] == [{"Ref": "SweepStateMachine"}]
    assert set(detail["status"]) == {"ABORTED", "TIMED_OUT", "FAILED"}
    assert targets == may == {"PublisherFunction", "AnalystFunction"}


def test_the_sweeps_bucket_notifies_nobody() -> None:
    """Test objects never become arrivals; and none outlives its week."""
    bucket = RESOURCES["SweepBucket"]["Properties"]
    assert "NotificationConfiguration" not in bucket
    rules = {rule["Id"]: rule for rule in bucket["LifecycleConfiguration"]["Rules"]}
    assert rules["ExpireMadeObjects"]["Prefix"] == "objects/"
    assert rules["ExpireMadeObjects"]["ExpirationInDays"] == 7
    assert "AbortIncompleteMultipartUploads" in rules


@pytest.mark.parametrize("name", [*FUNCTIONS, "Sweep"])
def test_every_permission_names_a_resource_of_this_stack(name: str) -> None:
    """No wildcard; sweeps reach nothing of the arrivals' functions and tables."""
    assert not resources_outside(f"{name}Role", *REACH)


def test_every_client_is_looked_at() -> None:
    """Every annotated client goes into an attribute that the search for calls knows."""
    assert clients_kept([*LIBRARY, *LAB_LIBRARY]) == set(CLIENTS)


def test_sweeps_can_be_left_out() -> None:
    """With Sweeps "no" 43 resources remain, and nothing refers to a resource that is left out."""
    template = load_template()
    assert template["Conditions"]["HasSweeps"] == {"Fn::Equals": [{"Ref": "Sweeps"}, "yes"]}
    parts = template["Resources"] | template["Outputs"]
    kept = {name: part for name, part in parts.items() if part.get("Condition") != "HasSweeps"}
    assert referred(kept) & set(parts) <= set(kept)
    assert {"Ref": "LabLayer"} not in [layer for part in kept.values() for layer in layers_of(part)]
    assert len(set(kept) & set(template["Resources"])) == 43


def layers_of(part: dict[str, Any]) -> list[dict[str, str]]:
    """The layers of a function; none for other parts of a template."""
    layers: list[dict[str, str]] = part.get("Properties", {}).get("Layers", [])
    return layers
