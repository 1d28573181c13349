"""Rules for both state machines: linters accept them, and nothing in them is unreachable."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from tests.support.sam_template import TEMPLATE, load_template
from tests.template.state_machines import (
    NAMES,
    definition_of,
    load_definition,
    placeholders,
    states,
    substituted,
    targets,
)

MACHINES: Final = {name: load_definition(name) for name in NAMES}
ASL: Final = TEMPLATE.parent / "tests" / "template" / "asl"


@pytest.mark.parametrize("name", NAMES)
def test_names_are_unique(name: str) -> None:
    """A state's name says which one it is, within Maps too."""
    names = [state.name for state in states(MACHINES[name])]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"([A-Z][a-z]+)+", name) for name in names)


@pytest.mark.parametrize(
    "machine",
    [
        part
        for machine in MACHINES.values()
        for part in (
            machine,
            *(s.body["ItemProcessor"] for s in states(machine) if s.body["Type"] == "Map"),
        )
    ],
    ids=lambda machine: str(machine["StartAt"]),
)
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


@pytest.mark.parametrize("name", NAMES)
def test_substitutions_are_those_of_the_template(name: str) -> None:
    """Each ``${Name}`` is substituted, and nothing is substituted in vain."""
    resource = load_template()["Resources"][f"{name.title()}StateMachine"]
    assert placeholders(MACHINES[name]) == set(resource["Properties"]["DefinitionSubstitutions"])


def program(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a validator, in node."""
    if not shutil.which("node"):
        pytest.skip("node is not installed")
    if not (ASL / "node_modules").exists():
        pytest.skip("not there; run: npm --prefix tests/template/asl ci")
    return subprocess.run(
        ["node", str(ASL / script), *arguments],  # noqa: S607 - wherever it is
        capture_output=True,
        text=True,
        check=False,
    )


def test_asl_validator_has_nothing_against_the_definitions(tmp_path: Path) -> None:
    """The validator that knows JSONata takes them."""
    options = []
    for name, machine in MACHINES.items():
        path = tmp_path / f"{name}.asl.json"
        path.write_text(json.dumps(substituted(machine)))
        options += ["--json-path", str(path)]
    done = program("node_modules/asl-validator/dist/bin/asl-validator.js", *options)
    assert done.returncode == 0, done.stdout + done.stderr


FAULTS: Final = {
    "as it is": ("", "", None),
    "no such state": ('"Next": "', '"Next": "No', "must be the name of an existing state"),
    "misspelt field": ('"ErrorEquals": [', '"ErrorEqual": [', 'Missing property "ErrorEquals"'),
}
"""A text of each definition, a fault in place of it, and the remark on it."""
FAULTY: Final = [(name, fault) for name in NAMES for fault in FAULTS]


@pytest.fixture(scope="module")
def remarks(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The remarks of AWS's language service on each of `FAULTY`."""
    folder, paths = tmp_path_factory.mktemp("faulty"), []
    for number, (name, fault) in enumerate(FAULTY):
        text, planted, _ = FAULTS[fault]
        definition = json.dumps(substituted(MACHINES[name]))
        assert text in definition
        paths.append(folder / f"{number}.asl.json")
        paths[-1].write_text(definition.replace(text, planted, 1))
    texts: list[list[str]] = json.loads(program("validate.js", *map(str, paths)).stdout)
    return texts


@pytest.mark.parametrize(("name", "fault"), FAULTY)
def test_aws_language_service_remarks_on_faults_alone(
    name: str, fault: str, remarks: list[list[str]]
) -> None:
    """AWS's own service for the language has nothing against it, and finds planted faults."""
    *_, remark = FAULTS[fault]
    texts = remarks[FAULTY.index((name, fault))]
    assert any(remark in text for text in texts) if remark else texts == []


@pytest.mark.parametrize(
    ("name", "state"),
    [("backfill", "Step"), ("sweep", "Plan"), ("sweep", "PublishVersion"), ("sweep", "SumUp")],
)
@pytest.mark.parametrize(
    "error",
    [
        "ResourceNotReadyException",
        "ENINotReadyException",
        "ResourceConflictException",
        "CodeArtifactUserPendingException",
    ],
)
def test_an_idle_function_in_a_vpc_gets_the_time_to_wake(name: str, state: str, error: str) -> None:
    """The first call of a function is repeated for longer than an interface takes."""
    [body] = [candidate.body for candidate in states(MACHINES[name]) if candidate.name == state]
    retry = next(
        r for r in body["Retry"] if {f"Lambda.{error}", "States.ALL"} & {*r["ErrorEquals"]}
    )
    assert "JitterStrategy" not in retry
    waits = [
        retry["IntervalSeconds"] * retry["BackoffRate"] ** n for n in range(retry["MaxAttempts"])
    ]
    assert sum(waits) > 150


@pytest.mark.parametrize("name", NAMES)
def test_the_definition_has_no_anchors(name: str) -> None:
    """CloudFormation reads definitions without resolving YAML's aliases, so each is written out."""
    tokens = list(yaml.scan(definition_of(name).read_text(encoding="utf-8")))
    assert not [token for token in tokens if isinstance(token, yaml.AnchorToken | yaml.AliasToken)]
