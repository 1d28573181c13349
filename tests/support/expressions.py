"""DynamoDB's condition and update expressions, as far as the product uses them."""

import operator
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from botocore.exceptions import ClientError

Item = dict[str, Any]
Condition = Callable[[Item, Callable[[str, Item], Any]], bool]

_TERM: Final = re.compile(
    r"attribute_(?P<absent>not_)?exists\((?P<name>#?\w+)\)"
    r"|(?P<left>[#:]?\w+) (?P<operator><=|>=|<>|[=<>]) (?P<right>[#:]?\w+)"
)
_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class ConditionalCheckFailedException(ClientError):
    """As botocore makes it for its client."""


def check_failed(operation: str, before: Item | None) -> ConditionalCheckFailedException:
    """The error of a write whose condition does not hold for the item *before*."""
    return ConditionalCheckFailedException(
        {"Error": {"Code": "ConditionalCheckFailedException"}, "Item": before},  # type: ignore[typeddict-unknown-key] # as botocore
        operation,
    )


def holds(request: dict[str, Any], before: Item | None) -> bool:
    """Whether the condition of *request* holds for the item *before*."""
    names = request.get("ExpressionAttributeNames", {})
    values = request.get("ExpressionAttributeValues", {})

    def value(name: str, item: Item) -> Any:  # noqa: ANN401 - text or number
        typed = values[name] if name[0] == ":" else item.get(names.get(name, name))
        if typed and "N" in typed:
            return float(typed["N"])
        return typed and next(iter(typed.values()))

    expression = request.get("ConditionExpression")
    return not expression or condition_of(expression)(before or {}, value)


@cache
def condition_of(expression: str) -> Condition:
    """Compile a ConditionExpression: OR, AND, parentheses, comparisons, attribute_(not_)exists."""
    source = _TERM.sub(_source_of, expression).replace(" OR ", " or ").replace(" AND ", " and ")
    condition: Condition = eval(f"lambda item, value: {source}", {"meets": _meets})  # noqa: S307 - an expression of the product, and Python has its precedences
    return condition


def _source_of(term: re.Match[str]) -> str:
    if name := term["name"]:
        return f"(value({name!r}, item) is {'' if term['absent'] else 'not '}None)"
    left, right = (f"value({term[side]!r}, item)" for side in ("left", "right"))
    return f"meets({left}, {term['operator']!r}, {right})"


def _meets(left: Any, comparison: str, right: Any) -> bool:  # noqa: ANN401 - text or number
    is_same_kind = type(left) is type(right) or (isinstance(left, str) and isinstance(right, str))
    if left is None or not is_same_kind:
        return comparison == "<>"  # as DynamoDB: different, and in no order
    return _COMPARISONS[comparison](left, right)


def updated(item: Item, request: dict[str, Any]) -> Item:
    """*item* after an UpdateExpression: SET of values, REMOVE, and ADD of numbers."""
    names = request.get("ExpressionAttributeNames", {})
    values = request.get("ExpressionAttributeValues", {})
    for action, first, last in _changes_in(request["UpdateExpression"]):
        name = names.get(first, first)
        if action == "REMOVE":
            item.pop(name, None)
        elif action == "ADD":
            before = item.get(name, {"N": "0"})
            if "N" not in before:
                raise ClientError({"Error": {"Code": "ValidationException"}}, "UpdateItem")
            item[name] = {"N": str(int(before["N"]) + int(values[last]["N"]))}
        else:
            assert action == "SET", action
            item[name] = values[last]
    return item


@cache
def _changes_in(expression: str) -> list[tuple[str, str, str]]:
    """Action, first word and last word of each term."""
    clauses = [clause.partition(" ") for clause in re.split(r" (?=REMOVE |ADD )", expression)]
    return [
        (action, words[0], words[-1])
        for action, _, terms in clauses
        for words in (term.split() for term in terms.split(", "))
    ]
