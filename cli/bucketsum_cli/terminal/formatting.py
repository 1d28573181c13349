"""Formats of numbers, equal in tables, plots and legends."""

from __future__ import annotations

from typing import Final

from bucketsum_cli.terminal import output

MISSING: Final = "–"
"""Stands for a value that was not measured."""


def speed_text(mb_per_s: float | None) -> str:
    """MB/s with one decimal."""
    return output.speed_text(mb_per_s) or MISSING


def usd_text(usd: float | None) -> str:
    """US dollars with three significant digits, without an exponent."""
    if usd is None:
        return MISSING
    if usd == 0:
        return "0"
    digits = 2
    while abs(usd) * 10.0 ** (digits - 2) < 1:
        digits += 1
    return f"{usd:.{digits}f}"


def duration_text(seconds: float) -> str:
    """A duration in its two largest units: ``1 min 20 s``, ``2 h 5 min``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def count_text(number: int, noun: str) -> str:
    """A number with its noun: ``1 cell``, ``2 cells``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
