"""JSON documents of the commands: frozen dataclasses, each of whose fields is a field in JSON.

`make reference` writes docs/reference/json.md and its schema from them, with the meanings in
their types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, cast

from bucketsum.clock import text_of

T = TypeVar("T")
Moment: TypeAlias = datetime | str
"""A time; a field whose name ends with ``_at`` is in UTC with milliseconds and ``Z``."""

INLINE: Final = {"inline": True}
"""Metadata of a field: in JSON, the fields of its value stand in its place."""


def document_of(kind: Callable[..., T], *records: object, **others: object) -> T:
    """Make a document of *kind*: fields that are not in *others* are those of a record.

    A record has attributes, or is a mapping. Of several *records* with a field, the first counts.
    """
    names = {field.name for field in fields(cast("Any", kind))} - others.keys()
    for record in reversed(records):
        if isinstance(record, Mapping):
            own = {name: record[name] for name in names if name in record}
        else:
            own = {name: getattr(record, name) for name in names if hasattr(record, name)}
        others = {**others, **own}
    return kind(**others)


def json_text(document: object, *, indent: int | None = 2) -> str:
    """Return *document* in ASCII, which is safe for a terminal."""
    return json.dumps(document, indent=indent, default=_plain)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value of a document
    if isinstance(value, Path):
        return str(value)
    return dict(value) if isinstance(value, Mapping) else fields_of(value)


def fields_of(document: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Return the fields of *document* by their names in JSON; their values may be documents."""
    values: dict[str, Any] = {}
    for field in fields(document):
        content = getattr(document, field.name)
        if field.metadata == INLINE:
            values |= fields_of(content)
        elif content is not None and field.name.endswith("_at"):
            values[field.name] = iso_text(content)
        else:
            values[field.name] = content
    return values


def iso_text(moment: Moment) -> str:
    """Return *moment* in the form of all documents; a text that is not ISO 8601 stays as it is."""
    try:
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        return text_of(at)
    except (ValueError, OverflowError):  # in UTC it may be of the year 10000
        return str(moment)
