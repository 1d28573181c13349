"""Description of the machine that a benchmark ran on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine() -> str:
    """CPU, cores and kernel in one line."""
    release = platform.release().partition("-")[0]
    return f"{_cpu()}, {os.cpu_count()} cores, {platform.system()} {release}"


def _cpu(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
