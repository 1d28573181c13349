"""The reference of the JSON documents, from the types that the commands print.

The meaning of a field is in its type, or among the attributes in the docstring of its class.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from importlib import import_module
from inspect import cleandoc, getsource
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

import click

from bucketsum_cli.arguments.options import JsonOption
from bucketsum_cli.terminal.documents import INLINE, Moment

_BEGINNING: Final = """\
# JSON output

`make reference` writes this page and its [schema](json.schema.json) from the program.

With `--json`, a command prints one JSON document on stdout. A field has the same name in all
commands. Times are UTC in ISO 8601 with milliseconds: `2026-11-21T10:00:01.250Z`. A value that is
not known is `null`. `bucketsum tune` prints a run, its cells and its samples: the attributes of the
measurements table.

| command | document |
|---|---|
"""
_NAMES: Final = {str: "string", Path: "string", int: "integer", float: "number", bool: "boolean"}
_OURS: Final = ("bucketsum", "collections", "datetime", "pathlib")

_NOT_SHARED: Final = object()
"""In a type: its meaning is that of the field of one record, not of each with its name."""
_ATTRIBUTE: Final = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
_COLUMNS: Final = 80


def contexts(
    command: click.Command, parent: click.Context | None = None
) -> Iterator[click.Context]:
    """Yield *command*, then its sub-commands."""
    name = command.name if parent else "bucketsum"
    settings = {**command.context_settings, "terminal_width": _COLUMNS}
    context = click.Context(command, parent, name, **settings)
    yield context
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            match = command.get_command(context, child)
            if match is not None:
                yield from contexts(match, context)


def schema_of(command: click.Command) -> dict[str, Any]:
    """Return a JSON schema: ``commands`` has each command's documents, ``$defs`` their types.

    Raises:
        ValueError: A field has no meaning, neither in its type nor in another.
    """
    documents = {
        context.command_path: option.documents
        for context in contexts(command)
        for option in context.command.params
        if isinstance(option, JsonOption) and option.documents
    }
    kinds = dict.fromkeys(kind for types in documents.values() for kind in _kinds_in(types))
    shared = {
        name: hint.__metadata__[0]
        for kind in reversed(kinds)
        for name, hint in _hints(kind).items()
        if hasattr(hint, "__metadata__") and _NOT_SHARED not in hint.__metadata__
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "commands": {
            command: {"anyOf": [*map(_schema, types)]} for command, types in documents.items()
        },
        "$defs": {kind.__name__: _object(kind, shared) for kind in kinds},
    }


def _object(kind: type[Any], shared: Mapping[str, str]) -> dict[str, Any]:
    properties = {
        name: ({"description": shared[name]} if name in shared else {}) | _schema(hint)
        for name, hint in _hints(kind).items()
    }
    if absent := [name for name, schema in properties.items() if "description" not in schema]:
        raise ValueError(f"{kind.__name__} has no meaning of {', '.join(sorted(absent))}")
    return {
        "type": "object",
        "description": cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " "),
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _kinds_in(types: Iterable[Any]) -> Iterator[type[Any]]:
    """Yield the dataclasses in *types*, each before the dataclasses of its fields."""
    for hint in types:
        if isinstance(hint, type) and is_dataclass(hint):
            yield hint
            yield from _kinds_in(_hints(hint).values())
        yield from _kinds_in(get_args(hint))


def _hints(kind: type[Any]) -> dict[str, Any]:
    """Field in JSON → its type."""
    hints: dict[str, Any] = {}
    # also the types of names that are imported under TYPE_CHECKING
    types = get_type_hints(kind, localns=_imports(kind.__module__), include_extras=True)
    meanings = dict(_ATTRIBUTE.findall(cleandoc(kind.__doc__ or "").partition("Attributes:")[2]))
    for field in fields(kind):
        hint = types[field.name]
        if hint in (str, str | None) and field.name.endswith("_at"):
            hint = Union[Moment, hint]  # noqa: UP007 - of values
        if not hasattr(hint, "__metadata__") and field.name in meanings:
            text = meanings[field.name].replace("``", "`").replace("None", "null")
            hint = Annotated[hint, " ".join(text.split()), _NOT_SHARED]
        hints |= _hints(hint) if field.metadata == INLINE else {field.name: hint}
    return hints


@cache
def _imports(module: str) -> dict[str, Any]:
    """The names that *module* imports, also those for the type checker alone."""
    return {
        alias.name: getattr(import_module(node.module), alias.name)
        for node in ast.walk(ast.parse(getsource(sys.modules[module])))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_OURS)
        for alias in node.names
    }


def _schema(hint: Any) -> dict[str, Any]:  # noqa: ANN401 - a type
    if hasattr(hint, "__metadata__"):
        return _schema(hint.__origin__) | {"description": hint.__metadata__[0]}
    arguments = get_args(hint)
    if NoneType in arguments:
        rest = tuple(argument for argument in arguments if argument is not NoneType)
        return {"anyOf": [_schema(Union[rest]), {"type": "null"}]}  # noqa: UP007 - of a tuple
    return _schema_of_value(hint, arguments)


def _schema_of_value(hint: Any, arguments: Sequence[Any]) -> dict[str, Any]:  # noqa: ANN401 - a type
    if datetime in arguments:
        return {"type": "string", "format": "date-time"}
    if isinstance(hint, type) and is_dataclass(hint):
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if get_origin(hint) in (Mapping, dict):
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    if arguments:
        return {"type": "array", "items": _schema(arguments[0])}
    is_choice = issubclass(hint, StrEnum)
    return {"type": "string", "enum": [*hint]} if is_choice else {"type": _NAMES[hint]}


def page(schema: Mapping[str, Any]) -> str:
    """Return the page: each command's document, and a section for each type."""
    rows = "".join(
        f"| `{command}` | {' or '.join(map(_text, kinds['anyOf']))} |\n"
        for command, kinds in schema["commands"].items()
    )
    return _BEGINNING + rows + "".join(_section(*item) for item in schema["$defs"].items())


def _section(name: str, kind: Mapping[str, Any]) -> str:
    head = f"\n## {name}\n\n{kind['description']}\n\n| field | type | meaning |\n|---|---|---|\n"
    return head + "".join(
        f"| `{field}` | {_text(value)} | {value['description']} |\n"
        for field, value in kind["properties"].items()
    )


def _text(value: Mapping[str, Any]) -> str:
    match value:
        case {"anyOf": [inner, *_]}:
            return _text(inner)
        case {"$ref": str(place)}:
            name = place.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"items": inner}:
            return f"array of {_text(inner)}"
        case {"enum": values}:
            return ", ".join(f"`{text}`" for text in values)
    return "time" if "format" in value else str(value["type"])
