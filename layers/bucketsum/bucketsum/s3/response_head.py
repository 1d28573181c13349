"""Response head: status, headers, and the range of the object that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import takewhile
from typing import Final

from bucketsum.events.version import NULL

_LENGTH_DIGITS_MAX: Final = 18  # libcurl passes any on; Python refuses above 4,300


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """Status and headers of a response; header names are lower-case."""

    status: int
    headers: dict[str, str]

    @classmethod
    def of(cls, lines: Sequence[bytes]) -> ResponseHead:
        """The final head in *lines*, no interim head or trailer; status 0 if there is none."""
        rest = iter(lines)
        for line in rest:
            head = list(takewhile(bytes.strip, rest))  # an empty line ends it
            if (status := _status_in(line)) >= HTTPStatus.OK:
                fields = (line.decode("latin-1").partition(":") for line in head)
                headers = {name.strip().lower(): value.strip() for name, _, value in fields}
                return cls(status, headers)
        return cls(0, {})

    @property
    def length(self) -> int:
        """Size of the body in bytes; -1 if the head does not give it."""
        text = self.headers.get("content-length", "")
        is_number = text.isascii() and text.isdigit() and len(text) <= _LENGTH_DIGITS_MAX
        return int(text) if is_number else -1

    @property
    def etag(self) -> str:
        """The entity tag in its quotes; empty if there is none."""
        return self.headers.get("etag", "")

    @property
    def version_id(self) -> str | None:
        """The version id, or None if the bucket keeps no versions."""
        return self.headers.get("x-amz-version-id")

    def is_version(self, version_id: str | None) -> bool:
        """Whether it is the requested version; a request without an ID is for version ``null``."""
        return version_id is not None or self.version_id in (None, NULL.entry)

    def is_whole(self, etag: str | None) -> bool:
        """Whether the body is a whole object, and the one with *etag* if that is given."""
        return self.status == HTTPStatus.OK and self.length >= 0 and self._has_etag(etag)

    def is_range(self, first: int, end: int, size: int, etag: str | None) -> bool:
        """Whether the body is bytes *first* to *end* (exclusive) of an object of *size* bytes."""
        return (
            self.status == HTTPStatus.PARTIAL_CONTENT
            and self.headers.get("content-range") == f"bytes {first}-{end - 1}/{size}"
            and self.length == end - first
            and self._has_etag(etag)
        )

    def _has_etag(self, etag: str | None) -> bool:
        return bool(self.etag) and etag in (None, self.etag)


def _status_in(line: bytes) -> int:
    """The status in a status line; 0 if *line* is none."""
    version, _, status = line.partition(b" ")
    return int(status[:3]) if version.startswith(b"HTTP/") and status[:3].isdigit() else 0
