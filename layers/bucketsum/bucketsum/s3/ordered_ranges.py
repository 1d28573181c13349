"""Byte ranges of one object, requested in parallel and passed on in order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from bucketsum.errors import BucketsumError
from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.curl_connections import Connections, Transfer
from bucketsum.s3.get_object import ERROR_BYTES_MAX, error_in
from bucketsum.s3.read_plan import ReadPlan
from bucketsum.s3.response_head import ResponseHead
from bucketsum.s3.signed_requests import SignedGet
from bucketsum.s3.source import ResumeBudget

_PIECES_PER_CHUNK: Final = 16
"""Pieces that make a chunk: 256 KiB over TLS.

Every chunk costs some microseconds on its way to the digest; joining pieces costs less than that.
"""

_RECEIVE_SECONDS: Final = 0.002
"""Time between two looks at all connections while bytes of the first part wait to be passed on.

Each look costs as much as receiving some 10 kB; meanwhile the kernel keeps receiving.
"""

_RETRIES: Final = 3
_SERVER_ERROR: Final = 500


class FallBack(Exception):  # no error: the response is unusual, so botocore reads on
    """Another reader must read the rest of the object.

    Attributes:
        doubt: The error in the first response, if it says something of the object.
    """

    def __init__(self, text: str, doubt: BucketsumError | None = None) -> None:
        super().__init__(text)
        self.doubt = doubt


@dataclass(slots=True, eq=False)
class _Part:
    """A range of the object; it shrinks at its beginning as bytes are passed on.

    Attributes:
        offset: The first byte not yet passed on.
        end: The byte after the last.
        requested_from: The first byte that *transfer* was requested to bring.
        transfer: The request that brings the bytes.
        kept: Bytes from *offset* on, of transfers that broke.
        accepted: Whether the response head confirms that these bytes come.
        complete: Whether all bytes have come.
        refusal: S3's refusal to send them; empty if there is none.
    """

    offset: int
    end: int
    requested_from: int
    transfer: Transfer
    kept: list[bytes] = field(default_factory=list)
    accepted: bool = False
    complete: bool = False
    refusal: str = ""

    @property
    def missing_from(self) -> int:
        """The first byte that has not come."""
        return self.requested_from + (self.transfer.received_bytes if self.accepted else 0)

    @property
    def drained(self) -> bool:
        """Whether every byte that has come is passed on."""
        return not (self.kept or self.transfer.pieces)

    def take(self) -> bytes:
        """Remove and return a chunk of the bytes that have come; empty if there are none."""
        pieces = self.kept or (self.transfer.pieces if self.accepted else [])
        chunk = pieces[:_PIECES_PER_CHUNK]
        del pieces[:_PIECES_PER_CHUNK]
        data = chunk[0] if len(chunk) == 1 else b"".join(chunk)
        self.offset += len(data)
        return data

    def resume(self, transfer: Transfer) -> None:
        """Continue with *transfer*, requested from `missing_from` on."""
        self.requested_from = self.missing_from
        if self.accepted:
            self.kept.extend(self.transfer.pieces)
        self.transfer, self.accepted = transfer, False


class OrderedRanges:
    """One object that is being read, by one request or by several at a time.

    At most ``streams`` requests run, besides those that are almost complete. At most
    `ReadPlan.held_bytes` are held in memory, or `HELD_BYTES` while one request brings all of it.

    Invariant: the parts are contiguous. The first begins at `offset`, the next byte to pass on;
    each ends at the offset of the next; the last ends at ``_scheduled``, the byte after the last
    one requested. With no parts, `offset` is ``_scheduled``.

    Attributes:
        headers: Of the first response, if it brings the whole object.
    """

    def __init__(
        self,
        connections: Connections,
        created: ObjectCreated,
        sign: Callable[[ObjectCreated], SignedGet],
        plan: ReadPlan,
        budget: ResumeBudget,
    ) -> None:
        self._connections = connections
        self._created = created
        self._sign = sign
        self._plan = plan
        self._budget = budget
        self._count = plan.stream_count()
        self._parts: deque[_Part] = deque()
        self._size, self._scheduled = created.size_bytes, 0
        self._receive_at = 0.0
        self._retries = 0
        self.headers: Mapping[str, str] = {}

    @property
    def streams(self) -> int:
        """The greatest number of connections that read it."""
        first = self._parts[0]
        left = self._size - first.offset
        if not self._plan.splits(left) or first.end == self._size:
            return 1
        return min(self._plan.streams, -(-left // self._plan.part_bytes))

    @property
    def offset(self) -> int:
        """The first byte not yet passed on."""
        return self._parts[0].offset if self._parts else self._scheduled

    def begin(self, offset: int = 0) -> ObjectCreated:
        """Request the object from *offset* on; returns it with its entity tag.

        Raises:
            FallBack: The response is unusual.
        """
        self._scheduled, size_bytes = offset, self._size
        split = self._plan.splits(size_bytes - offset)
        if split:
            first = self._schedule(offset + self._plan.part_bytes)
        elif offset:
            first = self._schedule(size_bytes)
        else:
            first = self._append(size_bytes, self._send())
        if split and self._created.etag:  # without it, further requests have no condition yet
            self._fill()
        while not first.transfer.head_complete:
            self._connections.wait_for(first.transfer)
            self._connections.advance()
        self._count.first_byte_seconds = first.transfer.first_byte_seconds
        head = ResponseHead.of(first.transfer.lines)
        is_range = split or offset
        if not offset and not head.mismatch(self._created):  # also if S3 ignored the range
            self._continue_as_whole()
            self.headers = head.headers
        elif not is_range or head.mismatch(self._created, offset, first.end):
            span = (offset, first.end) if is_range else ()
            raise FallBack(f"HTTP status {head.status}", self._doubt(first.transfer, head, span))
        first.accepted = True
        self._created = replace(self._created, etag=head.etag.strip('"'))
        return self._created

    def _doubt(
        self, transfer: Transfer, head: ResponseHead, span: tuple[int, ...]
    ) -> BucketsumError | None:
        while not transfer.ended and head.is_refusal and transfer.received_bytes < ERROR_BYTES_MAX:
            self._connections.wait_for(transfer)
            self._connections.advance()
        if transfer.failure:
            return None
        return error_in(head, b"".join(transfer.pieces), self._created, *span)

    def chunks(self) -> Generator[bytes]:
        """Yield the bytes in order, in chunks of any size.

        Raises:
            FallBack: Another reader must continue from `offset` on.
            SourceInterrupted: The connections broke too often.
        """
        self._fill()
        while self._parts:
            first = self._parts[0]
            # One stream: pass on all bytes before receiving more. Several: do not let them wait.
            if first.drained or (len(self._parts) > 1 and time.monotonic() >= self._receive_at):
                self._receive()
            if data := first.take():
                yield data
            elif first.refusal:
                raise FallBack(first.refusal)
            elif first.complete:
                self._parts.popleft()
                self._fill()
            else:
                self._connections.wait_for(first.transfer)
                if first.accepted:
                    self._connections.gather()

    def _receive(self) -> None:
        self._connections.advance()
        self._update_parts()
        if self._scheduled < self._size and self._count.is_due:
            running = self._running() if self._count.streams > 1 else self._parts
            waiting = sum(not part.accepted for part in running)
            received = self.offset + sum(part.missing_from - part.offset for part in self._parts)
            self._count.look(received, running=len(running), waiting=waiting)
        self._fill()
        self._receive_at = time.monotonic() + _RECEIVE_SECONDS

    def _update_parts(self) -> None:
        for part in self._parts:
            transfer = part.transfer
            if part.complete or part.refusal or not transfer.head_complete:
                continue
            if not part.accepted:
                self._check_head(part)
            elif transfer.ended:
                self._complete_or_resume(part)

    def _check_head(self, part: _Part) -> None:
        """Accept the response if it brings the requested range, else retry or give up."""
        head = ResponseHead.of(part.transfer.lines)
        if not head.mismatch(self._created, part.requested_from, part.end):
            part.accepted, self._retries = True, 0
            return
        self._connections.drop(part.transfer)
        part.transfer.pieces.clear()
        if not self._may_retry(head.status):
            part.refusal = f"HTTP status {head.status} {part.transfer.failure}"
            return
        self._resume(part)

    def _may_retry(self, status: int) -> bool:
        if (status and status < _SERVER_ERROR) or self._retries == _RETRIES:
            return False
        self._budget.pause(self._retries)
        self._retries += 1
        return True

    def _complete_or_resume(self, part: _Part) -> None:
        if part.missing_from == part.end:
            part.complete = True
            return
        self._budget.spend(part.missing_from, self._size, part.transfer.failure)
        self._resume(part)

    def _resume(self, part: _Part) -> None:
        self._count.forget_window()
        part.resume(self._start(part.missing_from, part.end))

    def _fill(self) -> None:
        """Request the next parts until the limit on requests or on memory is reached."""
        count = self._count
        while self._scheduled < self._size and len(self._running()) < count.streams:
            if count.takes_rest:
                if not self._parts:  # the rest may be large: nothing is held beside it
                    self._schedule(self._size)
                return
            if self._scheduled + count.part_bytes - self.offset > self._plan.held_bytes:
                return
            self._schedule(min(self._scheduled + count.part_bytes, self._size))

    def _running(self) -> list[_Part]:
        """The parts that are being received, except those that are almost complete."""
        lead = self._count.lead_bytes
        return [
            part
            for part in self._parts
            if not part.transfer.ended and (not lead or part.end - part.missing_from > lead)
        ]

    def _schedule(self, end: int) -> _Part:
        return self._append(end, self._start(self._scheduled, end))

    def _append(self, end: int, transfer: Transfer) -> _Part:
        start = self._scheduled
        part = _Part(offset=start, end=end, requested_from=start, transfer=transfer)
        self._parts.append(part)
        self._scheduled = end
        return part

    def _continue_as_whole(self) -> None:
        first, *others = self._parts
        for part in others:
            self._connections.drop(part.transfer)
        self._parts = deque([first])
        self._scheduled = first.end = self._size

    def _start(self, first: int, end: int) -> Transfer:
        last = "" if end == self._size else end - 1
        # The first response may be all of the object; of the others, nobody would look at the head
        # before much of that had come.
        bytes_max = end - first if self._parts else 0
        return self._send(f"Range: bytes={first}-{last}", bytes_max=bytes_max)

    def _send(self, *headers: str, bytes_max: int = 0) -> Transfer:
        get = self._sign(self._created)
        return self._connections.start(get.url, [*get.headers, *headers], bytes_max=bytes_max)
