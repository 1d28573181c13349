"""References of a template's parts: Ref, GetAtt, Sub, Condition and DependsOn."""

import re
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from typing import Any, Final

PSEUDO_PARAMETERS: Final = frozenset(
    f"AWS::{name}"
    for name in ("AccountId", "NoValue", "Partition", "Region", "StackId", "StackName", "URLSuffix")
)

_VARIABLE: Final = re.compile(r"\$\{(?!!)([^}]+)}")  # ${!Literal} stays as it is


def nodes(value: object) -> Iterator[tuple[str, Any]]:
    """Every (key, value) of every mapping in *value*, itself included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            yield from nodes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from nodes(inner)


def variables_of(text: str) -> set[str]:
    """The ``${Name}`` and ``${Name.Attribute}`` of a Sub."""
    return set(_VARIABLE.findall(text))


def referred(value: object) -> set[str]:
    """The names of the resources, parameters and pseudo parameters that *value* refers to."""
    names: set[str] = set()
    for key, inner in nodes(value):
        if key == "Ref":
            names.add(inner)
        elif key == "Fn::GetAtt":
            names.add(inner[0])
        elif key == "Fn::Sub":
            text, own = (inner, {}) if isinstance(inner, str) else inner
            names |= {name.split(".")[0] for name in variables_of(text) - set(own)}
    return names


def conditions_of(value: object) -> set[str]:
    """The names of the conditions that *value* depends on."""
    ifs = {inner[0] for key, inner in nodes(value) if key == "Fn::If"}
    return ifs | {
        inner for key, inner in nodes(value) if key == "Condition" and isinstance(inner, str)
    }


def dependencies(resources: Mapping[str, Any]) -> dict[str, set[str]]:
    """Resource → the resources that must be there before it."""
    graph = {}
    for name, resource in resources.items():
        depends_on = resource.get("DependsOn", [])
        explicit = {depends_on} if isinstance(depends_on, str) else set(depends_on)
        graph[name] = (referred(resource) & set(resources)) | explicit
    return graph


def creation_order(resources: Mapping[str, Any]) -> list[str]:
    """An order in which CloudFormation can create *resources*.

    Raises:
        graphlib.CycleError: There is none.
    """
    return list(TopologicalSorter(dependencies(resources)).static_order())
