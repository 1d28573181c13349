"""Hardware of this machine."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from pathlib import Path
from typing import Final

_MIB: Final = 1024 * 1024


def cpu_model() -> str:
    """The CPU's name, or its architecture if the system has no name."""
    lines = _lines(Path("/proc/cpuinfo"))
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def memory_mb() -> int:
    """The machine's memory in MiB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MIB


def free_mb(folder: str | None = None) -> int:
    """Free space in MiB in *folder*, by default that for temporary files."""
    return shutil.disk_usage(folder or tempfile.gettempdir()).free // _MIB


def disk_text(folder: str | None = None) -> str:
    """File system, device and model of the disk of *folder*, as far as they are known.

    The default is the folder for temporary files.
    """
    number = Path(folder or tempfile.gettempdir()).stat().st_dev
    lines = _lines(Path("/proc/self/mounts"))
    mounted = [line.split()[:3] for line in lines if _is_on(line.split()[1], number)]
    device, kind = (mounted[-1][0], mounted[-1][2]) if mounted else ("unknown disk", "")
    return " ".join(
        filter(
            None,
            [kind, device, _model(Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"))],
        )
    )


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def _is_on(mount: str, number: int) -> bool:
    try:
        return Path(mount).stat().st_dev == number
    except OSError:
        return False


def _model(device: Path) -> str:
    """The model of a disk, or of the disk with this partition; empty if unknown."""
    for folder in (device.resolve(), device.resolve().parent):
        model = folder / "device" / "model"
        if model.exists():
            return f"({model.read_text().strip()})"
    return ""
