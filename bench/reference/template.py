"""Tables of the template: its parameters and its alarms."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

_TEMPLATE: Final = Path(__file__).parents[2] / "template.yaml"
_SIGNS: Final = {"GreaterThanThreshold": ">"}


class _Loader(yaml.SafeLoader):
    """YAML without the values of intrinsic functions."""


_Loader.add_multi_constructor("!", lambda _loader, _suffix, _node: None)


def _template() -> dict[str, Any]:
    template: dict[str, Any] = _Loader(_TEMPLATE.read_text(encoding="utf-8")).get_single_data()
    return template


def parameters() -> str:
    """Return a table of parameters for each group of the console."""
    template = _template()
    groups = template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    return "\n".join(
        line
        for group in groups
        for line in (
            f"\n**{group['Label']['default']}**\n",
            "| parameter | meaning | allowed | default |",
            "|---|---|---|---|",
            *(_row(name, template["Parameters"][name]) for name in group["Parameters"]),
        )
    )


def _row(name: str, parameter: dict[str, Any]) -> str:
    default = f"`{parameter['Default']}`" if parameter["Default"] != "" else "empty"
    return f"| `{name}` | {parameter['Description']} | {_allowed(parameter)} | {default} |"


def _allowed(parameter: dict[str, Any]) -> str:
    if "AllowedValues" in parameter:
        return ", ".join(map(str, parameter["AllowedValues"]))
    if parameter["Type"] == "Number":
        return f"{parameter['MinValue']} to {parameter['MaxValue']}"
    text: str = parameter["ConstraintDescription"]
    return text.removeprefix("must be ")


def alarms() -> str:
    """Return the table of alarms, with their conditions and what each tells its topic."""
    resources = _template()["Resources"].items()
    rows = [
        f"| `{name}` | {_condition(resource['Properties'])} "
        f"| {resource['Properties']['AlarmDescription']} |"
        for name, resource in resources
        if resource["Type"] == "AWS::CloudWatch::Alarm"
    ]
    return "\n".join(("| alarm | condition | what it says |", "|---|---|---|", *rows))


def _condition(alarm: dict[str, Any]) -> str:
    sign = _SIGNS[alarm["ComparisonOperator"]]
    periods = "" if alarm["EvaluationPeriods"] == 1 else f"{alarm['EvaluationPeriods']} × "
    return (
        f"`{alarm['MetricName']}` ({alarm['Namespace']}, {alarm['Statistic'].lower()}) "
        f"{sign} {alarm['Threshold']:,} in {periods}{alarm['Period']} s"
    )
