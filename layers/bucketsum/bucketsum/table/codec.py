"""Codec: dataclasses ↔ DynamoDB items, one attribute for each field.

A field that is None has no attribute. Reading is strict: a damaged item is an error, never another
value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from bucketsum.events.message_fields import shown
from bucketsum.table.stored_fields import columns_of, names_of, reading_of

T = TypeVar("T")


def attributes_of(value: object) -> Iterator[tuple[str, Any]]:
    """Names and plain values of the attributes of *value*, a dataclass; None for an absent one."""
    for name, column in columns_of(type(value)):
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
    for name, column in columns_of(type(value)):
        if (content := getattr(value, name)) is None:  # as most are
            continue
        attribute, _, write, kind, _, _ = column
        if kind:
            item.update(encoded(content, float_format))
        elif write and (content := write(content)) is None:
            continue
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
    needed = (attribute for _, column in columns_of(kind) for attribute in column.needed)
    return None if item.keys().isdisjoint(needed) else decoded(kind, item)


def from_values(kind: type[T], values: Mapping[str, Any], **others: object) -> T:
    """Like `decoded`, from plain *values* by name; ignores unknown names and values of None."""
    present = {name: value for name, value in values.items() if value is not None}
    return kind(**others, **_arguments(kind, present, is_item=False))


def _arguments(kind: type[Any], values: Mapping[str, Any], *, is_item: bool) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    fields, parts = reading_of(kind)  # type: ignore[arg-type] # mypy: a class has a hash
    for name, attribute, read, types, is_needed in fields:
        if attribute not in values:
            if is_needed:
                raise ValueError(f"{attribute} is missing")
            continue
        content = values[attribute]
        try:
            plain = (content.get("S") or _plain(content)) if is_item else content
            if type(plain) not in types:  # of most values it is, and a call costs as much
                _require_type(plain, types)
            arguments[name] = plain if read is None else read(plain)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise _damage(attribute, content) from error
    for name, inner, needed in parts:
        if not values.keys().isdisjoint(needed):  # most parts are absent
            arguments[name] = inner(**_arguments(inner, values, is_item=is_item))
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


def _require_type(value: object, types: tuple[type[Any], ...]) -> None:
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise TypeError("a value of another type")


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
    if (text := attribute.get("S")) is not None:
        return text
    if number := attribute.get("N"):
        return int(number) if number.lstrip("-").isdigit() else float(number)
    return attribute.get("BOOL")
