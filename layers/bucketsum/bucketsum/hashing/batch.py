"""Hash a batch of messages: small objects in parallel, large ones one after the other."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeGuard, TypeVar

from bucketsum.errors import DamagedRow, MalformedMessage, Released
from bucketsum.events.notifications import events_in
from bucketsum.events.object_events import ObjectCreated, ObjectDeleted, ObjectRestored
from bucketsum.hashing.job import Job, State, Task
from bucketsum.hashing.result import HashResult
from bucketsum.hashing.size_limits import is_long
from bucketsum.invocation.deadline import TOO_LATE, Deadline
from bucketsum.queue.dead_letters import ReceivedMessage
from bucketsum.s3.read_plan import SPLIT_FROM_BYTES
from bucketsum.settings import Settings

Result = HashResult | Exception

LARGE_BYTES: Final = 256 * 1024 * 1024
"""Messages of this size get an execution environment each: reading takes over 3 s at Lambda's
75 MiB/s, redelivery about 1 s."""


class TaskHasher(Protocol):
    """Handles the tasks of a batch."""

    def begin(
        self, tasks: Sequence[Task | HashResult], deadline: Deadline
    ) -> Sequence[State | HashResult]:
        """See `SmallObjectHasher.begin` for the contract."""

    def hash(self, task: State, deadline: Deadline) -> HashResult:
        """Handle the rest of one task; see `ObjectHasher.hash` for the contract."""


@dataclass(slots=True, eq=False)
class MessageResult:
    """One message, and the results of its tasks.

    Attributes:
        tasks: What it asks for; a result in place of a task needs nothing more.
        large: Tasks whose objects are read one after the other.
        quick: The other tasks, which are handled in parallel.
        results: A result or an error for each handled task, and the message's own error.
    """

    received: ReceivedMessage
    tasks: Sequence[Task | HashResult] = ()
    large: list[Job | ObjectRestored] = field(default_factory=list)
    quick: list[Task | HashResult] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    @property
    def large_bytes(self) -> int:
        """Total size of its large objects."""
        return sum(_object_of(task).size_bytes for task in self.large)

    @property
    def reports(self) -> list[HashResult]:
        """Results of the tasks without an error."""
        return [result for result in self.results if isinstance(result, HashResult)]

    @property
    def handled(self) -> list[Task | HashResult]:
        """Its tasks, in the order of their results."""
        return [*self.quick, *self.large]

    @property
    def failed(self) -> list[Task | HashResult]:
        """Tasks whose results are errors; all tasks if some have no result."""
        handled = self.handled
        if len(self.results) != len(handled):
            return handled
        results = zip(handled, self.results, strict=True)
        return [task for task, result in results if isinstance(result, Exception)]

    @property
    def failure(self) -> Exception | None:
        """The message's only error, or a group of several; None if it can be deleted."""
        errors = [result for result in self.results if isinstance(result, Exception)]
        if len(errors) > 1:
            return ExceptionGroup(f"{len(errors)} objects of one message failed", errors)
        return errors[0] if errors else None


M = TypeVar("M", bound=MessageResult)


