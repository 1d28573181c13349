"""Response head: status, headers, and whether they are those of the requested bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import takewhile
from typing import Any, Final, Self

from bucketsum.events.message_fields import shown
from bucketsum.events.object_events import ObjectCreated
from bucketsum.events.version import Version

_ENTITY_TAG: Final = re.compile(r'"([0-9a-f]{32})(-\d+)?"')
_DIGITS_OF_ENTITY_TAG: Final = 32
_LENGTH_DIGITS_MAX: Final = 18  # libcurl passes any on; Python refuses above 4,300


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """Status and headers of a response; header names are lower-case."""

    status: int
    headers: dict[str, str]

    @classmethod
    def of(cls, lines: Sequence[bytes]) -> ResponseHead:
        """The final head in *lines*, no interim head or trailer; status 0 if there is none.

        Values of a header that comes several times are one list, as for botocore.
        """
        rest = iter(lines)
        for line in rest:
            head = list(takewhile(bytes.strip, rest))  # an empty line ends it
            if (status := _status_in(line)) >= HTTPStatus.OK:
                headers: dict[str, str] = {}
                for name, _, text in (line.decode("latin-1").partition(":") for line in head):
                    name, value = name.strip().lower(), text.strip()  # noqa: PLW2901 - of this line
                    headers[name] = f"{headers[name]}, {value}" if name in headers else value
                return cls(status, headers)
        return cls(0, {})

    @classmethod
    def of_response(cls, response: Any) -> Self:  # noqa: ANN401 - the output of any operation
        """The head of a *response* of botocore."""
        metadata = response["ResponseMetadata"]
        return cls(metadata["HTTPStatusCode"], metadata["HTTPHeaders"])

    @property
    def length(self) -> int:
        """Size of the body in bytes; -1 if the head does not give it."""
        text = self.headers.get("content-length", "")
        is_number = text.isascii() and text.isdigit() and len(text) <= _LENGTH_DIGITS_MAX
        return int(text) if is_number else -1

    @property
    def is_refusal(self) -> bool:
        """Whether the body says why there is no object."""
        return self.status >= HTTPStatus.BAD_REQUEST

    @property
    def etag(self) -> str:
        """The entity tag in its quotes; empty if there is none."""
        return self.headers.get("etag", "")

    def is_of_another(self, created: ObjectCreated) -> bool:
        """Whether it shows another object than *created*.

        An entity tag in a form that S3 does not write, or with a suffix that *created* lacks, shows
        none: what stands between has written it.
        """
        if not created.etag:
            return self.length != created.size_bytes
        tag = _ENTITY_TAG.fullmatch(self.etag)
        return tag is not None and tag[1] != created.etag[:_DIGITS_OF_ENTITY_TAG]

    def mismatch(self, created: ObjectCreated, first: int = 0, end: int | None = None) -> str:
        """Differences from a response with *created*; empty if there are none.

        All that is known is compared: entity tag, version, size. S3 sends no transfer encoding,
        with which the length would not count. With an *end*, the request was for bytes *first* to
        *end* (exclusive). An unknown entity tag may be any; a request without a version ID is for
        version ``null``, and buckets without versions do not name it.
        """
        version = Version(created.version_id).entry
        expected: dict[str, tuple[object, object]] = {
            "status": (HTTPStatus.OK if end is None else HTTPStatus.PARTIAL_CONTENT, self.status),
            "ETag": (if_match(created) or self.etag or "an entity tag", self.etag),
            "x-amz-version-id": (version, self.headers.get("x-amz-version-id", version)),
            "Transfer-Encoding": (None, self.headers.get("transfer-encoding")),
            "Content-Length": ((created.size_bytes if end is None else end) - first, self.length),
        }
        if end is not None:  # several ranges have none, whatever the object's own Content-Type is
            content_range = f"bytes {first}-{end - 1}/{created.size_bytes}"
            expected["Content-Range"] = (content_range, self.headers.get("content-range"))
        return "; ".join(
            f"{name} is {shown(received)}, not {wanted!r}"
            for name, (wanted, received) in expected.items()
            if received != wanted
        )


def if_match(created: ObjectCreated) -> str | None:
    """The value of ``If-Match``, the entity tag in quotes; None if it is not known."""
    return f'"{created.etag}"' if created.etag else None


def _status_in(line: bytes) -> int:
    """The status in a status line; 0 if *line* is none."""
    version, _, status = line.partition(b" ")
    return int(status[:3]) if version.startswith(b"HTTP/") and status[:3].isdigit() else 0
