"""The parts of one object, side by side on their connections, and out again in order."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from bucketsum.s3.response_head import ResponseHead

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from bucketsum.s3.curl_connections import Connections, Transfer
    from bucketsum.s3.read_plan import ReadPlan
    from bucketsum.s3.source import ResumeBudget

_TAKEN_AT_ONCE: Final = 16
"""Pieces that make a chunk: 256 KiB over TLS.

Every chunk costs some microseconds on its way to the digest; joining pieces costs less than that.
"""

_TRIES: Final = 3
_SERVER_ERROR: Final = 500
_REFUSES_CREDENTIALS: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN})


class FallBack(Exception):  # no error: what S3 does is not the usual, so botocore goes on
    """The rest of the object is for another reader."""


@dataclass(slots=True, eq=False)
class _Part:
    """Some bytes of the object, from those not given out yet to the last.

    Attributes:
        offset: The first byte that was not given out.
        end: The byte after the last.
        asked: Where *transfer* was asked to begin.
        transfer: What brings them.
        kept: Bytes from *offset* on, of transfers that broke.
        accepted: Whether the answer is known to be these bytes.
        complete: Whether all of them came.
        refused: Why S3 would not send them; empty where it would.
    """

    offset: int
    end: int
    asked: int
    transfer: Transfer
    kept: list[bytes] = field(default_factory=list)
    accepted: bool = False
    complete: bool = False
    refused: str = ""

    @property
    def awaited(self) -> int:
        """The first byte that has not come."""
        held = [*self.kept, *(self.transfer.pieces if self.accepted else ())]
        return self.offset + sum(map(len, held))

    @property
    def drained(self) -> bool:
        """Whether all that has come is given out."""
        return not (self.kept or self.transfer.pieces)

    def take(self) -> bytes:
        """A chunk of what has come; empty where there is nothing."""
        pieces = self.kept or (self.transfer.pieces if self.accepted else [])
        taken = pieces[:_TAKEN_AT_ONCE]
        del pieces[:_TAKEN_AT_ONCE]
        data = taken[0] if len(taken) == 1 else b"".join(taken)
        self.offset += len(data)
        return data

    def begin_again(self, transfer: Transfer) -> None:
        """Go on with *transfer*, which was asked for what is awaited."""
        self.asked = self.awaited
        if self.accepted:
            self.kept.extend(self.transfer.pieces)
        self.transfer, self.accepted = transfer, False


class OrderedRanges:
    """One object that is being read, by one request or by several at a time.

    At most ``streams`` requests run, and at most ``streams + 1`` parts are held. So what is held
    is at most ``(streams + 1) × part_bytes``, or `HELD_BYTES` while one request brings it all.
    """

    def __init__(
        self,
        connections: Connections,
        sign: Callable[[], str],
        plan: ReadPlan,
        resumes: ResumeBudget,
    ) -> None:
        self._connections = connections
        self._sign = sign
        self._url = sign()
        self._plan = plan
        self._resumes = resumes
        self._parts: deque[_Part] = deque()
        self._size = self._laid = 0
        self._etag: str | None = None
        self._tries = 0
        self._signed_again = False

    @property
    def size_bytes(self) -> int:
        """The object's size."""
        return self._size

    @property
    def streams(self) -> int:
        """How many connections read it at the most."""
        if not self._plan.splits(self._size) or self._parts[0].end == self._size:
            return 1
        return min(self._plan.streams, -(-self._size // self._plan.part_bytes))

    @property
    def offset(self) -> int:
        """The first byte that was not given out."""
        return self._parts[0].offset if self._parts else self._laid

    def begin(self, size_bytes: int, etag: str | None) -> ResponseHead:
        """Ask for an object that should have *size_bytes* and, if that is known, *etag* in quotes.

        Raises:
            FallBack: The answer is not the usual one.
        """
        self._size, self._etag = size_bytes, etag
        split = self._plan.splits(size_bytes)
        first = self._lay(self._plan.part_bytes) if split else self._lay_whole()
        if split and etag:  # without it the others have nothing yet to ask with
            self._fill()
        while not first.transfer.answered:
            self._connections.wait_for(first.transfer)
            self._connections.advance()
        answer = ResponseHead.of(first.transfer.lines)
        if answer.is_whole(etag):  # also where the range was ignored
            self._read_on_as_one(answer.length)
        elif not (split and answer.is_range(0, first.end, size_bytes, etag)):
            raise FallBack(f"HTTP status {answer.status} {first.transfer.broken}")
        first.accepted, self._etag = True, answer.etag
        return answer

    def chunks(self) -> Generator[bytes]:
        """The bytes in order, in chunks of no particular size.

        Raises:
            FallBack: From `offset` on another reader is to go on.
            SourceInterrupted: The connections broke too often.
        """
        while self._parts or self._laid < self._size:
            self._fill()
            head = self._parts[0]
            if head.drained or len(self._parts) > 1:  # what has come is given out before more is
                self._connections.advance()  # taken, but never at the cost of the other parts
                self._look_after()
            if data := head.take():
                yield data
            elif head.refused:
                raise FallBack(head.refused)
            elif head.complete:
                self._parts.popleft()
            else:
                self._connections.wait_for(head.transfer)

    def _look_after(self) -> None:
        for part in self._parts:
            transfer = part.transfer
            if part.complete or part.refused or not transfer.answered:
                continue
            if not part.accepted:
                self._judge(part)
            elif transfer.ended:
                self._conclude(part)

    def _judge(self, part: _Part) -> None:
        """Compare what is coming with what was asked for."""
        answer = ResponseHead.of(part.transfer.lines)
        if answer.is_range(part.asked, part.end, self._size, self._etag):
            part.accepted, self._tries = True, 0
            return
        self._connections.drop(part.transfer)
        part.transfer.pieces.clear()
        if not self._may_ask_again(answer.status):
            part.refused = f"HTTP status {answer.status} {part.transfer.broken}"
            return
        part.begin_again(self._start(part.awaited, part.end))

    def _may_ask_again(self, status: int) -> bool:
        if status in _REFUSES_CREDENTIALS and not self._signed_again:
            self._signed_again, self._url = True, self._sign()
            return True
        if (status and status < _SERVER_ERROR) or self._tries == _TRIES:
            return False
        self._resumes.pause(self._tries)
        self._tries += 1
        return True

    def _conclude(self, part: _Part) -> None:
        """All of it has come, or the connection broke."""
        if part.awaited == part.end:
            part.complete = True
            return
        self._resumes.take(part.awaited, self._size, part.transfer.broken)
        part.begin_again(self._start(part.awaited, part.end))

    def _fill(self) -> None:
        """Ask for the next parts, as long as there are fewer than there may be."""
        while self._laid < min(self._size, self._plan.split_bytes):
            running = sum(not part.transfer.ended for part in self._parts)
            if running >= self._plan.streams or len(self._parts) > self._plan.streams:
                return
            self._lay(min(self._laid + self._plan.part_bytes, self._size))
        if not self._parts and self._laid < self._size:
            self._lay(self._size)

    def _lay(self, end: int) -> _Part:
        return self._append(end, self._start(self._laid, end))

    def _lay_whole(self) -> _Part:
        return self._append(self._size, self._connections.start(self._url, self._condition()))

    def _append(self, end: int, transfer: Transfer) -> _Part:
        part = _Part(offset=self._laid, end=end, asked=self._laid, transfer=transfer)
        self._parts.append(part)
        self._laid = end
        return part

    def _read_on_as_one(self, size_bytes: int) -> None:
        first, *others = self._parts
        for part in others:
            self._connections.drop(part.transfer)
        self._parts = deque([first])
        self._size = self._laid = first.end = size_bytes

    def _start(self, first: int, end: int) -> Transfer:
        last = "" if end == self._size else end - 1
        return self._connections.start(
            self._url, [*self._condition(), f"Range: bytes={first}-{last}"]
        )

    def _condition(self) -> list[str]:
        return [f"If-Match: {self._etag}"] if self._etag else []
