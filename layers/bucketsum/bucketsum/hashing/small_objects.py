"""Hash the small objects of a batch at the same time, in one thread, over libcurl.

Only the usual responses are handled here: S3 sends the whole object, DynamoDB writes the row.
After any other response or error, `ObjectHasher` hashes the object, or writes the row, through
botocore, which knows redirects and retries. It gets S3's refusal, which is not asked for twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from botocore.exceptions import BotoCoreError

from bucketsum.checksums.comparison import Witness
from bucketsum.digest import RunningDigest
from bucketsum.hashing.job import Job, State, Task
from bucketsum.hashing.object_rows import hashed_row
from bucketsum.hashing.result import HashResult, ReadObject
from bucketsum.hashing.size_limits import LOOK_UP_FROM_BYTES, is_long
from bucketsum.hashing.small_object_connections import Network, is_written
from bucketsum.invocation.deadline import Deadline
from bucketsum.measure import Measurement
from bucketsum.s3.curl_connections import Transfer
from bucketsum.s3.get_object import ERROR_BYTES_MAX, error_in
from bucketsum.s3.response_head import ResponseHead
from bucketsum.s3.stored_checksums import StoredChecksums
from bucketsum.settings import Settings

READS_MAX: Final = 10
"""Most objects that are read at the same time; each has a connection."""

UNRECORDED_MAX: Final = 10
"""Most objects that were read and wait for a write: if DynamoDB is silent, no more are read."""

WRITES_MAX: Final = 4
"""Most rows that are written at the same time; a row takes some 5 ms."""


@dataclass(slots=True, eq=False)
class _Reading:
    place: int
    job: Job
    digest: RunningDigest
    started: float
    transfer: Transfer | None = None
    head: ResponseHead | None = None
    refusal: bytes = b""
    checksums: StoredChecksums | None = None
    witness: Witness | None = None
    needs_parts: bool = False

    def receive(self, data: bytes) -> None:
        """Hash *data*, or keep it if it says why there is no object."""
        if self.head is None:
            self.begin(ResponseHead.of(self.transfer.lines if self.transfer else ()))
        if self.head and not self.head.is_refusal:
            self.digest.update(data)
            if self.witness:
                self.witness.update(data)
        elif len(self.refusal) < ERROR_BYTES_MAX:
            self.refusal += data

    def begin(self, head: ResponseHead) -> None:
        """Look at the *head*; a composite checksum needs another request, so it is left."""
        self.head = head
        if self.checksums and not head.is_refusal:
            self.witness = self.checksums.at_once(self.job.created, head.headers)
            self.needs_parts = self.witness is None


class SmallObjectHasher:
    """Hashes small objects; holds none of their bytes."""

    def __init__(
        self,
        network: Network,
        settings: Settings,
        clock: Callable[[], float] = time.perf_counter,
        checksums: StoredChecksums | None = None,
    ) -> None:
        self._network = network
        self._settings = settings
        self._clock = clock
        self._checksums = checksums

    def begin(
        self, tasks: Sequence[Task | HashResult], deadline: Deadline
    ) -> Sequence[State | HashResult]:
        """Hash the small objects among *tasks*, at most until the deadline.

        Returns:
            In the place of a task its result, if DynamoDB has confirmed the row; else the object,
            if it was read: `ObjectHasher` ends it. All others are as they were.
        """
        jobs = [
            (place, task)
            for place, task in enumerate(tasks)
            if isinstance(task, Job) and self._takes(task, deadline)
        ]
        if not jobs:
            return tasks
        batch = _Batch(
            self._network, self._settings, deadline, self._clock, [*tasks], self._checksums
        )
        return batch.run(jobs)

    def _takes(self, job: Job, deadline: Deadline) -> bool:
        """Whether one request reads the object, with no look-up before."""
        created = job.created
        plan = self._settings.read_policy.plan_for(created.size_bytes)
        return (
            created.storage_class is None
            and created.size_bytes < LOOK_UP_FROM_BYTES
            and not plan.splits(created.size_bytes)
            and not is_long(created, self._settings, deadline)
        )


@dataclass(slots=True, eq=False)
class _Batch:
    """The tasks of one batch, and what became of them."""

    _network: Network
    _settings: Settings
    _deadline: Deadline
    _clock: Callable[[], float]
    _states: list[State | HashResult]
    _checksums: StoredChecksums | None
    _reading: dict[Transfer, _Reading] = field(default_factory=dict)
    _read: deque[tuple[int, ReadObject]] = field(default_factory=deque)
    _writing: dict[Transfer, tuple[int, HashResult]] = field(default_factory=dict)

    def run(self, jobs: Iterable[tuple[int, Job]]) -> Sequence[State | HashResult]:
        """Hash the objects of *jobs* and their places; return the states of all tasks."""
        connections = self._network.connections
        waiting = deque(jobs)
        try:
            while waiting or self._reading or self._read or self._writing:
                if not self._deadline.leaves(self._deadline.last_begin_seconds):
                    break
                while (
                    waiting and len(self._reading) < READS_MAX and len(self._read) < UNRECORDED_MAX
                ):
                    self._start_reading(*waiting.popleft())
                while self._read and len(self._writing) < WRITES_MAX:
                    self._start_writing(*self._read.popleft())
                if not (self._reading or self._writing):
                    continue  # the last row needs no write
                ended = connections.advance()
                if not ended:
                    connections.wait()
                    ended = connections.advance()
                for transfer in ended:
                    self._end(transfer)
                self._leave_those_with_parts()
        finally:
            connections.drop_all()
        return self._states

    def _start_reading(self, place: int, job: Job) -> None:
        digest = RunningDigest(job.ending.algorithms(self._settings.extra_algorithms))
        started = self._clock()
        try:
            get = self._network.requests.get_of(job.created)
        except BotoCoreError:  # it comes again, and is reported, when botocore reads
            return
        reading = _Reading(place, job, digest, started, checksums=self._checksums)
        transfer = self._network.connections.start(get.url, get.headers, reading.receive)
        reading.transfer = transfer
        self._reading[transfer] = reading

    def _leave_those_with_parts(self) -> None:
        """Stop reading objects whose parts must be listed first; their jobs stay as they were."""
        for transfer in [t for t, reading in self._reading.items() if reading.needs_parts]:
            del self._reading[transfer]
            self._network.connections.drop(transfer)

    def _end(self, transfer: Transfer) -> None:
        if reading := self._reading.pop(transfer, None):
            self._end_reading(transfer, reading)
            return
        place, result = self._writing.pop(transfer)
        if not transfer.failure and is_written(ResponseHead.of(transfer.lines), transfer.pieces):
            self._states[place] = result

    def _end_reading(self, transfer: Transfer, reading: _Reading) -> None:
        created = reading.job.created
        head = ResponseHead.of(transfer.lines)
        digest = reading.digest.digest()
        if reading.head is None:  # nothing came: an empty object
            reading.begin(head)
        if transfer.failure or reading.needs_parts:
            return
        if head.length != digest.size_bytes or head.mismatch(created):
            doubt = error_in(head, reading.refusal, created)
            self._states[reading.place] = replace(reading.job, doubt=doubt)
            return
        measurement = Measurement(digest.size_bytes, self._clock() - reading.started)
        compared = reading.witness.compared(digest.by_name) if reading.witness else None
        read = ReadObject(reading.job, head.etag.strip('"'), digest, measurement, compared=compared)
        self._states[reading.place] = read  # until it is written
        self._read.append((reading.place, read))

    def _start_writing(self, place: int, read: ReadObject) -> None:
        ending, table = read.job.ending, self._network.table
        parameters = ending.write(table, hashed_row(read, self._settings))
        if parameters is None:
            return  # `ObjectHasher` ends it
        try:
            transfer = self._network.start_writing(parameters)
        except BotoCoreError:  # as above
            return
        self._writing[transfer] = place, read.result_of(ending.usual)
