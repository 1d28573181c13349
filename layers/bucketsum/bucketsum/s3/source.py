"""Contract of a reader: an object's bytes, complete and in order, or an error."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import botocore
from botocore.config import Config

from bucketsum.checksums.comparison import Witness
from bucketsum.errors import BucketsumError, SourceInterrupted
from bucketsum.events.object_events import ObjectCreated
from bucketsum.table.checksum_values import Compared

# By default botocore checks a full read against S3's stored checksum, computing a second
# digest in line (CRC-64 or SHA-1 again). TLS, the length and If-Match already guard it.
# Versions before 1.36 do not check, and refuse the option.
_CHECKS = tuple(map(int, botocore.__version__.split(".")[:2])) >= (1, 36)
_UNCHECKED: Final[dict[str, Any]] = (
    {"response_checksum_validation": "when_required"} if _CHECKS else {}
)

CLIENT_CONFIG: Final = Config(
    connect_timeout=5,
    read_timeout=20,  # S3 answers in 0.1-0.2 s; a silent connection is broken, so resume early
    retries={"mode": "standard", "total_max_attempts": 4},
    s3={"us_east_1_regional_endpoint": "regional"},  # not the global one, as in other Regions
    tcp_keepalive=True,
    **_UNCHECKED,
)
"""Configuration of every S3 client that objects are read with."""

MAX_RESUMES: Final = 10
"""How often one object is resumed before its message returns to the queue."""

_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class OpenObject:
    """An object that S3 has begun to send.

    Attributes:
        size_bytes: Bytes that *chunks* yields.
        etag: Entity tag of the object being read, without quotes.
        chunks: The bytes in order. Yields all of them or raises; can be iterated once. Close it
            if you stop early, to release its connection at once.
        streams: Number of connections that read it.
        headers: Of the response, with lower-case names, if a single one brings the whole object.
        witness: S3's checksum, compared while the chunks are iterated; None if it is not.
    """

    size_bytes: int
    etag: str
    chunks: Generator[bytes]
    streams: int = 1
    headers: Mapping[str, str] = field(default_factory=dict)
    witness: Witness | None = None

    def compared(self, digests: Mapping[str, str]) -> Compared | None:
        """The word of the witness after all chunks, which have *digests*; None without one."""
        return self.witness.compared(digests) if self.witness else None


class Source(Protocol):
    """Opens the objects that notifications name."""

    def open(
        self, created: ObjectCreated, offset: int = 0, doubt: BucketsumError | None = None
    ) -> OpenObject:
        """Request exactly the object that was created, from *offset* on, which is below its size.

        With an offset, *created* has an entity tag. A *doubt* is the error in the response to such
        a request, which is not sent again.

        Raises:
            ObjectGone: It was deleted.
            ObjectSuperseded: It was overwritten.
            ObjectUnreadable: It is in Glacier, access is denied, or its KMS key cannot be used.
            SourceInterrupted: Other bytes come than those from *offset* on.
            SourceUnavailable: S3 throttles, fails or cannot be reached.

        Iterating the chunks raises these too.
        """
        ...

    def another(self) -> Source:
        """A source with connections of its own."""
        ...


class ResumeBudget:
    """Limits how often the read of one object is resumed, and waits before each time."""

    def __init__(self, pause: Callable[[float], None] = time.sleep) -> None:
        self._pause = pause
        self._spent = 0

    def spend(self, offset: int, size_bytes: int, reason: str) -> None:
        """Wait before resuming at *offset*: 0.1 s, then twice as long each time, up to 2 s.

        Raises:
            SourceInterrupted: The object was resumed `MAX_RESUMES` times already; *reason* tells
                how the last connection broke.
        """
        if self._spent == MAX_RESUMES:
            raise SourceInterrupted(
                f"the connection broke {self._spent + 1} times, last at byte {offset} of "
                f"{size_bytes}: {reason}"
            )
        self.pause(self._spent)
        self._spent += 1

    def pause(self, pauses_before: int) -> None:
        """Wait 0.1 s the first time, then twice as long each time, up to 2 s."""
        self._pause(min(_FIRST_PAUSE_SECONDS * 2**pauses_before, _LONGEST_PAUSE_SECONDS))
