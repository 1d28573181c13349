"""Formats of numbers and times, equal in tables and pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bucketsum_cli.terminal.documents import Moment, iso_text

MISSING: Final = "–"
"""Stands for a value that was not measured."""

_HOURS_PER_DAY: Final = 24


def speed_text(mb_per_s: float | None, missing: str = MISSING) -> str:
    """MB/s with one decimal."""
    return missing if mb_per_s is None else f"{mb_per_s:.1f}"


def usd_text(usd: float | None) -> str:
    """US dollars with three significant digits, without an exponent."""
    if usd is None:
        return MISSING
    if usd == 0:
        return "0"
    digits = 2
    while abs(usd) * 10.0 ** (digits - 2) < 1:
        digits += 1
    return f"{usd:,.{digits}f}"


def cents_text(usd: float) -> str:
    """A price to the cent; one below a cent is not free."""
    return "<0.01" if 0 < usd < 0.005 else f"{usd:,.2f}"  # noqa: PLR2004 - half a cent


def duration_text(seconds: float) -> str:
    """A duration in its two largest units: ``1 min 20 s``, ``2 h 5 min``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def hours_text(hours: float) -> str:
    """A duration of at least a second, with the days if there are several."""
    if hours >= 2 * _HOURS_PER_DAY:
        return f"{hours:,.0f} h ({hours / _HOURS_PER_DAY:.1f} days)"
    return duration_text(max(1, hours * 3600))


def count_text(number: int, noun: str) -> str:
    """A number with its noun: ``1 cell``, ``2 cells``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_PLURALS: Final = {"differs": "differ", "unreadable member": "unreadable members"}


def tally_text(counts: Mapping[str, int]) -> str:
    """Results with their numbers: ``2 differ, 1 lost``; without those of none."""
    return ", ".join(
        f"{number:,} {name if number == 1 else _PLURALS.get(name, name)}"
        for name, number in counts.items()
        if number
    )


def moment_text(moment: Moment) -> str:
    """Format a time in UTC, to the second."""
    return iso_text(moment)[:19].replace("T", " ")


def size_text(size_bytes: int) -> str:
    """Format a size with three or four digits and a decimal unit."""
    if size_bytes < 1000:  # noqa: PLR2004 - the step between units
        return f"{size_bytes} B"
    size = float(size_bytes)
    for unit in ("kB", "MB", "GB", "TB"):
        size /= 1000
        if size < 999.95:  # noqa: PLR2004 - from here on it would be 1000.0
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} PB"
