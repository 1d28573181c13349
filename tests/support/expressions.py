"""DynamoDB's condition and update expressions, as far as the product uses them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from botocore.exceptions import ClientError

Item = dict[str, Any]
Condition = Callable[[Item, Callable[[str, Item], Any]], bool]

_TOKEN: Final = re.compile(r"<=|>=|<>|[=<>()]|[#:]?\w+")
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
    tokens = _TOKEN.findall(expression)
    condition = _any_of(tokens)
    assert not tokens, f"{expression} has more than the model understands: {tokens}"
    return condition


def _any_of(tokens: list[str]) -> Condition:
    terms = [_all_of(tokens)]
    while tokens[:1] == ["OR"]:
        del tokens[0]
        terms.append(_all_of(tokens))
    return lambda item, value: any(term(item, value) for term in terms)


def _all_of(tokens: list[str]) -> Condition:
    terms = [_term(tokens)]
    while tokens[:1] == ["AND"]:
        del tokens[0]
        terms.append(_term(tokens))
    return lambda item, value: all(term(item, value) for term in terms)


def _term(tokens: list[str]) -> Condition:
    first = tokens.pop(0)
    if first == "(":
        inner = _any_of(tokens)
        assert tokens.pop(0) == ")"
        return inner
    if first in ("attribute_exists", "attribute_not_exists"):
        _, name, _ = tokens.pop(0), tokens.pop(0), tokens.pop(0)
        exists = first == "attribute_exists"
        return lambda item, value: (value(name, item) is not None) is exists
    comparison, second = _COMPARISONS[tokens.pop(0)], tokens.pop(0)

    def compared(item: Item, value: Callable[[str, Item], Any]) -> bool:
        left, right = value(first, item), value(second, item)
        kinds = {str if isinstance(operand, str) else type(operand) for operand in (left, right)}
        if left is None or right is None or len(kinds) > 1:
            return comparison is operator.ne  # as DynamoDB: different, and in no order
        return comparison(left, right)

    return compared


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
