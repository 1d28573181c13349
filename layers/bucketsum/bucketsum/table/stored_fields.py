"""Columns: how the codec stores the fields of a dataclass.

A field's ``metadata`` may come from `stored` or `nested`, or be `NOT_STORED`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Any, Final, NamedTuple

_COLUMN: Final = "bucketsum.column"


class StoredColumn(NamedTuple):
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
    return {_COLUMN: StoredColumn(name, read, write, types=types)}


def nested(kind: type[Any]) -> Mapping[str, object]:
    """Store the fields of *kind*, a dataclass, in place of the field.

    Reading an item gives None if it has none of the attributes of fields without a default.
    """
    return {_COLUMN: StoredColumn(kind=kind)}


NOT_STORED: Final[Mapping[str, object]] = {_COLUMN: None}
"""The codec leaves the field to the table."""

_COLUMNS: Final[dict[type[Any], tuple[tuple[str, StoredColumn], ...]]] = {}


def columns_of(kind: type[Any]) -> tuple[tuple[str, StoredColumn], ...]:
    """Names of the fields that the codec stores, and their columns, complete."""
    if kind not in _COLUMNS:
        columns: list[tuple[Field[Any], StoredColumn | None]] = [
            (field, field.metadata.get(_COLUMN, StoredColumn())) for field in fields(kind)
        ]
        _COLUMNS[kind] = tuple(
            (field.name, _complete(column, field)) for field, column in columns if column
        )
    return _COLUMNS[kind]


@cache
def reading_of(kind: type[Any]) -> tuple[list[Any], list[Any]]:
    """Columns for reading: own attributes, and parts."""
    columns = columns_of(kind)
    own = [(name, c.name, c.read, c.types, bool(c.needed)) for name, c in columns if not c.kind]
    return own, [(name, c.kind, c.needed) for name, c in columns if c.kind]


def _complete(column: StoredColumn, field: Field[Any]) -> StoredColumn:
    name = column.name or field.name
    if column.kind:
        inner = (part for _, part in columns_of(column.kind))
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
    for _, column in columns_of(kind):
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
    for _, column in columns_of(kind):
        if column.kind:
            for inner in schema_of(column.kind):
                yield inner._replace(part=column.needed)
        else:
            yield Attribute(column.name, column.types, column.read, bool(column.needed))


_TYPES: Final[Mapping[str, tuple[type[Any], ...]]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
}
"""By the annotation of a field, without its ``None``."""