class BatchHasher:
    """Hashes the objects of batches of messages.

    Peak memory is that of ``settings.threads`` objects, ``2 × chunk_bytes`` each.
    """

    def __init__(self, hasher: TaskHasher, settings: Settings) -> None:
        self._hasher = hasher
        self._settings = settings

    def handle(
        self, messages: Iterable[ReceivedMessage], deadline: Deadline
    ) -> Iterator[MessageResult]:
        """Handle the events of messages; see `handle_tasks` for the contract."""
        return self.handle_tasks([self._parsed(message) for message in messages], deadline)

    def handle_tasks(self, pending: Sequence[M], deadline: Deadline) -> Iterator[M]:
        """Handle every task of every message; a failure does not stop the others.

        Yields each message once, when it is done: first the released ones, whose failure is
        `Released`, then those without large objects, then the others.
        """
        for message in pending:
            for task in message.tasks:
                if self._is_slow(task, deadline):
                    message.large.append(task)
                else:
                    message.quick.append(task)
        if not pending:  # they are of the other queue
            return
        released, kept = self._spread(pending)
        yield from released
        yield from self._in_parallel(kept, deadline)
        yield from self._in_turn([message for message in kept if message.large], deadline)

    def _parsed(self, message: ReceivedMessage) -> MessageResult:
        try:
            events = events_in(message.body)
            tasks = [Job(event) if isinstance(event, ObjectCreated) else event for event in events]
            return MessageResult(message, tasks)
        except MalformedMessage as error:
            return MessageResult(message, results=[error])

    def _spread(self, messages: Sequence[M]) -> tuple[list[M], list[M]]:
        """Split off all large messages but one, on first receive only.

        Each release uses up one of the receives that SQS allows.
        """
        large = _by_receives(message for message in messages if message.large_bytes >= LARGE_BYTES)
        released = [message for message in large[1:] if message.received.receive_count == 1]
        for seconds, message in enumerate(released):
            message.results.append(Released(seconds))
        return released, [message for message in messages if message not in released]

    def _in_parallel(self, messages: list[M], deadline: Deadline) -> Iterator[M]:
        quick = [task for message in messages for task in message.quick]
        states = self._hasher.begin(quick, deadline)
        left = [state for state in states if not isinstance(state, HashResult)]

        def result_in_time(state: State) -> Result:
            return self._result_of(state, deadline, deadline.last_begin_seconds)

        count = min(self._settings.threads, len(left))
        # The threads are those of one batch, so that none outlives the invocation.
        with ThreadPoolExecutor(count) if count > 1 else nullcontext() as pool:
            done = pool.map(result_in_time, left) if pool else map(result_in_time, left)
            results = (state if isinstance(state, HashResult) else next(done) for state in states)
            for message in messages:
                message.results += [next(results) for _ in message.quick]
                if not message.large:
                    yield message

    def _in_turn(self, messages: list[M], deadline: Deadline) -> Iterator[M]:
        released = 0
        for number, message in enumerate(_by_receives(messages)):
            fits = deadline.allows_slow_reading(message.large_bytes, self._settings.memory_mb)
            in_time = fits and deadline.leaves(deadline.last_begin_seconds)
            last = message.received.receive_count >= self._settings.max_receives
            if number and not last and not in_time:
                message.results.append(Released(released))
                released += 1
            else:
                message.results += [self._result_of(task, deadline) for task in message.large]
            yield message

    def _result_of(self, state: State, deadline: Deadline, least_seconds: float = 0) -> Result:
        """Handle the rest of a task; not with less than *least_seconds* left."""
        try:
            deadline.require(least_seconds, TOO_LATE)
            return self._hasher.hash(state, deadline)
        except Exception as error:  # noqa: BLE001 - the next object has its turn after any error
            _forget_frames(error)
            return error

    def _is_slow(
        self, task: Task | HashResult, deadline: Deadline
    ) -> TypeGuard[Job | ObjectRestored]:
        """Whether its object is read, and neither small nor only handed over."""
        if isinstance(task, ObjectDeleted | DamagedRow | HashResult):
            return False
        event = _object_of(task)
        is_archived = isinstance(event, ObjectCreated) and event.storage_class is not None
        if is_archived or is_long(event, self._settings, deadline):
            return False
        if (archives := self._settings.archives) and archives.takes(event.key):
            return True  # its members may take far longer than its own size suggests
        return event.size_bytes >= SPLIT_FROM_BYTES


def _object_of(task: Job | ObjectRestored) -> ObjectCreated | ObjectRestored:
    return task.created if isinstance(task, Job) else task


def _by_receives(messages: Iterable[M]) -> list[M]:
    """*messages*, the most often received first."""
    return sorted(messages, key=lambda message: message.received.receive_count, reverse=True)


def _forget_frames(error: BaseException | None) -> None:
    """Release the chunk that frames of *error* hold while the other objects are hashed."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__
