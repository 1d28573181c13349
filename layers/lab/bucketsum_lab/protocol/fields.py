"""A JSON object's fields, read one by one, with errors that name the field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from bucketsum_lab.errors import BadSweep

T = TypeVar("T")
D = TypeVar("D")

_SHOWN_CHARACTERS: Final = 200


class Fields:
    """The fields of one object in a sweep's input."""

    def __init__(self, place: str, raw: object, known: Sequence[str]) -> None:
        """Take *raw*, which stands at *place* of the input ("" for the whole of it).

        Raises:
            BadSweep: It is not an object, or has a field that is not one of *known*.
        """
        if not isinstance(raw, dict):
            raise BadSweep(f"{place or 'the input'} is {shown(raw)}, not an object")
        unknown = [repr(str(name)[:_SHOWN_CHARACTERS])[1:-1] for name in raw if name not in known]
        if unknown:
            raise BadSweep(
                f"{self._at(place, unknown[0])} is not a field; known are {', '.join(known)}"
            )
        self._place = place
        self._raw = raw

    def __contains__(self, name: str) -> bool:
        return name in self._raw

    def optional(self, name: str, read: Callable[[str, object], T], default: D) -> T | D:
        """The field's value, or *default* if it is absent."""
        return read(self._at(self._place, name), self._raw[name]) if name in self else default

    def needed(self, name: str, read: Callable[[str, object], T]) -> T:
        """The value of a required field.

        Raises:
            BadSweep: It is absent.
        """
        if name not in self:
            raise BadSweep(f"{self._at(self._place, name)} is missing")
        return read(self._at(self._place, name), self._raw[name])

    @staticmethod
    def _at(place: str, name: str) -> str:
        return f"{place}.{name}" if place else name


def several(read: Callable[[str, object], T]) -> Callable[[str, object], tuple[T, ...]]:
    """Reads a list of values in the order given, each once; there must be one."""

    def read_all(place: str, raw: object) -> tuple[T, ...]:
        if not isinstance(raw, list) or not raw:
            raise BadSweep(f"{place} is {shown(raw)}, not a list with at least one entry")
        return tuple(
            dict.fromkeys(read(f"{place}[{index}]", value) for index, value in enumerate(raw))
        )

    return read_all


def whole(low: int, high: int) -> Callable[[str, object], int]:
    """Reads a whole number in *low* .. *high*."""

    def read(place: str, raw: object) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int) or not low <= raw <= high:
            raise BadSweep(f"{place} is {shown(raw)}, not a whole number in {low}..{high}")
        return raw

    return read


def number(low: float, high: float) -> Callable[[str, object], float]:
    """Reads a number in *low* .. *high*."""

    def read(place: str, raw: object) -> float:
        if isinstance(raw, bool) or not isinstance(raw, int | float) or not low <= raw <= high:
            raise BadSweep(f"{place} is {shown(raw)}, not a number in {low:g}..{high:g}")
        return float(raw)

    return read


def among(allowed: Iterable[T]) -> Callable[[str, object], T]:
    """Reads one of *allowed*."""
    choices = list(allowed)

    def read(place: str, raw: object) -> T:
        for choice in choices:
            if type(raw) is not bool and raw == choice:
                return choice
        raise BadSweep(f"{place} is {shown(raw)}; allowed: {', '.join(map(str, choices))}")

    return read


def text(place: str, raw: object) -> str:
    """Reads a text that is not empty."""
    if not isinstance(raw, str) or not raw:
        raise BadSweep(f"{place} is {shown(raw)}, but must be a non-empty string")
    return raw


def boolean(place: str, raw: object) -> bool:
    """Reads true or false."""
    if not isinstance(raw, bool):
        raise BadSweep(f"{place} is {shown(raw)}, neither true nor false")
    return raw


def shown(raw: object) -> str:
    """*raw* as JSON for an error's text, cut if long: Step Functions limits these texts."""
    text = json.dumps(raw, default=repr)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
