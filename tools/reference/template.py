"""Tables of the template: its parameters, configurations of them, and its alarms."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

from bench.tables.document import rows_of

from bucketsum_cli.emulator.sam import parsed_template

_TEMPLATE: Final = Path(__file__).parents[2] / "template.yaml"
_SAMCONFIG: Final = _TEMPLATE.with_name("samconfig.toml")
_SIGNS: Final = {"GreaterThanThreshold": ">"}


@cache
def template() -> dict[str, Any]:
    """Return the template, as `parsed_template` reads it."""
    return parsed_template(_TEMPLATE)


def parameters() -> str:
    """Return a table of parameters for each group of the console."""
    document = template()
    groups = document["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    return "\n".join(
        f"\n**{group['Label']['default']}**\n\n"
        + rows_of(
            ("parameter", "meaning", "allowed", "default"),
            (_row(name, document["Parameters"][name]) for name in group["Parameters"]),
        )
        for group in groups
    )


def _row(name: str, parameter: dict[str, Any]) -> tuple[str, ...]:
    default = f"`{parameter['Default']}`" if parameter["Default"] != "" else "empty"
    return f"`{name}`", parameter["Description"], _allowed(parameter), default


def _allowed(parameter: dict[str, Any]) -> str:
    if "AllowedValues" in parameter:
        return ", ".join(map(str, parameter["AllowedValues"]))
    if parameter["Type"] == "Number":
        return f"{parameter['MinValue']} to {parameter['MaxValue']}"
    return str(parameter["ConstraintDescription"]).removeprefix("must be ")


def configurations() -> str:
    """Return a row for each configuration of samconfig.toml that sets parameters."""
    comment = re.compile(r"# (.+)\n\[(\w+)\.deploy\.parameters\]")
    rows = (
        (f"`{name}`", meaning, " ".join(f"`{value}`" for value in overrides_of(name)))
        for meaning, name in comment.findall(_SAMCONFIG.read_text(encoding="utf-8"))
    )
    return rows_of(("configuration", "for", "parameters"), rows)


def overrides_of(configuration: str) -> list[str]:
    """Return the parameters that a configuration of samconfig.toml sets."""
    sections = tomllib.loads(_SAMCONFIG.read_text(encoding="utf-8"))
    return [*sections[configuration]["deploy"]["parameters"]["parameter_overrides"]]


def alarms() -> str:
    """Return the table of alarms, with their conditions and descriptions."""
    resources = template()["Resources"].items()
    alarms = {
        name: resource["Properties"]
        for name, resource in resources
        if resource["Type"] == "AWS::CloudWatch::Alarm"
    }
    return rows_of(
        ("alarm", "condition", "what it says"),
        ((f"`{n}`", _condition(alarm), alarm["AlarmDescription"]) for n, alarm in alarms.items()),
    )


def _condition(alarm: dict[str, Any]) -> str:
    sign = _SIGNS[alarm["ComparisonOperator"]]
    periods = "" if alarm["EvaluationPeriods"] == 1 else f"{alarm['EvaluationPeriods']} × "
    return (
        f"`{alarm['MetricName']}` ({alarm['Namespace']}, {alarm['Statistic'].lower()}) "
        f"{sign} {alarm['Threshold']:,} in {periods}{alarm['Period']} s"
    )
