"""The sweep's state machine: every way out leads through clean-up."""

import json
import re
from typing import Final

from tests.support.sam_template import load_template
from tests.support.sweeps import DEPLOYED
from tests.template.state_machines import load_definition, states, targets

from bucketsum_lab.plan.input_fields import CONCURRENCY_MAX

MACHINE: Final = load_definition()
STATES: Final = {state.name: state for state in states(MACHINE)}
TOP: Final = MACHINE["States"]
RETRIED: Final = {
    # Throttles and errors of the services; a function's own error is never tried again.
    "Lambda.TooManyRequestsException", "Lambda.ServiceException", "Lambda.AWSLambdaException",
    "Lambda.SdkClientException", "Lambda.ClientExecutionTimeoutException",
    "DynamoDB.ProvisionedThroughputExceededException",
    "DynamoDB.RequestLimitExceeded", "DynamoDB.ThrottlingException",
    "DynamoDB.InternalServerError", "DynamoDB.SdkClientException",
    # An idle function in a VPC, before it runs:
    "Lambda.ResourceNotReadyException", "Lambda.ENINotReadyException",
    "Lambda.ResourceConflictException", "Lambda.CodeArtifactUserPendingException",
}  # fmt: skip


def test_every_state_after_the_first_change_leads_to_clean_up() -> None:
    """From the first object made until clean-up, whatever fails goes there with its reason."""
    name = TOP["Plan"]["Next"]
    while name != "CleanUp":
        [catch] = TOP[name]["Catch"]
        assert catch["ErrorEquals"] == ["States.ALL"]
        assert catch["Next"] == "CleanUp"
        assert "$states.errorOutput" in catch["Assign"]["failure"]["error"]
        name = TOP[name]["Next"]


def test_a_clean_up_that_fails_does_not_end_the_run_without_its_numbers() -> None:
    """The failures of the clean-up go to the state that sums up."""
    [catch] = TOP["CleanUp"]["Catch"]
    assert catch["ErrorEquals"] == ["States.ALL"]
    assert {catch["Next"], TOP["CleanUp"]["Next"]} == {"SumUp"}
    assert catch["Output"]["clean_up"]["left"]


def test_whatever_fails_is_recorded() -> None:
    """Neither a plan that is refused nor an analyst that fails leaves a run that says RUNNING."""
    for name in ("Plan", "SumUp"):
        [catch] = TOP[name]["Catch"]
        assert (catch["ErrorEquals"], catch["Next"]) == (["States.ALL"], "RecordFailure")
    assert targets(TOP["RecordFailure"]) == {"Failed"}


def test_a_failing_probe_is_a_sample() -> None:
    """Every result of a probe goes to the state that records it."""
    probe = STATES["Probe"].body
    assert targets(probe) == {"RecordSample"}
    assert probe["Catch"][0]["ErrorEquals"] == ["States.ALL"]


def test_a_sample_that_cannot_be_recorded_breaks_the_sweep_off() -> None:
    """A measurement that was not stored is a failure, never a gap."""
    assert "Catch" not in STATES["RecordSample"].body


def test_only_throttles_and_services_errors_are_tried_again() -> None:
    """A cell that is slow or fails is measured as it is."""
    for state in STATES.values():
        for retry in state.body.get("Retry", ()):
            assert set(retry["ErrorEquals"]) <= RETRIED, state.name
            assert retry["MaxAttempts"] <= 5
        assert ("Retry" in state.body) == (state.body["Type"] == "Task"), state.name


def test_what_shares_something_runs_one_after_the_other() -> None:
    """Only invocations of one cell that are asked to run at once do."""
    widths = {
        name: state.body["MaxConcurrency"]
        for name, state in STATES.items()
        if state.body["Type"] == "Map"
    }
    assert widths.pop("ProbeAtOnce") == CONCURRENCY_MAX
    assert set(widths.values()) == {1}


def test_results_of_maps_are_dropped() -> None:
    """Samples are in the table; what a Map passes on does not grow with their number."""
    for name in ("ProbeAtOnce", "ProbeRounds", "ProbeVersions"):
        assert STATES[name].body["Output"] == {}
    assert STATES["RecordSample"].body["Output"] == {}


def test_the_planner_knows_the_deployed_setting() -> None:
    """It is told by the parameters' values, under the names that the recommendation has."""
    template = load_template()
    planner = template["Resources"]["PlannerFunction"]["Properties"]
    text = planner["Environment"]["Variables"]["DEPLOYED_PARAMETERS"]["Fn::Sub"]
    defaults = {name: str(own.get("Default")) for name, own in template["Parameters"].items()}
    values = re.sub(r"\$\{(\w+)\}", lambda match: defaults[match[1]], text)
    assert json.loads(values) == DEPLOYED
