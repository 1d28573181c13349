"""Codec: dataclasses ↔ DynamoDB items, one attribute for each field.

A field that is None has no attribute. A field's ``metadata`` may come from `stored`, `nested` or
`spread`, or be `NOT_STORED`.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")

_COLUMN: Final = "bucketsum.column"


class _Column(NamedTuple):
    """The attribute that stores a field.

    A tuple, as rows of members are encoded by the ten thousand.

    Attributes:
        name: The attribute; empty for the field's own name.
        read: Attribute's value → field's value.
        write: Field's value → attribute's value, or None for no attribute.
        kind: The dataclass whose fields are stored in the field's place.
        spreads: Whether *write* returns several values by name.
        needed: Whether the field has no default.
    """

    name: str = ""
    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], Any] | None = None
    kind: type[Any] | None = None
    spreads: bool = False
    needed: bool = False


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

    Reading an item without all attributes of its fields that have no default, as the first must
    have none, gives None.
    """
    return {_COLUMN: _Column(kind=kind)}


def spread(write: Callable[[Any], Mapping[str, Any]] = dict) -> Mapping[str, object]:
    """Store the values that *write* names in place of a field; only `attributes_of` supports it."""
    return {_COLUMN: _Column(write=write, spreads=True)}


NOT_STORED: Final[Mapping[str, object]] = {_COLUMN: None}
"""The codec leaves the field to the table."""


_COLUMNS: Final[dict[type[Any], tuple[tuple[str, _Column], ...]]] = {}


def _columns(kind: type[Any]) -> tuple[tuple[str, _Column], ...]:
    """Names of the fields that the codec stores, and their columns, all with names."""
    if kind not in _COLUMNS:
        columns: list[tuple[Field[Any], _Column | None]] = [
            (field, field.metadata.get(_COLUMN, _Column())) for field in fields(kind)
        ]
        _COLUMNS[kind] = tuple(
            (field.name, column._replace(name=column.name or field.name, needed=_is_needed(field)))
            for field, column in columns
            if column
        )
    return _COLUMNS[kind]


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def names_of(kind: type[Any]) -> Iterator[str]:
    """Names of the attributes of *kind*, a dataclass, except those of `spread` fields."""
    for _, column in _columns(kind):
        if column.kind:
            yield from names_of(column.kind)
        elif not column.spreads:
            yield column.name


def attributes_of(value: object) -> Iterator[tuple[str, Any]]:
    """Names and plain values of the attributes of *value*, a dataclass; None for an absent one."""
    for name, column in _columns(type(value)):
        content = getattr(value, name)
        if column.spreads and column.write:
            yield from column.write(content).items()
        elif column.kind:
            absent = ((inner, None) for inner in names_of(column.kind))
            yield from absent if content is None else attributes_of(content)
        else:
            written = column.write(content) if column.write and content is not None else content
            yield column.name, written


def encoded(value: object, float_format: str) -> dict[str, Any]:
    """*value*, a dataclass, as an item; *float_format* is a format specification."""
    item: dict[str, Any] = {}
    for name, (attribute, _, write, kind, _, _) in _columns(type(value)):
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


def decoded(kind: type[T], item: Mapping[str, Any], **others: object) -> T:
    """The *kind* in an *item* that `encoded` made, with *others*: the fields that are not stored.

    Raises:
        TypeError: Attributes of fields without a default are missing.
    """
    return from_values(kind, plain_values(item), **others)


def from_values(kind: type[T], values: Mapping[str, Any], **others: object) -> T:
    """As `decoded`, from plain *values* by name; unknown names are ignored, None is no value."""
    return kind(**others, **_arguments(kind, values))


def _arguments(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name, (attribute, read, _, inner, spreads, _) in _columns(kind):
        if inner:
            if _columns(inner)[0][1].name in values:  # most parts are absent
                parts = _arguments(inner, values)
                if all(part in parts or not column.needed for part, column in _columns(inner)):
                    arguments[name] = inner(**parts)
        elif not spreads and (content := values.get(attribute)) is not None:
            arguments[name] = read(content) if read else content
    return arguments


def attribute_of(value: object, float_format: str) -> dict[str, Any]:
    """A text, number or boolean as an attribute; *float_format* is a format specification."""
    return {"S": str(value)} if isinstance(value, str) else _number(value, float_format)


def _number(value: object, float_format: str) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"BOOL": value}
    return {"N": format(value, float_format) if isinstance(value, float) else str(value)}


def plain_values(item: Mapping[str, Any]) -> dict[str, Any]:
    """The plain values of an item's attributes."""
    return {name: _plain(attribute) for name, attribute in item.items()}


def _plain(attribute: Mapping[str, Any]) -> Any:  # noqa: ANN401 - one of DynamoDB's types
    """The inverse of `attribute_of`."""
    if "N" not in attribute:
        return attribute.get("S", attribute.get("BOOL"))
    text: str = attribute["N"]
    return int(text) if text.lstrip("-").isdigit() else float(text)
