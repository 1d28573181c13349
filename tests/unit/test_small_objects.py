"""Small objects over libcurl, with connections whose time is a number."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Final, Never

import pytest
from botocore.exceptions import ReadTimeoutError
from tests.support.events import message_of
from tests.support.settings import SETTINGS

from bucketsum.errors import OutOfTime
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.batch import BatchHasher
from bucketsum.hashing.notified import NotifiedHasher
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.hashing.small_object_connections import Network, is_written
from bucketsum.hashing.small_objects import READS_MAX, UNRECORDED_MAX, SmallObjectHasher
from bucketsum.invocation.deadline import Deadline
from bucketsum.queue.dead_letters import ReceivedMessage
from bucketsum.s3.curl_connections import Transfer
from bucketsum.s3.response_head import ResponseHead
from bucketsum.s3.signed_requests import SignedGet
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.rows import Row

CONTENT: Final = b"small"
OBJECTS: Final = 1000
BOTOCORE_SECONDS: Final = 19.0
"""Four attempts of 3 s, and the longest pauses."""

REPORT_SECONDS: Final = 0.01
"""A request to SQS for a failed message."""


@dataclass(slots=True)
class SilentDynamoDB(DigestsTable):
    """S3 answers at once, DynamoDB never: it is both libcurl's connections and the table.

    Attributes:
        now: Seconds since the invocation began.
        read: Objects that were read.
        written: Writes that were begun.
        unrecorded: Greatest number of objects that were read and not yet being written.
    """

    now: float = 0
    read: int = 0
    written: int = 0
    unrecorded: int = 0
    _ended: list[Transfer] = field(default_factory=list)
    _silent: list[tuple[float, Transfer]] = field(default_factory=list)
    name: str = "digests"
    has_sha1_index: bool = True

    def start(
        self, _url: str, _headers: Iterable[str], receive: Callable[[bytes], object]
    ) -> Transfer:
        """See `Connections.start`."""
        receive(CONTENT)
        head = b'HTTP/1.1 200 OK|ETag: "a-tag"|Content-Length: %d' % len(CONTENT)
        self._ended.append(Transfer(_HANDLE, lines=head.split(b"|")))
        self.read += 1
        self.unrecorded = max(self.unrecorded, self.read - self.written)
        return self._ended[-1]

    def post(
        self, _url: str, _headers: Iterable[str], _body: bytes, timeout_seconds: float
    ) -> Transfer:
        """See `Connections.post`."""
        self._silent.append((self.now + timeout_seconds, Transfer(_HANDLE)))
        self.written += 1
        return self._silent[-1][1]

    def advance(self) -> list[Transfer]:
        """See `Connections.advance`."""
        over = [transfer for ends_at, transfer in self._silent if ends_at <= self.now]
        self._silent = [silence for silence in self._silent if silence[1] not in over]
        for transfer in over:
            transfer.failure = "timed out"
        ended, self._ended = self._ended + over, []
        return ended

    def wait(self) -> None:
        """See `Connections.wait`."""
        self.now += 1

    def drop_all(self) -> None:
        """See `Connections.drop_all`."""

    def record(self, row: Row) -> Never:  # noqa: ARG002 - as the table's
        """See `DigestsTable.record`."""
        self.now += BOTOCORE_SECONDS
        raise ReadTimeoutError(endpoint_url="https://dynamodb")


_HANDLE: Final[Any] = None


def messages() -> list[ReceivedMessage]:
    """The largest batch, one small object in each message."""
    moment = "2026-11-01T00:00:00.000Z"
    objects = (
        ObjectCreated("inbox", f"{number}", None, "a-tag", len(CONTENT), "00AB", moment)
        for number in range(OBJECTS)
    )
    return [
        ReceivedMessage(message_of(created), "handle", 1, created.key, "arrivals")
        for created in objects
    ]


@pytest.mark.parametrize(
    ("seconds", "failures"), [(900, {OutOfTime, ReadTimeoutError}), (300, {OutOfTime})]
)
def test_a_silent_dynamodb_does_not_outlast_the_invocation(
    seconds: int, failures: set[type[Exception]]
) -> None:
    """Objects that could not be recorded return to the queue before Lambda's time-out.

    The time is over while libcurl writes, or later, while botocore does.
    """
    model = SilentDynamoDB()
    services: Any = model
    source: Any = None
    signer: Any = SimpleNamespace(headers_of=lambda *_: [], url="https://dynamodb")
    requests: Any = SimpleNamespace(get_of=lambda created: SignedGet(created.key, []))
    settings = replace(SETTINGS, threads=1)
    hasher = ObjectHasher(source, model, settings)
    small = SmallObjectHasher(Network(services, requests, signer, model), settings)
    notified = NotifiedHasher(hasher, model, small)
    batch = BatchHasher(notified, settings)
    results = []
    for result in batch.handle(messages(), Deadline(lambda: seconds - model.now)):
        model.now += REPORT_SECONDS
        results.append(result)
    assert model.now < seconds
    assert len(results) == OBJECTS
    assert {type(result.failure) for result in results} == failures
    assert model.unrecorded <= READS_MAX + UNRECORDED_MAX


@pytest.mark.parametrize(
    ("status", "crc32", "counts"),
    [(200, b"", True), (200, b"x-amz-crc32: 2745614147", True), (200, b"x-amz-crc32: 1", False),
     (400, b"", False), (503, b"", False)],
)  # fmt: skip
def test_a_write_counts_only_if_dynamodb_confirms_it(
    status: int, crc32: bytes, *, counts: bool
) -> None:
    """A refused or damaged answer does not count: botocore's client repeats it."""
    head = ResponseHead.of([b"HTTP/1.1 %d X\r\n" % status, crc32 + b"\r\n"])
    assert is_written(head, [b"{", b"}"]) is counts
