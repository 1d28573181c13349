"""The end of an invocation, and the decisions that depend on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, Self

from bucketsum.errors import OutOfTime
from bucketsum.measure import BYTES_PER_MB

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

STOP_BEFORE_END_SECONDS: Final = 3.0
"""An invocation stops reading this long before its time-out, so that it can report why."""

TOO_LATE: Final = (
    "the invocation's time ended before this object's turn; lower BatchSize or raise MemorySize"
)
"""The reason if an object is not begun."""

LAST_BEGIN_SECONDS: Final = 60.0
"""No small object of a batch is begun or recorded later than this before the time-out, and no other
message but the first, or one on its last receive.

If DynamoDB is silent, a row takes up to `clients.SILENT_SECONDS`. Then each failed message, of up
to 1,000, takes a request to SQS of some 10 ms.
"""

MEMBERS_STOP_SECONDS: Final = 60.0
"""An invocation gives up an archive's members this long before its time-out.

Still to do then: the rows of members that wait, the removal of stale rows, the archive's own row.
"""

UNJUDGED: Final = 0.1
"""Part of an invocation's time that passes before its pace is judged: the first bytes are slow."""

_SLOW_MB_PER_S: Final = 60
_SLOW_MB_PER_S_PER_MB: Final = 0.16
"""A slow reader's speed above and below 375 MB of memory: two thirds of the baseline reader's
(Bryson, 2021) in Lambda's shape at 512, 256 and 128 MB."""


LONGEST_INVOCATION_SECONDS: Final = 900.0
"""[A] The longest time-out of a function."""


def slowly_read_bytes(seconds: float, memory_mb: int) -> int:
    """Bytes that even a slow reader reads in *seconds*, with *memory_mb* of memory."""
    speed = min(_SLOW_MB_PER_S, _SLOW_MB_PER_S_PER_MB * memory_mb)
    return int((seconds - STOP_BEFORE_END_SECONDS) * speed * BYTES_PER_MB)


class Deadline:
    """When this invocation ends; threads may share it."""

    def __init__(
        self,
        remaining_seconds: Callable[[], float],
        invocation_seconds: float = LONGEST_INVOCATION_SECONDS,
    ) -> None:
        """*remaining_seconds* returns the seconds left; *invocation_seconds* is the total."""
        self.seconds_left = remaining_seconds
        self._invocation_seconds = invocation_seconds

    @classmethod
    def of(cls, context: LambdaContext) -> Self:
        """The deadline of an invocation that begins."""
        remaining_ms = context.get_remaining_time_in_millis
        return cls(lambda: remaining_ms() / 1000, remaining_ms() / 1000)

    @property
    def last_begin_seconds(self) -> float:
        """Seconds that must be left to begin more work; fewer than usual in a short invocation."""
        third = self._invocation_seconds / 3
        return max(STOP_BEFORE_END_SECONDS, min(LAST_BEGIN_SECONDS, third))

    def require(self, seconds: float, reason: str) -> None:
        """Raise `OutOfTime`, with *reason*, if less than *seconds* are left."""
        if not self.leaves(seconds):
            raise OutOfTime(reason)

    def leaves(self, seconds: float) -> bool:
        """Whether at least *seconds* are left."""
        return self.seconds_left() >= seconds

    def allows_slow_reading(self, size_bytes: int, memory_mb: int) -> bool:
        """Whether even a slow reader reads *size_bytes* in time, with *memory_mb* of memory."""
        return size_bytes <= slowly_read_bytes(self.seconds_left(), memory_mb)

    def invocation_is_too_short(self, size_bytes: int, memory_mb: int) -> bool:
        """Whether a slow reader might not read *size_bytes* in an invocation of its own."""
        return size_bytes > slowly_read_bytes(self._invocation_seconds, memory_mb)

    def guard(self, chunks: Iterable[bytes], size_bytes: int) -> GuardedChunks:
        """Yield *chunks*, *size_bytes* in total, until time runs out."""
        return GuardedChunks(chunks, size_bytes, self.seconds_left)


class GuardedChunks:
    """An object's chunks, which end with an error in time to report it."""

    def __init__(
        self, chunks: Iterable[bytes], size_bytes: int, remaining_seconds: Callable[[], float]
    ) -> None:
        self._chunks = chunks
        self._size_bytes = size_bytes
        self._remaining_seconds = remaining_seconds
        self._seconds_at_start = remaining_seconds()
        self._read_bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield chunks until the time left is less than twice that of the slowest chunk.

        Raises:
            OutOfTime: It could not; the text says how much was read.
        """
        slowest_seconds = 0.0
        before = self._remaining_seconds()
        for chunk in self._chunks:
            left = self._remaining_seconds()
            slowest_seconds = max(slowest_seconds, before - left)
            if left < max(STOP_BEFORE_END_SECONDS, 2 * slowest_seconds):
                raise OutOfTime(
                    f"{self._read_bytes} of {self._size_bytes} bytes were read when the "
                    "invocation's time ended; raise MemorySize, lower BatchSize, or hash this "
                    "object elsewhere"
                )
            self._read_bytes += len(chunk)
            yield chunk
            before = self._remaining_seconds()

    def allow_members(self) -> bool:
        """Whether there is time for an archive's members, and after them for its other chunks.

        An archive's own SHA-1 comes first: members are given up as soon as the archive would not
        be read to its end at the pace so far. Without them it is never read more slowly, so it is
        hashed if reading it alone takes no more than the part that `UNJUDGED` leaves.
        """
        remaining = self._remaining_seconds()
        spent = self._seconds_at_start - remaining
        usable = remaining - MEMBERS_STOP_SECONDS
        if spent < UNJUDGED * self._seconds_at_start:
            return usable > 0
        left_bytes = self._size_bytes - self._read_bytes
        return usable > 0 and left_bytes * spent <= usable * self._read_bytes
