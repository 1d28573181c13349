"""Formats of numbers and times, equal in tables, plots and legends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from bucketsum.measure import BYTES_PER_MB
from bucketsum_cli.terminal.documents import Moment, iso_text

MISSING: Final = "–"
"""Stands for a value that was not measured."""

_BYTES_PER_KIB: Final = 1024
_BYTES_PER_MIB: Final = 1024 * _BYTES_PER_KIB
_BYTES_PER_KB: Final = 1000
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


def chunk_text(chunk_bytes: int) -> str:
    """A chunk size in the largest exact unit: ``1 MiB``, ``20 MB``, ``70,001 B``."""
    for unit_bytes, unit in (
        (_BYTES_PER_MIB, "MiB"),
        (BYTES_PER_MB, "MB"),
        (_BYTES_PER_KIB, "KiB"),
        (_BYTES_PER_KB, "kB"),
    ):
        if chunk_bytes % unit_bytes == 0:
            return f"{chunk_bytes // unit_bytes:,} {unit}"
    return f"{chunk_bytes:,} B"


def memory_text(memory_mb: int) -> str:
    """A function's memory as Lambda's settings show it."""
    return f"{memory_mb} MB"


def used_text(size_bytes: int | None) -> str:
    """Peak memory, in MB of 10⁶ bytes."""
    return MISSING if size_bytes is None else f"{size_bytes / BYTES_PER_MB:.0f} MB"


def seconds_text(seconds: float | None) -> str:
    """Seconds with three decimals below 10, else two."""
    if seconds is None:
        return MISSING
    return f"{seconds:.3f}" if seconds < 10 else f"{seconds:.2f}"  # noqa: PLR2004 - as it says


def percent_text(change: float | None) -> str:
    """A change such as ``+12.3 %``."""
    return MISSING if change is None else f"{change * 100:+.1f} %"


def prices_text(region: str | None, date: str, priced_as: str | None) -> str:
    """Date of the prices; if those of *region* are not known, also the Region used instead."""
    if priced_as is None:
        return f"prices of {date}"
    return f"prices of {priced_as} of {date}, as those of {region} are not known"


def size_texts(sizes_bytes: Iterable[int]) -> Mapping[int, str]:
    """A text for each size; sizes that would look alike are given in bytes."""
    texts = {size: size_text(size) for size in set(sizes_bytes)}
    uses = Counter(texts.values())
    return {size: f"{size:,} B" if uses[text] > 1 else text for size, text in texts.items()}
