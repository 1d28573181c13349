"""A JSON object's fields, read one by one, with errors that name the field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias, TypeVar

from bucketsum_lab.errors import BadSweep, FieldPlace

T = TypeVar("T")
D = TypeVar("D")

Reader: TypeAlias = Callable[[FieldPlace, object], T]
"""Reads the value that stands at a place of the input."""

_SHOWN_CHARACTERS: Final = 200


class Fields:
    """The fields of one object in a sweep's input."""

    def __init__(self, place: FieldPlace, raw: object, known: Sequence[str]) -> None:
        """Take *raw*, which stands at *place* of the input.

        Raises:
            BadSweep: It is not an object, or has a field that is not one of *known*.
        """
        if not isinstance(raw, dict):
            raise BadSweep(place, f" is {shown(raw)}, not an object")
        unknown = [repr(str(name)[:_SHOWN_CHARACTERS])[1:-1] for name in raw if name not in known]
        if unknown:
            raise BadSweep(
                place.within(unknown[0]), f" is not a field; known are {', '.join(known)}"
            )
        self._place = place
        self._raw = raw

    def __contains__(self, name: str) -> bool:
        return name in self._raw

    def optional(self, name: str, read: Reader[T], default: D) -> T | D:
        """The field's value, or *default* if it is absent."""
        return read(self._place.within(name), self._raw[name]) if name in self else default

    def needed(self, name: str, read: Reader[T]) -> T:
        """The value of a required field.

        Raises:
            BadSweep: It is absent.
        """
        if name not in self:
            raise BadSweep(self._place.within(name), " is missing")
        return read(self._place.within(name), self._raw[name])


def several(read: Reader[T]) -> Reader[tuple[T, ...]]:
    """Reads a list of values in the order given, each once; there must be one."""

    def read_all(place: FieldPlace, raw: object) -> tuple[T, ...]:
        if not isinstance(raw, list) or not raw:
            raise BadSweep(place, f" is {shown(raw)}, not a list with at least one entry")
        values = (read(place.item(index), value) for index, value in enumerate(raw))
        return tuple(dict.fromkeys(values))

    return read_all


def whole(low: int, high: int) -> Reader[int]:
    """Reads a whole number in *low* .. *high*."""

    def read(place: FieldPlace, raw: object) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int) or not low <= raw <= high:
            raise BadSweep(place, f" is {shown(raw)}, not a whole number in {low}..{high}")
        return raw

    return read


def number(low: float, high: float) -> Reader[float]:
    """Reads a number in *low* .. *high*."""

    def read(place: FieldPlace, raw: object) -> float:
        if isinstance(raw, bool) or not isinstance(raw, int | float) or not low <= raw <= high:
            raise BadSweep(place, f" is {shown(raw)}, not a number in {low:g}..{high:g}")
        return float(raw)

    return read


def among(allowed: Iterable[T]) -> Reader[T]:
    """Reads one of *allowed*."""
    choices = list(allowed)

    def read(place: FieldPlace, raw: object) -> T:
        for choice in choices:
            if type(raw) is not bool and raw == choice:
                return choice
        raise BadSweep(place, f" is {shown(raw)}; allowed: {', '.join(map(str, choices))}")

    return read


def text(place: FieldPlace, raw: object) -> str:
    """Reads a text that is not empty."""
    if not isinstance(raw, str) or not raw:
        raise BadSweep(place, f" is {shown(raw)}, but must be a non-empty string")
    return raw


def boolean(place: FieldPlace, raw: object) -> bool:
    """Reads true or false."""
    if not isinstance(raw, bool):
        raise BadSweep(place, f" is {shown(raw)}, neither true nor false")
    return raw


def shown(raw: object) -> str:
    """*raw* as JSON for an error's text, cut if long: Step Functions limits these texts."""
    text = json.dumps(raw, default=repr)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
