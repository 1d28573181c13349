"""The current time as the tables record it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The current time as S3 and Step Functions write it: ISO 8601, UTC, milliseconds, ``Z``."""
    return text_of(datetime.now(UTC))


def text_of(moment: datetime) -> str:
    """*moment* in the form of `now`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_since(moment: str) -> float:
    """Seconds from *moment* until now; negative if a clock went back."""
    return (datetime.fromisoformat(now()) - datetime.fromisoformat(moment)).total_seconds()
