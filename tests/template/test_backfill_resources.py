"""The backfill's state machine and roles: each may do what it does and nothing else."""

from itertools import chain
from typing import Any, Final

from tests.template.client_calls import operations_called
from tests.template.roles import HANDLERS, LIBRARY, RESOURCES, WRITES_LOGS, action_of, allowed
from tests.template.state_machines import events, load_definition, states

from bucketsum.backfill.rest import pause_after
from bucketsum.errors import BadInventory, UnknownBackfill

TASKS: Final[list[Any]] = [
    state.body for state in states(load_definition("backfill")) if state.body["Type"] == "Task"
]
BACKFILL: Final = [path for path in LIBRARY if "backfill" in path.parts]

ACTION_OF: Final = {
    "stepfunctions:StartExecution": "states:StartExecution",
    "stepfunctions:DescribeExecution": "states:DescribeExecution",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "sqs:SendMessageBatch": "sqs:SendMessage*",  # the template has the reason for the wildcard
}
"""Operations whose IAM action has another name."""

OF_HEAD: Final = {
    "s3:GetObjectVersion", "s3:GetObjectAttributes", "s3:GetObjectVersionAttributes",
    "s3:ListBucket",
}  # fmt: skip
"""The rest of the policy ReadObjects, of which HEAD needs the most."""

EVENTS_MAX: Final = 25_000  # Step Functions: quota of an execution's history
DISTRIBUTED_MAP: Final = 2  # MapRunStarted, MapRunSucceeded
CHILD_EXECUTION: Final = 2  # ExecutionStarted, ExecutionSucceeded
INVOCATION_SECONDS: Final = 870  # the function's time-out, less the time in which it takes no page
BILLION_SECONDS: Final = 1_653_568  # of all enqueuers, in the published bill of 10⁹ objects
ENQUEUERS: Final = 50


def test_the_enqueuer_may_do_what_its_code_calls() -> None:
    """Its own calls, its log, the key of encrypted inventories, and nothing else."""
    actions = {action_of(*call) for call in operations_called(HANDLERS["enqueuer"], BACKFILL)}
    needed = {ACTION_OF.get(action, action) for action in actions}
    assert (
        allowed("EnqueuerRole") == needed | WRITES_LOGS | {"kms:Decrypt", "sns:Publish"} | OF_HEAD
    )


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
    """Listing for days meets throttles and deaths; only errors that stay end it at once."""
    assert TASKS
    for task in TASKS:
        never, _, always = task["Retry"]
        assert never["ErrorEquals"] == [UnknownBackfill.__name__, BadInventory.__name__]
        assert never["MaxAttempts"] == 0
        assert always["ErrorEquals"] == ["States.ALL"]


def test_a_billion_objects_fit_into_one_execution() -> None:
    """The parent's history does not grow with the listing; a child's lasts for 35 days of it."""
    machine = load_definition("backfill")
    buckets = 500  # each is listed, and waited for
    steps = iter([*["Work"] * 2 * buckets, "Done"])
    parent = events(machine, lambda *_: [], lambda *_: next(steps))
    assert parent + DISTRIBUTED_MAP * 2 * buckets < EVENTS_MAX

    invocations = 35 * 86_400 // INVOCATION_SECONDS
    more = chain(["WorkOnParts"] * (invocations - 1), ["PartsDone"])
    child = machine["States"]["Work"]["ItemProcessor"]
    assert events(child, lambda *_: [], lambda *_: next(more)) + CHILD_EXECUTION <= EVENTS_MAX
    assert invocations / 20 > BILLION_SECONDS / ENQUEUERS / INVOCATION_SECONDS


def test_a_role_follows_its_children() -> None:
    """A child's ARN has a slash after the name of the state machine."""
    [_, follow] = RESOURCES["BackfillRunsChildren"]["Properties"]["PolicyDocument"]["Statement"]
    suffixes = [arn["Fn::Sub"].rpartition("}")[2] for arn in follow["Resource"]]
    assert suffixes == [":*", "/*"]


def test_a_child_waits_for_months() -> None:
    """Its pauses grow with the time that it has waited."""
    seconds, looks = 0, 0
    while seconds < 100 * 86_400:
        seconds += pause_after(seconds)
        looks += 1
    child = load_definition("backfill")["States"]["Work"]["ItemProcessor"]
    waits = chain(["Pause"] * looks, ["PartsDone"])
    assert events(child, lambda *_: [], lambda *_: next(waits)) + CHILD_EXECUTION <= EVENTS_MAX


def test_a_failure_of_one_bucket_is_not_the_end_of_the_others() -> None:
    """The run goes on with the next bucket, and fails at its end, for the alarm."""
    states_by_name = load_definition("backfill")["States"]
    for name in ("Step", "Work"):
        [catch] = states_by_name[name]["Catch"]
        assert (catch["ErrorEquals"], catch["Next"]) == (["States.ALL"], "GiveUp")
    assert states_by_name["GiveUp"]["Next"] == "Step"
    assert "Catch" not in states_by_name["GiveUp"]
    assert states_by_name["Failed"]["Type"] == "Fail"


def test_the_schedule_begins_after_its_permissions() -> None:
    """A rate's first event comes at once."""
    assert RESOURCES["VerificationSchedule"]["DependsOn"] == "EnqueuerStartsVerifications"
