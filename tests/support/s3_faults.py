"""The hostile S3's objects, requests and faults, a value for each."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

_SEND_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One version of one object.

    Attributes:
        body: Its bytes.
        version_id: Its version, or None in a bucket that keeps none.
        delete_marker: Whether this version says that the object was deleted.
        content_encoding: What it was stored as, such as ``gzip``.
        checksum: Headers with S3's checksum of it, sent if a request asks for them.
        parts: Size and checksum of each part, in the XML of GetObjectAttributes.
    """

    body: bytes
    version_id: str | None = None
    delete_marker: bool = False
    content_encoding: str | None = None
    checksum: Mapping[str, str] = field(default_factory=dict)
    parts: Sequence[str] = ()

    @property
    def etag(self) -> str:
        """Entity tag without quotes, as S3 makes it for a single PUT."""
        return _md5_of(self.body)


@lru_cache(maxsize=4)
def _md5_of(body: bytes) -> str:
    """Needed twice for every request, of which a few are for many bytes."""
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request as the server saw it; header names are lower-case."""

    path: str
    version_id: str | None
    headers: Mapping[str, str]
    query: str = ""
    method: str = "GET"

    @property
    def by_libcurl(self) -> bool:
        """Whether libcurl sent it, and not botocore."""
        return self.headers["user-agent"].startswith("bucketsum/")


@dataclass(frozen=True, slots=True)
class Fault:
    """The faults of one response; by default there are none.

    Attributes:
        refuse: HTTP status, error code and text of an answer instead of the object.
        hang_up: Whether the connection is reset before any answer.
        cut_after: Body bytes after which the connection ends, an error's body included.
        gently: Whether it ends with FIN (a short body) instead of RST.
        garble_after: Body bytes after which garbage is put on the wire below TLS.
        body: What is sent instead of the body, with a Content-Length to match.
        piece_bytes: How many bytes are sent at a time.
        pause: Called before each piece with the number of body bytes sent so far.
        ignore_range: Send everything with 200 where a range is requested.
        ignore_conditions: Send what is there, whatever If-Match asks for.
        headers: Sent instead of the right ones; empty for none.
        afterwards: Called when the last byte is sent, before the connection ends.
    """

    refuse: tuple[int, str, str] | None = None
    hang_up: bool = False
    cut_after: int | None = None
    gently: bool = False
    garble_after: int | None = None
    body: Callable[[bytes], bytes] = bytes
    piece_bytes: int = _SEND_BYTES
    pause: Callable[[int], object] = field(default=lambda _sent: None)
    ignore_range: bool = False
    ignore_conditions: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    afterwards: Callable[[], object] = field(default=lambda: None)


HEALTHY: Final = Fault()
THROTTLED: Final = Fault(refuse=(503, "SlowDown", "Please reduce your request rate."))

TRIES: Final = 6
"""Requests before a small object is given up for now: libcurl's two, with its batch and alone, and
botocore's four."""
