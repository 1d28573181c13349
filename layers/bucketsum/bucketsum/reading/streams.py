"""How many connections read an object, and in parts of which size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

STREAMS_MAX: Final = 16
"""Connections that may read one object."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How one object is read.

    Attributes:
        streams: Connections at a time. One reads it in one request.
        part_bytes: Bytes of each request, where there are several.
    """

    streams: int = 1
    part_bytes: int = 0

    def splits(self, size_bytes: int) -> bool:
        """Whether an object of this size is read in several requests."""
        return self.streams > 1 and size_bytes > self.part_bytes
