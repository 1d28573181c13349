"""The sweep's state machine: nothing unreachable, every way out leads through clean-up."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from tests.support.sam_template import load_template
from tests.template.sweep_definition import (
    DEFINITION,
    load_definition,
    objections,
    states,
    substituted,
    targets,
)

from bucketsum.sweep.input import CONCURRENCY_MAX

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
}  # fmt: skip


def machines() -> list[dict[str, Any]]:
    """The machine, and each Map's own."""
    inner = [
        state.body["ItemProcessor"] for state in STATES.values() if state.body["Type"] == "Map"
    ]
    return [MACHINE, *inner]


def test_names_are_unique() -> None:
    """A state's name says which one it is, within Maps too."""
    assert len(STATES) == len(list(states(MACHINE)))
    assert all(re.fullmatch(r"([A-Z][a-z]+)+", name) for name in STATES)


@pytest.mark.parametrize("machine", machines(), ids=lambda machine: machine["StartAt"])
def test_every_state_is_reached_and_leads_on(machine: dict[str, Any]) -> None:
    """From StartAt each state can be reached, and each one leads to another or ends."""
    reached, waiting = set(), [machine["StartAt"]]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        body = machine["States"][name]
        waiting += targets(body) - reached
        assert targets(body) or body.get("End") or body["Type"] in {"Succeed", "Fail"}
    assert reached == set(machine["States"])


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


def test_substitutions_are_those_of_the_template() -> None:
    """Each ``${Name}`` is substituted, and nothing is substituted in vain."""
    properties = load_template()["Resources"]["SweepStateMachine"]["Properties"]
    used = set(re.findall(r"\$\{(\w+)}", json.dumps(MACHINE)))
    assert used == set(properties["DefinitionSubstitutions"])


def inline_template(folder: Path) -> Path:
    """A template with the definition in it: that is where cfn-lint looks."""
    resource = {
        "Type": "AWS::StepFunctions::StateMachine",
        "Properties": {
            "RoleArn": "arn:aws:iam::111122223333:role/sweep",
            "Definition": substituted(MACHINE),
            "DefinitionSubstitutions": {
                name: f"arn:aws:lambda:us-east-1:111122223333:function:{name}"
                for name in set(re.findall(r"\$\{(\w+)}", json.dumps(substituted(MACHINE))))
            },
        },
    }
    path = folder / "inline.json"
    path.write_text(json.dumps({"Resources": {"Sweep": resource}}))
    return path


def test_cfn_lint_has_nothing_against_the_definition(tmp_path: Path) -> None:
    """cfn-lint's own schema of state machines takes it."""
    done = subprocess.run(
        [Path(sys.executable).with_name("cfn-lint"), inline_template(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_asl_validator_has_nothing_against_the_definition(tmp_path: Path) -> None:
    """The validator that knows JSONata takes it."""
    assert not objections(MACHINE, tmp_path)


def test_the_definition_has_no_anchors() -> None:
    """CloudFormation reads definitions without resolving YAML's aliases, so each is written out."""
    tokens = list(yaml.scan(DEFINITION.read_text(encoding="utf-8")))
    assert not [token for token in tokens if isinstance(token, yaml.AnchorToken | yaml.AliasToken)]
