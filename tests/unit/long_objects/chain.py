"""A chain of slices with everything around it in memory: queue, table, S3, time, sudden deaths."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tests.support.dynamodb_fake import FakeDynamoDb
from tests.support.settings import SETTINGS

from bucketsum.errors import ObjectGone, ObjectSuperseded, Released, Retryable
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.job import Job
from bucketsum.invocation.deadline import Deadline
from bucketsum.long_objects.hand_over import HandOver
from bucketsum.long_objects.message import LongObjectsQueue, progress_in_message
from bucketsum.long_objects.progress import Progress
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.long_objects.slice_reader import SliceReader
from bucketsum.long_objects.slice_result import SliceReport
from bucketsum.long_objects.slicer import Slicer
from bucketsum.s3.source import OpenObject
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.rows import Row, row_key_of

VISIBILITY_SECONDS: Final = 5400


@dataclass(frozen=True, slots=True)
class Luck:
    """The fate of workers and messages.

    Attributes:
        deaths: Numbers of calls of AWS in which their worker dies, and whether the call has its
            effect.
        repeats: Numbers of calls that botocore repeats, though the first one had its effect.
        picks: Places in the queue of the messages that come next.
        copies: Whether each message that is delivered comes again.
    """

    deaths: Mapping[int, bool] = field(default_factory=dict)
    repeats: frozenset[int] = frozenset()
    picks: Sequence[int] = ()
    copies: Sequence[bool] = ()


class Killed(BaseException):
    """The worker dies: nothing of it runs any more."""


@dataclass(slots=True)
class Deaths:
    """Kills a worker at its calls of AWS: before the call has its effect, or after it.

    Attributes:
        at: Numbers of the calls, over all workers, and whether the call has its effect.
        repeated: Numbers of the calls that are made twice.
        calls: Calls so far.
    """

    at: Mapping[int, bool] = field(default_factory=dict)
    repeated: frozenset[int] = frozenset()
    calls: int = 0

    def call(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """*function*, as a client's method that may be its worker's last."""

        def called(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any method
            number, self.calls = self.calls, self.calls + 1
            if self.at.get(number) is False:
                raise Killed
            if number in self.repeated:
                function(*args, **kwargs)
            result = function(*args, **kwargs)
            if self.at.get(number):
                raise Killed
            return result

        return called


class Mortal:
    """A client in whose methods its worker may die."""

    def __init__(self, client: object, deaths: Deaths) -> None:
        self._client = client
        self._deaths = deaths

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method
        value = getattr(self._client, name)
        return value if name == "exceptions" else self._deaths.call(value)


class Chain:
    """A bucket, its long objects, and the workers that hash them."""

    def __init__(
        self,
        slice_bytes: int | None = None,
        algorithms: tuple[str, ...] = (),
        luck: Luck | None = None,
        chunk_bytes: int = 1000,
    ) -> None:
        self.time = 1_000_000.0
        self.messages: deque[str] = deque()
        self.objects: dict[tuple[str, str], tuple[str, bytes]] = {}
        """Bucket and key → entity tag and content."""
        self.reads: list[tuple[int, int]] = []
        """Offset and size of each part that was read."""
        self.reports: list[SliceReport] = []
        self.dynamodb = FakeDynamoDb()
        self.deaths = Deaths(luck.deaths, luck.repeats) if luck else Deaths()
        self.on_read: Callable[[], object] = lambda: None
        """Called before each part is read."""
        self.seconds_left: Callable[[], float] = lambda: 900.0
        self._chunk_bytes = chunk_bytes
        client: Any = Mortal(self.dynamodb, self.deaths)
        sqs: Any = Mortal(self, self.deaths)
        queue = LongObjectsQueue(sqs, "long-objects")
        self.table = DigestsTable(client, "digests")
        self.progress_table = ProgressTable(client, "digests")
        self.hand_over = HandOver(self.progress_table, queue, lambda: self.time)
        self.slicer = Slicer(
            reader=SliceReader(self, algorithms, slice_bytes),
            progress_table=self.progress_table,
            digests_table=self.table,
            queue=queue,
            settings=replace(SETTINGS, extra_algorithms=algorithms),
            clock=lambda: self.time,
        )

    def send_message(self, *, MessageBody: str, **_: str) -> None:  # noqa: N803 - as botocore's
        """See SQS's SendMessage."""
        self.messages.append(MessageBody)

    def another(self) -> Chain:
        """See `Source.another`."""
        return self

    def open(self, created: ObjectCreated, offset: int = 0, doubt: object = None) -> OpenObject:  # noqa: ARG002
        """See `Source.open`."""
        etag, content = self.objects.get((created.bucket, created.key), ("", b""))
        if not etag:
            raise ObjectGone("NoSuchKey")
        if etag != created.etag:
            raise ObjectSuperseded("PreconditionFailed")
        return OpenObject(len(content) - offset, etag, self._chunks(content, offset))

    def _chunks(self, content: bytes, offset: int) -> Generator[bytes]:
        for start in range(offset, len(content), self._chunk_bytes):
            chunk = content[start : start + self._chunk_bytes]
            self.on_read()
            self.reads.append((start, len(chunk)))
            self.deaths.call(len)(chunk)
            yield chunk

    def put(self, content: bytes, sequencer: str = "01", key: str = "big") -> ObjectCreated:
        """Put an object over what is there; returns its event."""
        etag = hashlib.md5(content + sequencer.encode(), usedforsecurity=False).hexdigest()
        self.objects["inbox", key] = etag, content
        return ObjectCreated(
            bucket="inbox",
            key=key,
            version_id=None,
            etag=etag,
            size_bytes=len(content),
            sequencer=sequencer,
            event_time="2026-11-01T00:00:00.000Z",
        )

    def arrive(self, created: ObjectCreated) -> None:
        """Hand *created* over, as often as the hasher's message comes again."""
        while True:
            try:
                self.hand_over.begin(Job(created))
            except Killed:
                self.time += VISIBILITY_SECONDS
            except Released as error:
                self.time += error.seconds
            else:
                return

    def deliver(self, body: str) -> bool:
        """Let a worker handle a message; whether it is deleted from the queue."""
        try:
            deadline = Deadline(self.seconds_left)
            self.reports.append(self.slicer.handle_slice(progress_in_message(body), deadline))
        except Killed:
            self.time += VISIBILITY_SECONDS
            return False
        except Retryable as error:
            self.time += error.seconds if isinstance(error, Released) else 10
            return False
        return True

    def run(self, luck: Luck = Luck()) -> None:
        """Deliver messages until there are none: by *luck* in any order, and some of them twice."""
        picked, copied = iter(luck.picks), iter(luck.copies)
        for _ in range(1_000):
            if not self.messages:
                return
            self.messages.rotate(-next(picked, 0))
            body = self.messages.popleft()
            if not self.deliver(body) or next(copied, False):
                self.messages.append(body)
        raise AssertionError("the chain does not end")

    def row(self, created: ObjectCreated) -> Row | None:
        """The row of *created*, without a death."""
        client: Any = self.dynamodb
        return DigestsTable(client, "digests").row_at(row_key_of(created))

    def recorded(self, created: ObjectCreated) -> Row:
        """The row of *created*, which must be there."""
        row = self.row(created)
        assert row is not None
        return row

    def in_progress(self) -> list[Progress]:
        """All progress items, none of which is damaged."""
        client: Any = self.dynamodb
        every = list(ProgressTable(client, "digests").in_progress())
        whole = [item for item in every if isinstance(item, Progress)]
        assert len(whole) == len(every)
        return whole
