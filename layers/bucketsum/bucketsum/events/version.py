"""Version of an object: absent in events and requests, ``null`` in rows and listings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

_NULL_ENTRY: Final = "null"


@dataclass(frozen=True, slots=True)
class Version:
    """Version of an object.

    Attributes:
        id: As an event or a request has it; None for an object in a bucket that keeps no versions.
    """

    id: str | None

    @classmethod
    def of_entry(cls, entry: str) -> Self:
        """The version whose row, or line in a listing, has *entry*."""
        return cls(None if entry == _NULL_ENTRY else entry)

    @property
    def entry(self) -> str:
        """As rows and listings have it."""
        return self.id or _NULL_ENTRY

    @property
    def is_null(self) -> bool:
        """Whether a newer object at the key overwrites it."""
        return self.entry == _NULL_ENTRY


NULL: Final = Version(None)
"""The only version that can be overwritten."""
