"""The local emulator gets template and definitions in JSON, and AWS as they are written."""

import json
from pathlib import Path

import yaml
from tests.support.sam_template import TEMPLATE, load_template

from bucketsum_cli.emulator.sam import convert_to_json

DEFINITION = TEMPLATE.parent / "statemachines" / "backfill.asl.yaml"


def test_a_built_template_is_written_in_json(tmp_path: Path) -> None:
    """The template and the definitions that it names keep their content; their form changes."""
    (tmp_path / "backfill.asl.yaml").write_bytes(DEFINITION.read_bytes())
    (tmp_path / "build").mkdir()
    template = tmp_path / "build" / "template.yaml"
    template.write_text(
        "Version: '2012-10-17'\n"
        "Resources:\n"
        "  A:\n    Properties:\n      DefinitionUri: ../backfill.asl.yaml\n"
        "  B:\n    Properties:\n      CodeUri: x.yaml\n"
        "  C:\n    Type: T\n"
    )
    convert_to_json(template)
    assert json.loads(template.read_text()) == {
        "Version": "2012-10-17",
        "Resources": {
            "A": {"Properties": {"DefinitionUri": "backfill.asl.json"}},
            "B": {"Properties": {"CodeUri": "x.yaml"}},
            "C": {"Type": "T"},
        },
    }
    definition = json.loads((template.parent / "backfill.asl.json").read_text())
    assert definition == yaml.safe_load(DEFINITION.read_text(encoding="utf-8"))


def test_the_template_itself_names_the_yaml() -> None:
    """A deployment to AWS uses the definition in the repository."""
    machine = load_template()["Resources"]["BackfillStateMachine"]["Properties"]
    assert machine["DefinitionUri"] == "statemachines/backfill.asl.yaml"
