"""Errors that only sweeps raise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bucketsum.errors import BucketsumError, Retryable


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """A place in a sweep's input, for example ``strategy.weight`` or ``memory_mb[0]``."""

    field: str = ""
    index: str = ""

    def __str__(self) -> str:
        return f"{self.field}{self.index}" or "the input"

    def item(self, index: int) -> FieldPlace:
        """The entry with this index of the list that stands here."""
        return FieldPlace(str(self) if self.index else self.field, f"[{index}]")

    def within(self, name: str) -> FieldPlace:
        """The field *name* of the object that stands here."""
        return FieldPlace(f"{self}.{name}" if self.field else name)


class BadSweep(BucketsumError):
    """A field of a sweep's input is invalid; the text names field, value and range."""

    def __init__(self, *parts: object) -> None:
        """*parts* make the text; each field that it names is a `FieldPlace`."""
        super().__init__("".join(map(str, parts)))
        self.parts = parts

    def text(self, options: Mapping[str, str]) -> str:
        """The text with the *options* of a command, by field, instead of their fields."""
        return "".join(
            options.get(part.field, str(part)) if isinstance(part, FieldPlace) else str(part)
            for part in self.parts
        )


class MemoryRefused(BadSweep):
    """Lambda does not allow this memory size in this account."""


class ConcurrentUpdate(Retryable):
    """Somebody else changed the prober each time, between its update and its publication."""
