"""When members are given up so that the archive's own SHA-1 is still reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LEAVE_SECONDS: Final = 60.0
"""How long before its time-out an invocation gives up on members, however little is left to read.

What is then still to do: members' rows that wait, rows that are stale, and the archive's own.
"""

UNJUDGED: Final = 0.1
"""Part of an invocation's time that goes by before its pace is judged: beginnings are slow."""


class Pace:
    """Whether there is time for members, and after them for the rest of the archive.

    An archive's own SHA-1 comes first. Members are given up as soon as the archive would not be
    read to its end in time at the pace so far. Without them it is never read more slowly, so it
    is hashed if reading it alone takes no more than what `UNJUDGED` leaves of the invocation.
    """

    def __init__(self, size_bytes: int, remaining_seconds: Callable[[], float]) -> None:
        self._left_bytes = size_bytes
        self._read_bytes = 0
        self._remaining_seconds = remaining_seconds
        self._begun = remaining_seconds()

    def counting(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Pass the archive's chunks on."""
        for chunk in chunks:
            self._read_bytes += len(chunk)
            self._left_bytes -= len(chunk)
            yield chunk

    def allows_members(self) -> bool:
        """Whether there is time for more of them."""
        remaining = self._remaining_seconds()
        taken = self._begun - remaining
        usable = remaining - LEAVE_SECONDS
        if taken < UNJUDGED * self._begun:
            return usable > 0
        return usable > 0 and self._left_bytes * taken <= usable * self._read_bytes
