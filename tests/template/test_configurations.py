"""Configurations of the stack: `sam deploy --config-env archive`, and Terraform's."""

import os
import re
import shutil
import subprocess
import tomllib
from typing import Any, Final

import pytest
from tests.support.sam_template import TEMPLATE, load_template

# ruff: noqa: PLC0415 - SAM takes 1 s to import, and every worker imports this module

PARAMETERS: Final = load_template()["Parameters"]
SAMCONFIG: Final[dict[str, Any]] = tomllib.loads(
    TEMPLATE.with_name("samconfig.toml").read_text(encoding="utf-8")
)
TERRAFORM: Final = TEMPLATE.parent / "examples" / "terraform" / "main.tf"
NAMES: Final = ("archive", "lean", "audit")


def overrides(name: str) -> dict[str, str]:
    """The parameters of a configuration, as SAM reads them."""
    from samcli.cli.types import (  # type: ignore[import-untyped] # no types
        CfnParameterOverridesType,
    )

    listed = SAMCONFIG[name]["deploy"]["parameters"]["parameter_overrides"]
    values: dict[str, str] = CfnParameterOverridesType().convert(tuple(listed), None, None)
    return values


def is_allowed(parameter: dict[str, Any], value: str) -> bool:
    """Whether CloudFormation takes *value*."""
    if "AllowedValues" in parameter:
        return value in map(str, parameter["AllowedValues"])
    if "AllowedPattern" in parameter:
        return re.fullmatch(parameter["AllowedPattern"], value) is not None
    return int(parameter["MinValue"]) <= int(value) <= int(parameter["MaxValue"])


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_sets_parameters_to_other_allowed_values(name: str) -> None:
    """Each parameter exists, and its value is allowed and not the default."""
    values = overrides(name)
    assert values
    for parameter, value in values.items():
        assert is_allowed(PARAMETERS[parameter], value), (parameter, value)
        assert value != str(PARAMETERS[parameter]["Default"]), parameter


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_deploys_as_the_default_does(name: str) -> None:
    """It differs in its parameters alone, so that no question or capability is lost."""
    own = dict(SAMCONFIG[name]["deploy"]["parameters"])
    own.pop("parameter_overrides")
    assert own == SAMCONFIG["default"]["deploy"]["parameters"]


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_meets_the_rules_of_the_template(name: str) -> None:
    """A large batch has its window, and a verification leaves out what it has just read."""
    values = overrides(name)
    assert int(values.get("BatchSize", 10)) <= 10 or int(values["BatchingWindowSeconds"]) >= 1
    if rate := re.fullmatch(r"rate\((\d+) days\)", values.get("VerifySchedule", "")):
        assert int(rate[1]) + int(values["VerifyOlderThanDays"]) <= 90


def test_every_configuration_is_listed() -> None:
    """Those of samconfig.toml are these, the default, and the local emulator's."""
    assert set(SAMCONFIG) - {"version"} == {*NAMES, "default", "local"}


def test_terraform_names_what_the_template_has() -> None:
    """Its outputs exist, and its default of the name is that of samconfig.toml."""
    text = TERRAFORM.read_text(encoding="utf-8")
    outputs = re.findall(r'outputs\["(\w+)"]', text)
    assert outputs
    assert set(outputs) <= {*load_template()["Outputs"]}
    stack = SAMCONFIG["default"]["deploy"]["parameters"]["stack_name"]
    assert f'default     = "{stack}"' in text


def test_terraform_parses_and_formats_its_example() -> None:
    """It stands as `terraform fmt` writes it; only its provider could validate it."""
    program = shutil.which("terraform")
    if not program:
        pytest.skip("terraform is not installed")
    done = subprocess.run(
        [program, "fmt", "-check", "-diff", TERRAFORM.parent],
        env={**os.environ, "TF_CLI_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
