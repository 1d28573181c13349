"""Speeds of a disk as a text."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bucketsum_lab.protocol.samples import DiskSpeed

_UNITS: Final = {
    "disk_write_mb_per_s": "MB/s written",
    "disk_read_mb_per_s": "MB/s read",
    "disk_reads_per_s": "reads of 4 KiB per second",
    "disk_reads_per_s_16": "with 16 at a time",
}


def disk_speed_text(disks: Sequence[DiskSpeed]) -> str:
    """The medians of all processes that measured a disk, and reasons of those that did not."""
    reasons = sorted({disk.disk_unmeasured for disk in disks if disk.disk_unmeasured})
    texts = [f"not measured: {reason}" for reason in reasons]
    for name, unit in _UNITS.items():
        values = [value for disk in disks if (value := getattr(disk, name)) is not None]
        if values:
            texts.append(f"{median(values):,.0f} {unit}")
    return ", ".join(texts)
