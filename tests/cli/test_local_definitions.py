"""State machine definitions reach the local emulator in JSON, and AWS as they are written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import yaml
from tests.support.sam_template import TEMPLATE, load_template

from bucketsum_cli.emulator.sam import convert_definitions

if TYPE_CHECKING:
    from pathlib import Path

DEFINITION = TEMPLATE.parent / "statemachines" / "backfill.asl.yaml"


def test_a_definition_is_written_in_json_and_named(tmp_path: Path) -> None:
    """The built template points at the same definition in the one form that ministack reads."""
    (tmp_path / "backfill.asl.yaml").write_bytes(DEFINITION.read_bytes())
    template = tmp_path / "template.yaml"
    template.write_text("A:\n  DefinitionUri: backfill.asl.yaml\nB:\n  CodeUri: x.yaml\n")
    convert_definitions(template)
    assert template.read_text() == "A:\n  DefinitionUri: backfill.asl.json\nB:\n  CodeUri: x.yaml\n"
    definition = json.loads((tmp_path / "backfill.asl.json").read_text())
    assert definition == yaml.safe_load(DEFINITION.read_text(encoding="utf-8"))


def test_the_template_itself_names_the_yaml() -> None:
    """A deployment to AWS uses the definition in the repository."""
    machine = load_template()["Resources"]["BackfillStateMachine"]["Properties"]
    assert machine["DefinitionUri"] == "statemachines/backfill.asl.yaml"
