"""Hash a batch of messages: small objects in parallel, large ones one after the other."""

from __future__ import annotations

import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from bucketsum.errors import Deferred, MalformedMessage
from bucketsum.events.notifications import events_in
from bucketsum.events.object_events import ObjectDeleted
from bucketsum.hashing.object_hasher import TOO_LATE, is_long
from bucketsum.s3.read_plan import SPLIT_FROM_BYTES
from bucketsum.table.outcome import HashResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bucketsum.events.object_events import ObjectCreated, ObjectEvent, ObjectRestored
    from bucketsum.hashing.small_objects import Work
    from bucketsum.invocation.deadline import Deadline
    from bucketsum.queue.dead_letters import ReceivedMessage
    from bucketsum.settings import Settings

    Result = HashResult | Exception
    Begin = Callable[[Iterable[tuple[int, ObjectEvent]], Deadline], dict[int, HashResult | Work]]
    """`SmallObjectHasher.begin`"""

LARGE_BYTES: Final = 256 * 1024 * 1024
"""Messages of this size get an execution environment each: reading takes over 3 s at Lambda's
75 MiB/s, redelivery about 1 s."""


@dataclass(slots=True, eq=False)
class MessageResult:
    """One message, and the results of its events.

    Attributes:
        large: Events whose objects are read one after the other.
        quick: The other events, which are handled in parallel.
        results: A result or an error for each handled event, and the message's own error.
    """

    received: ReceivedMessage
    events: Sequence[ObjectEvent] = ()
    large: list[ObjectCreated | ObjectRestored] = field(default_factory=list)
    quick: list[ObjectEvent] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    @property
    def large_bytes(self) -> int:
        """Total size of its large objects."""
        return sum(event.size_bytes for event in self.large)

    @property
    def reports(self) -> list[HashResult]:
        """Results of the events without an error."""
        return [result for result in self.results if isinstance(result, HashResult)]

    @property
    def failure(self) -> Exception | None:
        """The message's only error, or a group of several; None if it can be deleted."""
        errors = [result for result in self.results if isinstance(result, Exception)]
        if len(errors) > 1:
            return ExceptionGroup(f"{len(errors)} objects of one message failed", errors)
        return errors[0] if errors else None


class BatchHasher:
    """Hashes the objects of batches of messages.

    Peak memory is that of ``settings.threads`` objects, ``2 × chunk_bytes`` each.
    """

    def __init__(
        self,
        handle_event: Callable[[ObjectEvent, Deadline], HashResult],
        settings: Settings,
        parsed_events: Callable[[str], Sequence[ObjectEvent]] = events_in,
        begin: Begin | None = None,
    ) -> None:
        """Handle events by *handle_event*; *begin* hashes small objects before, if possible."""
        self._handle_event = handle_event
        self._settings = settings
        self._parsed_events = parsed_events
        self._begin = begin

    def handle(
        self, messages: Iterable[ReceivedMessage], deadline: Deadline
    ) -> Iterator[MessageResult]:
        """Handle every event of every message; a failure does not stop the others.

        Yields each message once, when it is done: first the deferred ones, whose failure is
        `Deferred`, then those without large objects, then the others.
        """
        pending = [self._parsed(message) for message in messages]
        for message in pending:
            for event in message.events:
                if isinstance(event, ObjectDeleted) or self._is_quick(event, deadline):
                    message.quick.append(event)
                else:
                    message.large.append(event)
        deferred, kept = self._spread(pending)
        yield from deferred
        yield from self._in_parallel(kept, deadline)
        yield from self._in_turn([message for message in kept if message.large], deadline)

    def _parsed(self, message: ReceivedMessage) -> MessageResult:
        try:
            return MessageResult(message, self._parsed_events(message.body))
        except MalformedMessage as error:
            return MessageResult(message, results=[error])

    def _spread(
        self, messages: list[MessageResult]
    ) -> tuple[list[MessageResult], list[MessageResult]]:
        """Split off all large messages but one, on first receive only.

        Each deferral uses up one of the receives that SQS allows.
        """
        large = _by_receives(message for message in messages if message.large_bytes >= LARGE_BYTES)
        deferred = [message for message in large[1:] if message.received.receive_count == 1]
        for seconds, message in enumerate(deferred):
            message.results.append(Deferred(seconds))
        return deferred, [message for message in messages if message not in deferred]

    def _in_parallel(
        self, messages: list[MessageResult], deadline: Deadline
    ) -> Iterator[MessageResult]:
        begun = self._begun([event for message in messages for event in message.quick], deadline)
        left = [
            partial(_in_time, work, deadline) for work in begun if not isinstance(work, HashResult)
        ]
        count = min(self._settings.threads, len(left))
        # The threads are those of one batch, so that none outlives the invocation.
        with ThreadPoolExecutor(count) if count > 1 else nullcontext() as pool:
            done = pool.map(_result_of, left) if pool else map(_result_of, left)
            results = (work if isinstance(work, HashResult) else next(done) for work in begun)
            for message in messages:
                message.results += [next(results) for _ in message.quick]
                if not message.large:
                    yield message

    def _begun(self, quick: list[ObjectEvent], deadline: Deadline) -> list[HashResult | Work]:
        """Results of quick events, or the work that is left to do for them."""
        begun: dict[int, HashResult | Work] = {}
        if self._begin:
            begun = self._begin(enumerate(quick), deadline)
        return [
            begun.get(number) or partial(self._handle_event, event, deadline)
            for number, event in enumerate(quick)
        ]

    def _in_turn(
        self, messages: list[MessageResult], deadline: Deadline
    ) -> Iterator[MessageResult]:
        deferrals = 0
        for number, message in enumerate(_by_receives(messages)):
            fits = deadline.allows_slow_reading(message.large_bytes, self._settings.memory_mb)
            in_time = fits and deadline.leaves(deadline.last_begin_seconds)
            last = message.received.receive_count >= self._settings.max_receives
            if number and not last and not in_time:
                message.results.append(Deferred(deferrals))
                deferrals += 1
            else:
                message.results += [
                    _result_of(partial(self._handle_event, event, deadline))
                    for event in message.large
                ]
            yield message

    def _is_quick(self, event: ObjectCreated | ObjectRestored, deadline: Deadline) -> bool:
        """Whether its object is small, or so large that it is only handed over."""
        if is_long(event, self._settings, deadline):
            return True
        if (archives := self._settings.archives) and archives.takes(event.key):
            return False  # its members may take far longer than its own size suggests
        return event.size_bytes < SPLIT_FROM_BYTES


def _in_time(work: Work, deadline: Deadline) -> HashResult:
    deadline.require(deadline.last_begin_seconds, TOO_LATE)
    return work()


def _result_of(work: Work) -> Result:
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - the next object has its turn after any error
        _forget_frames(error)
        return error


def _by_receives(messages: Iterable[MessageResult]) -> list[MessageResult]:
    """*messages*, the most often received first."""
    return sorted(messages, key=lambda message: message.received.receive_count, reverse=True)


def _forget_frames(error: BaseException | None) -> None:
    """Release the chunk that frames of *error* hold while the other objects are hashed."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__
