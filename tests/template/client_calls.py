"""The AWS operations that a handler can call, read from the source."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.support.source_files import tree_of

OF_THE_PRODUCT: Final = {
    "_s3": "s3", "s3": "s3", "_sqs": "sqs", "_dynamodb": "dynamodb", "dynamodb": "dynamodb",
    "cloudformation": "cloudformation", "stepfunctions": "stepfunctions",
}  # fmt: skip
CLIENTS: Final = OF_THE_PRODUCT | {"_lambda": "lambda"}
"""Attributes and parameters that hold a client → its service; a test finds missing entries."""

_NAMING: Final = frozenset({"get_paginator"})
"""Methods whose first argument names the operation."""
_LOCAL: Final = frozenset({"close"})
"""Methods that send no request."""


def operations_called(handler: Path, library: Iterable[Path]) -> set[tuple[str, str]]:
    """(service, client method) of every call that *handler* can reach in *library*.

    A function is reached if its name is mentioned in code that is reached; which class it belongs
    to is not looked at. So this finds too much rather than too little.
    """
    bodies: dict[str, list[ast.AST]] = {}
    for path in library:
        for name, body in _definitions_in(path):
            bodies.setdefault(name, []).append(body)
    reached: set[str] = set()
    waiting: list[ast.AST] = [tree_of(handler)]
    operations = set()
    while waiting:
        node = waiting.pop()
        operations |= set(_calls(node))
        new = _mentioned(node) - reached
        reached |= new
        waiting += [body for name in new for body in bodies.get(name, [])]
    return operations


def clients_kept(library: Iterable[Path]) -> set[str]:
    """The attributes that annotated clients go into, or their parameters where these are used."""
    kept = set()
    for path in library:
        text = path.read_text(encoding="utf-8")
        for parameter in re.findall(r"(\w+): \"?\w+Client\b", text):
            used = re.findall(rf"(?<![\w.])({parameter})\.(?!meta\b)", text)
            kept |= set(re.findall(rf"self\.(\w+) = {parameter}\b", text)) or set(used)
    return kept


@cache
def _definitions_in(path: Path) -> list[tuple[str, ast.AST]]:
    return list(_definitions(tree_of(path)))


def _definitions(module: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Name → body; making an object runs its class's dunder methods."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name.startswith("__"):
                    yield node.name, method


def _mentioned(node: ast.AST) -> set[str]:
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return names | {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def _calls(node: ast.AST) -> Iterator[tuple[str, str]]:
    for inner in ast.walk(node):
        if not (isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute)):
            continue
        owner = inner.func.value
        holder = getattr(owner, "attr", getattr(owner, "id", None))
        method = inner.func.attr
        if holder in CLIENTS and method not in _LOCAL:
            if method in _NAMING and isinstance(inner.args[0], ast.Constant):
                method = str(inner.args[0].value)
            yield CLIENTS[holder], method
