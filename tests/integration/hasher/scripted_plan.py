"""A read plan whose number of streams changes by a script, not by throughput."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bucketsum.s3.read_plan import ReadPlan
from bucketsum.s3.stream_count import StreamCount

REST: Final = 0
"""In a script: one request brings the rest."""


@dataclass(frozen=True, slots=True)
class ScriptedPlan(ReadPlan):
    """The number of streams after each look; the last one stays."""

    script: tuple[int, ...] = ()

    def stream_count(self) -> StreamCount:
        """See `ReadPlan.stream_count`."""
        return _ScriptedCount(self.streams, self.part_bytes, self.script)


class _ScriptedCount(StreamCount):
    def __init__(self, streams: int, part_bytes: int, script: Iterable[int]) -> None:
        super().__init__(streams, part_bytes)
        self._script = deque(script)
        self._takes_rest = False

    @property
    def takes_rest(self) -> bool:
        return self._takes_rest

    @property
    def is_due(self) -> bool:
        return bool(self._script)

    def look(self, received_bytes: int, *, running: int, waiting: int) -> None:  # noqa: ARG002 - as overridden
        number = self._script.popleft()
        self.streams, self._takes_rest = max(number, 1), number == REST
