"""Codec: dataclasses ↔ DynamoDB items, one attribute for each field.

A field that is None has no attribute. A field's ``metadata`` may come from `stored`, `nested` or
be `NOT_STORED`.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_COLUMN: Final = "bucketsum.column"


class _Column(NamedTuple):
    """The attribute that stores a field.

    A tuple, as rows of members are encoded by the ten thousand.

    Attributes:
        name: The attribute; empty for the field's own name.
        read: Attribute's value → field's value.
        write: Field's value → attribute's value, or None for no attribute.
        kind: The dataclass whose fields are stored in the field's place.
    """

    name: str = ""
    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], Any] | None = None
    kind: type[Any] | None = None


def stored(
    name: str = "",
    *,
    read: Callable[[Any], Any] | None = None,
    write: Callable[[Any], Any] | None = None,
) -> Mapping[str, object]:
    """Store a field under another *name*, or as another value."""
    return {_COLUMN: _Column(name, read, write)}


def nested(kind: type[Any]) -> Mapping[str, object]:
    """Store the fields of *kind*, a dataclass, in place of the field.

    Reading an item without the attribute of its first field, which must not be optional, gives
    None.
    """
    return {_COLUMN: _Column(kind=kind)}


NOT_STORED: Final[Mapping[str, object]] = {_COLUMN: None}
"""The codec leaves the field to the table."""


_COLUMNS: Final[dict[type[Any], tuple[tuple[str, _Column], ...]]] = {}


def _columns(kind: type[Any]) -> tuple[tuple[str, _Column], ...]:
    """Names of the fields that the codec stores, and their columns, all with names."""
    if kind not in _COLUMNS:
        columns: dict[str, _Column | None] = {
            field.name: field.metadata.get(_COLUMN, _Column()) for field in fields(kind)
        }
        _COLUMNS[kind] = tuple(
            (name, column._replace(name=column.name or name))
            for name, column in columns.items()
            if column
        )
    return _COLUMNS[kind]


def attributes_of(value: object) -> Iterator[tuple[str, Any]]:
    """Names and plain values of the attributes of *value*, a dataclass; None for an absent one."""
    for name, column in _columns(type(value)):
        content = getattr(value, name)
        if column.kind:
            absent = ((inner.name, None) for _, inner in _columns(column.kind))
            yield from absent if content is None else attributes_of(content)
        else:
            yield column.name, column.write(content) if column.write else content


def encoded(value: object, float_format: str) -> dict[str, Any]:
    """*value*, a dataclass, as an item; *float_format* is a format specification."""
    item: dict[str, Any] = {}
    for name, (attribute, _, write, kind) in _columns(type(value)):
        content = getattr(value, name)
        if content is not None and write:
            content = write(content)
        if content is None:
            continue
        if kind:
            item.update(encoded(content, float_format))
        elif isinstance(content, str):
            item[attribute] = {"S": content}
        else:
            item[attribute] = _number(content, float_format)
    return item


def decoded(kind: type[Any], item: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of *kind* from an *item* that `encoded` made; other attributes are ignored."""
    values: dict[str, Any] = {}
    for name, column in _columns(kind):
        if column.kind:
            _, first = _columns(column.kind)[0]
            if first.name in item:
                values[name] = column.kind(**decoded(column.kind, item))
        elif column.name in item:
            content = plain(item[column.name])
            values[name] = column.read(content) if column.read else content
    return values


def attribute_of(value: object, float_format: str) -> dict[str, Any]:
    """A text, number or boolean as an attribute; *float_format* is a format specification."""
    return {"S": str(value)} if isinstance(value, str) else _number(value, float_format)


def _number(value: object, float_format: str) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"BOOL": value}
    return {"N": format(value, float_format) if isinstance(value, float) else str(value)}


def plain(attribute: Mapping[str, Any]) -> Any:  # noqa: ANN401 - one of DynamoDB's types
    """The inverse of `attribute_of`."""
    if "N" not in attribute:
        return attribute.get("S", attribute.get("BOOL"))
    text: str = attribute["N"]
    return int(text) if text.lstrip("-").isdigit() else float(text)
