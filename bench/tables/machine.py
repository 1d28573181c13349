"""Description of the machine that a benchmark ran on."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime

from bucketsum_cli.machine.hardware import cpu_model


def machine() -> str:
    """CPU, cores and kernel in one line."""
    release = platform.release().partition("-")[0]
    return f"{cpu_model()}, {os.cpu_count()} cores, {platform.system()} {release}"


def origin() -> str:
    """Date, machine and load average of the minute before, in one line."""
    return f"{datetime.now(UTC).date()}, {machine()}; load before {os.getloadavg()[0]:.1f}"
