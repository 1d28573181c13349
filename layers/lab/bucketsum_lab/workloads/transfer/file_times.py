"""Times of files: a row for each file of a sample, as one text of the sample's item."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final

from bucketsum_lab.protocol.measuring import percentile

_MICROSECONDS: Final = 1e6
_MS: Final = 1000

P99_FROM: Final = 1000
"""Fewer files say little about their slowest hundredth."""


@dataclass(frozen=True, slots=True)
class FileTime:
    """The times of one file, in seconds since the sample's clock started."""

    size_bytes: int
    intended: float
    """The time at which it should start; differs from `started` only if starts are random."""
    started: float
    first_byte: float | None
    """None if its client does not tell."""
    ended: float

    @property
    def milliseconds(self) -> float:
        """From the intended start, so that waiting counts."""
        return (self.ended - self.intended) * _MS

    @property
    def first_byte_ms(self) -> float | None:
        """From the request to the first byte; None if its client does not report it."""
        return None if self.first_byte is None else (self.first_byte - self.started) * _MS


def written(times: Iterable[FileTime]) -> str:
    """*times* as JSON: for each file its size and four times in whole microseconds."""
    rows = []
    for time in times:  # some 45 characters each
        size_bytes, *instants = astuple(time)
        rows.append([size_bytes, *map(_microseconds, instants)])
    return json.dumps(rows, separators=(",", ":"))


def read(text: str) -> tuple[FileTime, ...]:
    """The inverse of `written`."""
    return tuple(FileTime(size, *map(_seconds, instants)) for size, *instants in json.loads(text))


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * _MICROSECONDS)


def _seconds(microseconds: Any) -> Any:  # noqa: ANN401 - a number or None
    return None if microseconds is None else microseconds / _MICROSECONDS


def file_statistics(times: Sequence[FileTime]) -> dict[str, float]:
    """Statistics of at least one file: milliseconds; the 99th percentile only of many files."""
    took = [time.milliseconds for time in times]
    first_bytes = [time.first_byte_ms for time in times if time.first_byte_ms is not None]
    values = {
        "file_min_ms": min(took),
        "file_p50_ms": statistics.median(took),
        "file_p90_ms": percentile(took, 0.9),
        "file_max_ms": max(took),
        "file_mean_ms": statistics.fmean(took),
    }
    if len(took) >= P99_FROM:
        values["file_p99_ms"] = percentile(took, 0.99)
    if first_bytes:
        values["first_byte_p50_ms"] = statistics.median(first_bytes)
    return {name: round(value, 3) for name, value in values.items()}
