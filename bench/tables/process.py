"""Time, memory and result of a measured process.

Imports little of the standard library, because the memory of this process is measured. The
lab's ProcessMeter is not used: it leaves out child processes and the memory of the start-up.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class ProcessMeter:
    """Wall and CPU time from its creation to `stop`, child processes included."""

    def __init__(self) -> None:
        self._cpu = cpu_seconds()
        self._wall = time.perf_counter()

    def stop(self) -> dict[str, float]:
        """``seconds``, ``cpu_seconds`` and ``peak_bytes``, the peak since the process started."""
        seconds = time.perf_counter() - self._wall
        return {
            "seconds": seconds,
            "cpu_seconds": cpu_seconds() - self._cpu,
            "peak_bytes": peak_bytes(),
        }


def cpu_seconds() -> float:
    """CPU time of this process and of the children that it has waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_bytes() -> int:
    """Peak resident memory of this process, or of its largest child if that is more.

    Not this process's own `ru_maxrss`, which starts at the parent's resident memory.
    """
    return max(peak_of("self"), 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def peak_of(pid: str) -> int:
    """Peak resident bytes of a process; 0 after its end."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:  # noqa: PTH123 - pathlib takes memory
        peaks = (1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
        return next(peaks, 0)


def measure_one(
    instead: int, prepare: Callable[[dict[str, Any]], Callable[[], dict[str, object]]]
) -> None:
    """Serve a runner, which sends a job as a line of JSON, and later a line to begin.

    The answers are ``{"ready": true}`` once the job is prepared, then its result with
    `ProcessMeter.stop`; none if the runner has ended. Other output goes to the file descriptor
    *instead*.
    """
    stream = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(instead, 1)
    run = prepare(json.loads(sys.stdin.readline()))
    print('{"ready": true}', file=stream, flush=True)
    if not sys.stdin.readline():
        return
    meter = ProcessMeter()
    result = run()
    print(json.dumps(result | meter.stop()), file=stream, flush=True)
    os._exit(0)  # threads and connections end here, unmeasured
