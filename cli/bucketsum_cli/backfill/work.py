"""Objects that are to be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated


@dataclass(frozen=True, slots=True)
class Work:
    """The objects of a backfill; *passed_over* of its verification are listed and not read."""

    object_count: Annotated[int, "Number of the objects."]
    size_bytes: int
    bytes_by_class: Annotated[
        Mapping[str, int], "Bytes by S3 storage class; empty if not known."
    ] = field(default_factory=dict)
    passed_over: Annotated[int, "Objects that are listed and looked up, but not read."] = 0

    @property
    def listed_count(self) -> int:
        """Number of objects that are found and looked up."""
        return self.object_count + self.passed_over

    @property
    def mean_bytes(self) -> int:
        """Mean size of an object."""
        return self.size_bytes // self.object_count if self.object_count else 0
