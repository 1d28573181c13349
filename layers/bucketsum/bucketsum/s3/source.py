"""What a reader promises: an object → its bytes, in order and complete, or why not."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from botocore.config import Config

from bucketsum.errors import SourceInterrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from bucketsum.notifications import ObjectCreated

CLIENT_CONFIG: Final = Config(
    connect_timeout=5,
    read_timeout=20,  # S3 answers in 0.1-0.2 s; a silent connection is broken, so resume early
    retries={"mode": "standard", "total_max_attempts": 4},
    # By default botocore checks a full read against S3's stored checksum, computing a second
    # digest in line (CRC-64 or SHA-1 again). TLS, the length and If-Match already guard it.
    response_checksum_validation="when_required",
    signature_version="s3v4",  # else botocore signs addresses with SHA-1 (see `SignedUrls`)
    tcp_keepalive=True,
)
"""How the S3 client of a source is to be configured."""

MAX_RESUMES: Final = 10
"""How often one object is continued after a broken connection before the message goes back."""

_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class OpenObject:
    """An object that S3 has begun to send.

    Attributes:
        size_bytes: How many bytes *chunks* will yield.
        etag: Entity tag of what is being read, without quotes.
        version_id: Version of what is being read, or None where the bucket keeps none.
        chunks: The bytes in order. Yields all of them or raises; can be iterated once. Close it
            if you stop early: its connection is given up then and not when memory is.
        streams: How many connections read it.
    """

    size_bytes: int
    etag: str
    version_id: str | None
    chunks: Generator[bytes]
    streams: int = 1


class Source(Protocol):
    """Where an arrival's bytes come from."""

    def open(self, arrival: ObjectCreated) -> OpenObject:
        """Ask S3 for exactly the object that arrived.

        Raises:
            ObjectGone: It was deleted.
            ObjectSuperseded: It was overwritten.
            ObjectUnreadable: It is archived, encrypted with another's key, or denied to us.
            SourceUnavailable: S3 throttles, fails or cannot be reached.

        Iterating the chunks raises these too, and `SourceInterrupted`.
        """
        ...


class ResumeBudget:
    """How often one object may still be continued, and how long to wait before."""

    def __init__(self, pause: Callable[[float], None] = time.sleep) -> None:
        self._pause = pause
        self._taken = 0

    def take(self, offset: int, size_bytes: int, broken: str) -> None:
        """Wait before going on at *offset*: 0.1 s, then twice as long each time, up to 2 s.

        Raises:
            SourceInterrupted: It was continued `MAX_RESUMES` times already; *broken* says why not
                for good.
        """
        if self._taken == MAX_RESUMES:
            raise SourceInterrupted(
                f"the connection broke {self._taken + 1} times, last at byte {offset} of "
                f"{size_bytes}: {broken}"
            )
        self.pause(self._taken)
        self._taken += 1

    def pause(self, before: int) -> None:
        """Wait as is due when one has already waited *before* times."""
        self._pause(min(_FIRST_PAUSE_SECONDS * 2**before, _LONGEST_PAUSE_SECONDS))
