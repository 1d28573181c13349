"""Values of an answer in JSON and in CSV: of each type, without a loss."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from bucketsum_cli.terminal.documents import iso_text


def json_value(value: Any) -> Any:  # noqa: ANN401 - any value of DuckDB
    """A *value* of an answer in JSON; a number that JSON does not have is a text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else str(value)
        case Decimal():
            number = float(value)
            return number if Decimal(str(number)) == value else str(value)
        case Mapping():
            return {text_of(name): json_value(content) for name, content in value.items()}
        case list() | tuple():
            return [json_value(content) for content in value]
    return text_of(value)


def text_of(value: Any) -> str:  # noqa: ANN401 - any value of DuckDB
    """A *value* of an answer as a text, as in JSON; times are in UTC."""
    match value:
        case None:
            return ""
        case datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            if not moment.microsecond % 1000:
                return iso_text(moment)
            return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case bytes():
            return "".join(chr(b) if chr(b) in _PLAIN else f"\\x{b:02X}" for b in value)
        case bool() | Mapping() | list() | tuple():
            return json.dumps(json_value(value), ensure_ascii=False)
    return str(value)


def csv_line(values: Iterable[object]) -> str:
    """The line of *values*: null is empty, an empty text is quoted."""
    return ",".join("" if value is None else _quoted(text_of(value)) for value in values) + "\n"


def unique_names(columns: Sequence[str]) -> list[str]:
    """The names of *columns*; of equal ones, the second is ``name_2``."""
    names: list[str] = []
    for column in columns:
        name, number = column, 2
        while name in names or (name != column and name in columns):
            name, number = f"{column}_{number}", number + 1
        names.append(name)
    return names


_PLAIN = frozenset(map(chr, range(32, 127))) - {"\\", '"', "'"}


def _quoted(text: str) -> str:
    if text and not any(mark in text for mark in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'
