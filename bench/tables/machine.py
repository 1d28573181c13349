"""Description of the machine that a benchmark ran on."""

import os
import platform
from datetime import UTC, datetime
from typing import Any

from bucketsum_cli.machine.hardware import cpu_model


def machine() -> str:
    """CPU, cores and kernel in one line."""
    release = platform.release().partition("-")[0]
    return f"{cpu_model()}, {os.cpu_count()} cores, {platform.system()} {release}"


def circumstances() -> dict[str, Any]:
    """Date, load average of the minute before, and the machine."""
    date = datetime.now(UTC).date().isoformat()
    return {"date": date, "load": os.getloadavg()[0], "machine": machine()}


def origin() -> str:
    """The `circumstances` in one line."""
    return "{date}, {machine}; load before {load:.1f}".format(**circumstances())
