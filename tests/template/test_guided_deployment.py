"""The documented way to deploy: `sam deploy --guided`, then again with the answers it saved."""

import tomllib
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner
from tests.support.sam_template import TEMPLATE, load_template

# ruff: noqa: PLC0415 - SAM takes 1 s to import, and every worker imports this module


def saved_answers(folder: Path) -> dict[str, str]:
    """Answer each question of the guided deployment with a new line; the answers that it saved."""
    from samcli.cli.types import (  # type: ignore[import-untyped] # no types
        CfnParameterOverridesType,
    )
    from samcli.commands.deploy.guided_config import GuidedConfig  # type: ignore[import-untyped]
    from samcli.commands.deploy.guided_context import GuidedContext  # type: ignore[import-untyped]

    template = folder / TEMPLATE.name
    template.touch()

    @click.command()
    def deploy() -> None:
        questions: Any = GuidedContext.prompt_parameters
        answers = questions(_Guide(), load_template()["Parameters"], {}, "", "")
        GuidedConfig(str(template), "parameters").save_config(answers, config_file="deploy.toml")

    ended = CliRunner().invoke(deploy, input="\n" * 100)
    assert ended.exception is None, ended.output
    saved = tomllib.loads((folder / "deploy.toml").read_text())["default"]
    [section] = saved.values()
    values: dict[str, str] = CfnParameterOverridesType().convert(
        (section["parameters"]["parameter_overrides"],), None, None
    )
    return values


class _Guide:
    @staticmethod
    def _get_parameter_value(_: str, properties: dict[str, Any], __: object) -> str:
        return str(properties.get("Default", ""))


def test_saved_answers_take_nothing_from_attached_buckets(tmp_path: Path) -> None:
    """The next deployment passes all saved answers; none is a list of buckets.

    An answer of an older version, to a parameter that the template has no longer, is not passed.
    """
    from samcli.commands.deploy.deploy_context import (  # type: ignore[import-untyped]
        DeployContext,
    )

    parameters = load_template()["Parameters"]
    saved = saved_answers(tmp_path)
    assert saved.keys() == parameters.keys()
    older = saved | {"NoLonger": ""}
    passed = DeployContext.merge_parameters({"Parameters": parameters}, older)
    assert {entry["ParameterKey"] for entry in passed} == parameters.keys()
    assert not [name for name in parameters if "Attached" in name or "EventBridge" in name]
