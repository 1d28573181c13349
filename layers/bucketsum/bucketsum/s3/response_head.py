"""The headers of an answer → what of the object it brings."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The status and the headers of an answer; their names are lower-case."""

    status: int
    headers: dict[str, str]

    @classmethod
    def of(cls, lines: Sequence[bytes]) -> ResponseHead:
        """The last answer in *lines*: a proxy's and interim ones come before; status 0 for none."""
        starts = [at for at, line in enumerate(lines) if line.startswith(b"HTTP/")]
        if not starts:
            return cls(0, {})
        first, *rest = lines[starts[-1] :]
        _, _, status = first.partition(b" ")
        parted = (line.decode("latin-1").partition(":") for line in rest)
        headers = {name.strip().lower(): value.strip() for name, _, value in parted}
        return cls(int(status[:3]) if status[:3].isdigit() else 0, headers)

    @property
    def length(self) -> int:
        """How many bytes the body has; -1 where that is not said."""
        text = self.headers.get("content-length", "")
        return int(text) if text.isascii() and text.isdigit() else -1

    @property
    def etag(self) -> str:
        """The entity tag in its quotes; empty where there is none."""
        return self.headers.get("etag", "")

    @property
    def version_id(self) -> str | None:
        """The version, or None where the bucket keeps none."""
        return self.headers.get("x-amz-version-id")

    def is_whole(self, etag: str | None) -> bool:
        """Whether the body is the whole of an object, namely that with *etag*, if there is one."""
        return self.status == HTTPStatus.OK and self.length >= 0 and self._is_of(etag)

    def is_range(self, first: int, end: int, size: int, etag: str | None) -> bool:
        """Whether the body is the bytes from *first* to before *end* of an object of *size*."""
        return (
            self.status == HTTPStatus.PARTIAL_CONTENT
            and self.headers.get("content-range") == f"bytes {first}-{end - 1}/{size}"
            and self.length == end - first
            and self._is_of(etag)
        )

    def _is_of(self, etag: str | None) -> bool:
        return bool(self.etag) and etag in (None, self.etag)
