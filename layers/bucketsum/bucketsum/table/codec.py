"""Codec: dataclasses ↔ DynamoDB items, one attribute for each field.

A field that is None has no attribute. A field's ``metadata`` may come from `stored` or `nested`, or
be `NOT_STORED`. Reading is strict: a damaged item is an error, never another value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, Final, NamedTuple, TypeVar

from bucketsum.events.message_fields import shown

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
        types: Types of the stored value: of the field, or of texts if it has *read*.
        needed: Attributes that it cannot be read without: its own, or those of *kind*.
    """

    name: str = ""
    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], Any] | None = None
    kind: type[Any] | None = None
    types: tuple[type[Any], ...] = ()
    needed: tuple[str, ...] = ()


def stored(
    name: str = "",
    *,
    read: Callable[[Any], Any] | None = None,
    write: Callable[[Any], Any] | None = None,
    types: tuple[type[Any], ...] = (),
) -> Mapping[str, object]:
    """Store a field under another *name*, or as the result of *write*; *read* reverses it.

    *types* are those of the stored value, if it is in a JSON document and neither number nor text.
    """
    return {_COLUMN: _Column(name, read, write, types=types)}


def nested(kind: type[Any]) -> Mapping[str, object]:
    """Store the fields of *kind*, a dataclass, in place of the field.

    Reading an item gives None if it has none of the attributes of fields without a default.
    """
    return {_COLUMN: _Column(kind=kind)}


NOT_STORED: Final[Mapping[str, object]] = {_COLUMN: None}
"""The codec leaves the field to the table."""


_COLUMNS: Final[dict[type[Any], tuple[tuple[str, _Column], ...]]] = {}


def _columns(kind: type[Any]) -> tuple[tuple[str, _Column], ...]:
    """Names of the fields that the codec stores, and their columns, complete."""
    if kind not in _COLUMNS:
        columns: list[tuple[Field[Any], _Column | None]] = [
            (field, field.metadata.get(_COLUMN, _Column())) for field in fields(kind)
        ]
        _COLUMNS[kind] = tuple(
            (field.name, _complete(column, field)) for field, column in columns if column
        )
    return _COLUMNS[kind]


def _complete(column: _Column, field: Field[Any]) -> _Column:
    name = column.name or field.name
    if column.kind:
        inner = (part for _, part in _columns(column.kind))
        return column._replace(name=name, needed=tuple(n for part in inner for n in part.needed))
    is_needed = field.default is MISSING and field.default_factory is MISSING
    annotation = "str" if column.read else str(field.type).removesuffix(" | None")
    return column._replace(
        name=name,
        types=column.types or _TYPES[annotation],
        needed=(name,) if is_needed else (),
    )


def names_of(kind: type[Any]) -> Iterator[str]:
    """Names of the attributes of *kind*, a dataclass."""
    for _, column in _columns(kind):
        if column.kind:
            yield from names_of(column.kind)
        else:
            yield column.name


class Attribute(NamedTuple):
    """An attribute of items, for those who read them in another language.

    Attributes:
        types: Types of its stored value.
        read: Attribute's value → field's value; an enumeration has its allowed values.
        is_needed: Whether an item without it, or its part without it, is damaged.
        part: Attributes without which the part of the item that it is in is absent; empty if it is
            in none.
    """

    name: str
    types: tuple[type[Any], ...]
    read: Callable[[Any], Any] | None
    is_needed: bool
    part: tuple[str, ...] = ()


def schema_of(kind: type[Any]) -> Iterator[Attribute]:
    """The attributes of *kind*, a dataclass."""
    for _, column in _columns(kind):
        if column.kind:
            for inner in schema_of(column.kind):
                yield inner._replace(part=column.needed)
        else:
            yield Attribute(column.name, column.types, column.read, bool(column.needed))


def attributes_of(value: object) -> Iterator[tuple[str, Any]]:
    """Names and plain values of the attributes of *value*, a dataclass; None for an absent one."""
    for name, column in _columns(type(value)):
        content = getattr(value, name)
        if column.kind:
            absent = ((inner, None) for inner in names_of(column.kind))
            yield from absent if content is None else attributes_of(content)
        else:
            written = column.write(content) if column.write and content is not None else content
            yield column.name, written


def encoded(value: object, float_format: str) -> dict[str, Any]:
    """*value*, a dataclass, as an item; *float_format* is a format specification."""
    item: dict[str, Any] = {}
    for name, (attribute, _, write, kind, *_) in _columns(type(value)):
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
    """Rebuild a *kind* from an *item* of `encoded`; *others* has the fields that are not stored.

    Raises:
        ValueError: An attribute is missing, or another program changed it; the text names it.
    """
    return kind(**others, **_arguments(kind, item, is_item=True))


def decoded_part(kind: type[T], item: Mapping[str, Any]) -> T | None:
    """Decode a nested dataclass; None if *item* has none of its required attributes."""
    needed = (attribute for _, column in _columns(kind) for attribute in column.needed)
    return None if item.keys().isdisjoint(needed) else decoded(kind, item)


def from_values(kind: type[T], values: Mapping[str, Any], **others: object) -> T:
    """Like `decoded`, from plain *values* by name; ignores unknown names and values of None."""
    present = {name: value for name, value in values.items() if value is not None}
    return kind(**others, **_arguments(kind, present, is_item=False))


def _arguments(kind: type[Any], values: Mapping[str, Any], *, is_item: bool) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name, (attribute, read, _, inner, types, needed) in _columns(kind):
        if inner:
            if not values.keys().isdisjoint(needed):  # most parts are absent
                arguments[name] = inner(**_arguments(inner, values, is_item=is_item))
        elif attribute in values:
            content = values[attribute]
            try:
                plain = _checked(_plain(content) if is_item else content, types)
                arguments[name] = read(plain) if read else plain
            except (KeyError, TypeError, ValueError, RecursionError) as error:
                raise _damage(attribute, content) from error
        elif needed:
            raise ValueError(f"{attribute} is missing")
    return arguments


def texts_with_prefix(prefix: str, item: Mapping[str, Any]) -> dict[str, str]:
    """The texts in *item* whose names begin with *prefix*, by the rest of their names.

    Raises:
        ValueError: Such an attribute is not a text; the error names it.
    """
    texts: dict[str, str] = {}
    for name, content in item.items():
        if name.startswith(prefix):
            try:
                texts[name.removeprefix(prefix)] = content["S"]
            except (KeyError, TypeError) as error:
                raise _damage(name, content) from error
    return texts


def _damage(attribute: str, content: object) -> ValueError:
    return ValueError(f"{attribute} is {shown(content)}")


def _checked(value: object, types: tuple[type[Any], ...]) -> object:
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise TypeError("a value of another type")
    return value


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
    """The inverse of `attribute_of`; None for a type that it never makes."""
    if text := attribute.get("N"):
        return int(text) if text.lstrip("-").isdigit() else float(text)
    return attribute.get("S", attribute.get("BOOL"))


_TYPES: Final[Mapping[str, tuple[type[Any], ...]]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
}
"""By the annotation of a field, without its ``None``."""
