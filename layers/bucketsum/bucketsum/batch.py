"""The messages of one invocation: small objects side by side, large ones one after the other."""

from __future__ import annotations

import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bucketsum.errors import Deferred, MalformedMessage
from bucketsum.hashing import STOP_BEFORE_END_SECONDS, HashResult
from bucketsum.notifications import created_objects_in
from bucketsum.s3.read_plan import SPLIT_FROM_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bucketsum.dead_letters import ReceivedMessage
    from bucketsum.notifications import ObjectCreated
    from bucketsum.settings import Settings

    Result = HashResult | Exception

LARGE_BYTES: Final = 256 * 1024 * 1024
"""From this size on a message is better off in an environment of its own: so much takes more than
3 s at Lambda's 75 MiB/s, and coming again takes about one."""

_SLOW_MB_PER_S: Final = 60
_SLOW_MB_PER_S_PER_MB: Final = 0.16
"""A slow reading at more and at less than 375 MB of memory: a third below what the article's
reader measured in Lambda's shape at 512, 256 and 128 MB."""


@dataclass(slots=True, eq=False)
class MessageResult:
    """One message, and what has become of it.

    Attributes:
        delivery: The message.
        arrivals: What it names.
        results: A report or an error for each that was dealt with, and the message's own error.
    """

    delivery: ReceivedMessage
    arrivals: Sequence[ObjectCreated] = ()
    results: list[Result] = field(default_factory=list)

    @property
    def size_bytes(self) -> int:
        """What all of its objects come to."""
        return sum(arrival.size_bytes for arrival in self.arrivals)

    @property
    def reports(self) -> list[HashResult]:
        """Of the objects that could be dealt with."""
        return [one for one in self.results if isinstance(one, HashResult)]

    @property
    def failure(self) -> Exception | None:
        """Why the message is not done with: its one error, or a group of several."""
        errors = [one for one in self.results if isinstance(one, Exception)]
        if len(errors) > 1:
            return ExceptionGroup(f"{len(errors)} objects of one message failed", errors)
        return errors[0] if errors else None


class BatchHasher:
    """Hashes the objects of batches of messages.

    Peak memory is that of ``settings.threads`` objects, ``2 × chunk_bytes`` each.
    """

    def __init__(
        self,
        hash_one: Callable[[ObjectCreated, Callable[[], float]], HashResult],
        settings: Settings,
        carried: Callable[[Callable[[ObjectCreated], Result]], Callable[[ObjectCreated], Result]],
    ) -> None:
        """Hash with *hash_one*; *carried* makes of a function one for other threads."""
        self._hash_one = hash_one
        self._settings = settings
        self._carried = carried

    def handle(
        self, deliveries: Iterable[ReceivedMessage], remaining_seconds: Callable[[], float]
    ) -> Iterator[MessageResult]:
        """Hash every object of every message; one that fails keeps no other from its turn.

        Yields each message once, as it is done: those that another environment is to take, whose
        failure is `Deferred`; then those with small objects alone; then the others.

        Args:
            deliveries: The batch.
            remaining_seconds: How long this invocation may still take; every thread asks.
        """

        def hashed(arrival: ObjectCreated) -> Result:
            try:
                return self._hash_one(arrival, remaining_seconds)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next has its turn
                _forget_frames(error)
                return error

        works = [_work_of(delivery) for delivery in deliveries]
        deferred, kept = self._spread(works)
        yield from deferred
        yield from self._side_by_side(kept, hashed)
        yield from self._in_turn(
            [one for one in kept if self._waiting(one)], hashed, remaining_seconds
        )

    def _spread(
        self, works: list[MessageResult]
    ) -> tuple[list[MessageResult], list[MessageResult]]:
        """Which are left to others at once: all large ones but one, when they come first.

        Later they are not: each time costs one of the receives that SQS allows.
        """
        large = _first_served(one for one in works if one.size_bytes >= LARGE_BYTES)
        left = [one for one in large[1:] if one.delivery.receive_count == 1]
        for seconds, work in enumerate(left):
            work.results.append(Deferred(seconds))
        return left, [one for one in works if one not in left]

    def _side_by_side(
        self, works: list[MessageResult], hashed: Callable[[ObjectCreated], Result]
    ) -> Iterator[MessageResult]:
        small = [one for work in works for one in work.arrivals if self._is_small(one)]
        with _threads(min(self._settings.threads, len(small))) as pool:
            results = pool.map(self._carried(hashed), small) if pool else map(hashed, small)
            for work in works:
                work.results += [next(results) for one in work.arrivals if self._is_small(one)]
                if not self._waiting(work):
                    yield work

    def _in_turn(
        self,
        works: list[MessageResult],
        hashed: Callable[[ObjectCreated], Result],
        remaining_seconds: Callable[[], float],
    ) -> Iterator[MessageResult]:
        put_off = 0
        for number, work in enumerate(_first_served(works)):
            waiting = self._waiting(work)
            left = remaining_seconds() - STOP_BEFORE_END_SECONDS
            last = work.delivery.receive_count >= self._settings.max_receives
            if number and not last and left < self._slow_seconds(waiting):
                work.results.append(Deferred(put_off))
                put_off += 1
            else:
                work.results += map(hashed, waiting)
            yield work

    def _slow_seconds(self, arrivals: Iterable[ObjectCreated]) -> float:
        memory_mb = self._settings.memory_mb
        speed = min(_SLOW_MB_PER_S, _SLOW_MB_PER_S_PER_MB * memory_mb)
        return sum(arrival.size_bytes for arrival in arrivals) / 1e6 / speed

    def _waiting(self, work: MessageResult) -> list[ObjectCreated]:
        """Those of its objects that have to wait for their turn."""
        return [one for one in work.arrivals if not self._is_small(one)]

    def _is_small(self, arrival: ObjectCreated) -> bool:
        if (archives := self._settings.archives) and archives.takes(arrival.key):
            return False  # its members may take far longer than its own size suggests
        return arrival.size_bytes < SPLIT_FROM_BYTES


def _work_of(delivery: ReceivedMessage) -> MessageResult:
    try:
        return MessageResult(delivery, created_objects_in(delivery.body))
    except MalformedMessage as error:
        return MessageResult(delivery, results=[error])


def _first_served(works: Iterable[MessageResult]) -> list[MessageResult]:
    """Who was received most often comes first."""
    return sorted(works, key=lambda one: one.delivery.receive_count, reverse=True)


@contextmanager
def _threads(count: int) -> Iterator[ThreadPoolExecutor | None]:
    """So many threads, for one batch: nothing runs on when an invocation is over."""
    if count < 2:  # noqa: PLR2004 - one thread is this one
        yield None
        return
    with ThreadPoolExecutor(count) as pool:
        yield pool


def _forget_frames(error: BaseException | None) -> None:
    """Let go of the chunk that the frames of *error* hold, while it waits for the other objects."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__
