"""Fields of queue messages: each is checked.

All functions but `is_moment` and `shown` raise `MalformedMessage` for anything else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from bucketsum.errors import MalformedMessage

KEY_MAX_BYTES: Final = 1024
"""S3's own limit on an object key, in bytes of UTF-8."""

_BUCKET: Final = re.compile(r"(?=.*[A-Za-z0-9])[A-Za-z0-9._-]{3,255}")
"""Up to 255 characters for names from before 2018; dots alone would be a path in a URL."""

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", re.ASCII)
"""ISO 8601 in UTC, as S3 writes it."""
_OPAQUE: Final = re.compile(r"[!#-~]{1,1024}")  # fits a quoted header and a sort key of the table
WHOLE_MAX: Final = 2**63 - 1  # far above S3's limit, which grows, and within the table's


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in *text*."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise MalformedMessage(f"a JSON {type(value).__name__}, not an object")
    return value


def _field(source: Mapping[str, Any], path: str) -> object:
    value: Any = source
    try:
        for name in path.split("."):
            value = value[name]
    except (KeyError, TypeError):  # as of a text or a list
        return None
    return value


def text_at(source: Mapping[str, Any], path: str) -> str:
    """The text at *path*, names joined by dots; it is not empty, and UTF-8."""
    value = _field(source, path)
    if not isinstance(value, str) or not value:
        raise MalformedMessage(f"{path} is {shown(value)}, not a text")
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can carry and AWS cannot
        raise MalformedMessage(f"{path} is {shown(value)}, which is not UTF-8") from None
    return value


def optional_opaque_at(source: Mapping[str, Any], path: str) -> str | None:
    """The entity tag or version id at *path*; None if it is missing or empty."""
    if _field(source, path) in (None, ""):
        return None
    value = text_at(source, path)
    if not _OPAQUE.fullmatch(value):
        raise MalformedMessage(
            f"{path} is {shown(value)}, not 1 to 1,024 ASCII characters without quotes"
        )
    return value


def size_at(source: Mapping[str, Any], path: str) -> int:
    """The number of bytes at *path*."""
    return whole_at(source, path, "a number of bytes")


def whole_at(source: Mapping[str, Any], path: str, kind: str = "a whole number") -> int:
    """The number at *path*, which is 0 or more; *kind* names it in the error's text."""
    value = _field(source, path)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= WHOLE_MAX:
        return value
    raise MalformedMessage(f"{path} is {shown(value)}, not {kind}")


def moment_at(source: Mapping[str, Any], path: str) -> str:
    """The time at *path*, ISO 8601 in UTC."""
    text = text_at(source, path)
    if not is_moment(text):
        raise MalformedMessage(f"{path} is {shown(text)}, not a moment as 2026-11-21T03:04:05Z")
    return text


def is_moment(text: str) -> bool:
    """Whether *text* is a time in UTC as S3 writes it."""
    try:
        datetime.fromisoformat(text)
    except ValueError:  # such as a second 79
        return False
    return _MOMENT.fullmatch(text) is not None


def bucket_name(name: str) -> str:
    """*name*, if a bucket can have it."""
    if not _BUCKET.fullmatch(name):  # an ARN would name an access point, perhaps somebody else's
        raise MalformedMessage(f"{shown(name)} is not a bucket name")
    return name


def object_key(key: str) -> str:
    """*key*, if an object can have it: it is not too long."""
    size = len(key.encode())
    if size > KEY_MAX_BYTES:
        raise MalformedMessage(f"the key has {size} bytes, S3 allows {KEY_MAX_BYTES}")
    return key


def shown(value: object) -> str:
    """The beginning of *value* for an error, in ASCII."""
    return ascii(value)[:80]
