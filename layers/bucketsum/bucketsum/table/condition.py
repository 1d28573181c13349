"""A condition of DynamoDB, which carries the names and the values that its expression uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bucketsum.table.codec import attribute_of


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression; `compared`, `present` and `absent` make one, ``&`` and ``|`` join them."""

    expression: str
    names: Mapping[str, str]
    values: Mapping[str, Any]

    def __and__(self, other: Condition) -> Condition:
        """Both conditions must be met."""
        return self._joined(f"{self.expression} AND {other.expression}", other)

    def __or__(self, other: Condition) -> Condition:
        """One of them is met."""
        return self._joined(f"({self.expression} OR ({other.expression}))", other)

    def _joined(self, expression: str, other: Condition) -> Condition:
        return Condition(expression, {**self.names, **other.names}, {**self.values, **other.values})

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a write."""
        values = {"ExpressionAttributeValues": self.values} if self.values else {}
        return {
            "ConditionExpression": self.expression,
            "ExpressionAttributeNames": self.names,
            **values,
        }

    def update(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of an UpdateItem; it removes the attributes that become None."""
        kept = {name: value for name, value in changes.items() if value is not None}
        removed = [f"#{name}" for name in changes if name not in kept]
        expression = "SET " + ", ".join(f"#{name} = :new_{name}" for name in kept)
        if removed:
            expression += f" REMOVE {', '.join(removed)}"
        names = {**self.names, **{f"#{name}": name for name in changes}}
        values = {**self.values, **{f":new_{name}": value for name, value in kept.items()}}
        condition = Condition(self.expression, names, values)
        return {"UpdateExpression": expression, **condition.parameters()}


def compared(name: str, operator: str, value: str | int) -> Condition:
    """Compare the attribute *name* with *value*; an absent attribute meets only ``<>``."""
    expression = f"#{name} {operator} :{name}"
    return Condition(expression, {f"#{name}": name}, {f":{name}": attribute_of(value, "")})


def present(name: str) -> Condition:
    """Require that there is an attribute *name*, of whatever type."""
    return Condition(f"attribute_exists(#{name})", {f"#{name}": name}, {})


def absent(name: str) -> Condition:
    """Require that there is no attribute *name*."""
    return Condition(f"attribute_not_exists(#{name})", {f"#{name}": name}, {})
