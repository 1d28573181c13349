"""A sweep's input from a file and from options, which win."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import click

from bucketsum.settings import AUTO_STREAMS
from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_UNITS_BYTES: Final = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)

_REPLACED_BY: Final = {
    "memory_mb": ("pairs",),
    "chunk_bytes": ("pairs",),
    "object_bytes": ("keys",),
    "keys": ("object_bytes",),
}
"""What a field that is given as an option takes the place of in the file."""

_EXAMPLE: Final = "bucketsum tune run --memory 512,1769 --chunk 256KiB,1MiB --object-size 100MB"


class Listed(click.ParamType):
    """Values separated by commas."""

    def __init__(self, name: str, one: click.ParamType) -> None:
        self.name = name
        self._one = one

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> list[Any]:
        """*value* taken apart, each part by its own type."""
        if isinstance(value, list):
            return value
        return [self._one.convert(part.strip(), param, ctx) for part in str(value).split(",")]


class Size(click.ParamType):
    """Bytes, with a unit of 1,000s (``MB``) or of 1,024s (``MiB``)."""

    name = "size"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """*value* in bytes."""
        if isinstance(value, int):
            return value
        found = _SIZE.fullmatch(str(value))
        unit_bytes = _UNITS_BYTES.get(found[2].lower()) if found else None
        if found is None or unit_bytes is None:
            self.fail(f"{value!r} is no size; write it as 262144, 256KiB or 20MB", param, ctx)
        return round(float(found[1]) * unit_bytes)


class Streams(click.ParamType):
    """A number of connections, or ``auto``."""

    name = "streams"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int | str:
        """*value* as a sweep's input has it."""
        return AUTO_STREAMS if value == AUTO_STREAMS else int(click.INT.convert(value, param, ctx))


def sweep_asked_for(file: Path | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of a sweep: *file*'s, in which *options* that are not None take their places.

    Raises:
        CannotDoError: The file cannot be read, or is no JSON object.
        UsageError: There is neither a file nor an option that says what to measure.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if file is None and not {"memory_mb", "chunk_bytes"} <= given.keys():
        raise click.UsageError(
            f"name a file as events/sweep-quick.json, or say what to measure: {_EXAMPLE}"
        )
    sweep = _read(file) if file else {}
    for name in given:
        for replaced in _REPLACED_BY.get(name, ()):
            sweep.pop(replaced, None)
    return sweep | given


def _read(file: Path) -> dict[str, Any]:
    try:
        sweep = json.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CannotDoError(f"{file} cannot be read as JSON: {error}") from error
    if not isinstance(sweep, dict):
        raise CannotDoError(f"{file} holds no JSON object; docs/tuning.md shows what one is")
    return sweep
