"""Formats of settings and measurements, equal in tables, plots and legends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from bucketsum.measure import BYTES_PER_MB
from bucketsum_cli.terminal.formatting import MISSING, size_text

_BYTES_PER_KIB: Final = 1024
_BYTES_PER_MIB: Final = 1024 * _BYTES_PER_KIB
_BYTES_PER_KB: Final = 1000


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
