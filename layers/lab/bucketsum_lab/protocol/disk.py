"""Speed of the disk for temporary files, past the page cache."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DiskSpeed:
    """Speeds of a disk, or the reason why they are not known."""

    disk_folder: str
    """The folder for temporary files; that of the setting if it names one."""
    disk_write_mb_per_s: float | None = None
    """10⁶ bytes per second, one MiB after the other, with fsync at the end."""
    disk_read_mb_per_s: float | None = None
    """10⁶ bytes per second, one MiB after the other."""
    disk_reads_per_s: float | None = None
    """Reads of 4 KiB at random places, one at a time."""
    disk_reads_per_s_16: float | None = None
    """The same by 16 threads."""
    disk_unmeasured: str | None = None
    """The reason why there are no speeds."""
