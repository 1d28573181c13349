"""Reads the use of CPU, network, disk and memory once a second, from /proc and the control group.

The network is that of all devices but the loopback, on Lambda those of the execution environment.
If S3 is at a loopback address, it is that of the open connections of this process: the loopback
device counts every process and every proxy. What the system does not tell is None.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import stat
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from bucketsum_lab.protocol.measuring import text_of, ticks_in, ticks_of_children
from bucketsum_lab.protocol.use import Use, UseCurve

INTERVAL_SECONDS: Final = 1.0

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_BYTES_IN_TCP_INFO: Final = 120
"""Offset of ``tcpi_bytes_acked``, before ``tcpi_bytes_received``, in Linux's ``tcp_info``."""


@dataclass(frozen=True, slots=True)
class System:
    """Reads files in /proc and of the control group; tests pass other folders."""

    proc: Path = Path("/proc")
    groups: Path = Path("/sys/fs/cgroup")

    def text(self, *names: str) -> str | None:
        """The content of a file in /proc; None if it cannot be read."""
        return text_of(self.proc.joinpath(*names))

    def cpu_group(self, file: str) -> str | None:
        """The content of a *file* of this process's control group, of version 1 or 2."""
        for line in (self.text("self", "cgroup") or "").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            folder = self.groups / controllers
            # a container sees its own as the root
            for group in (folder / path.lstrip("/"), folder):
                text = text_of(group / file)
                if text is not None:
                    return text
        return None

    def quota(self) -> float | None:
        """The CPUs that the control group allows; None without a limit."""
        texts = [self.cpu_group(f"cpu.cfs_{name}_us") for name in ("quota", "period")]
        words = " ".join(filter(None, [self.cpu_group("cpu.max") or "", *texts])).split()
        quota, period = words if len(words) == 2 else ("", "")  # noqa: PLR2004 - both
        return int(quota) / int(period) if quota.isdigit() else None

    def throttled(self) -> float | None:
        """Seconds for which the control group has been throttled."""
        values = counts_in(self.cpu_group("cpu.stat"), " ")
        if "throttled_usec" in values:
            return values["throttled_usec"] / 1e6
        return values["throttled_time"] / 1e9 if "throttled_time" in values else None

    def devices(self) -> tuple[int, int] | None:
        """Bytes received and sent by all network devices but the loopback."""
        text = self.text("self", "net", "dev")
        if text is None:
            return None
        rows = (line.partition(":") for line in text.splitlines()[2:])
        numbers = [row.split() for name, _, row in rows if name.strip() != "lo"]
        return sum(int(row[0]) for row in numbers), sum(int(row[8]) for row in numbers)


def counts_in(text: str | None, separator: str) -> dict[str, int]:
    """The whole numbers in *text* by name: each line has a name, *separator* and a number."""
    rows = (line.partition(separator) for line in (text or "").splitlines())
    return {name: int(value) for name, _, value in rows if value.strip().isdigit()}


def open_connections() -> Iterator[tuple[int, tuple[int, int]]]:
    """Inode of each open TCP connection of this process, with bytes received and sent."""
    for link in Path("/proc/self/fd").iterdir():
        try:
            status = os.fstat(int(link.name))
            if not stat.S_ISSOCK(status.st_mode):
                continue
            with socket.socket(fileno=os.dup(int(link.name))) as connection:
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            sent, received = struct.unpack_from("QQ", info, _BYTES_IN_TCP_INFO)
        except (OSError, struct.error):  # closed meanwhile, or not of TCP
            continue
        yield status.st_ino, (received, sent)


class UseMeter:
    """Reads the use of resources during a ``with`` block; then `curve` returns it."""

    def __init__(self, endpoint: str = "", system: System | None = None) -> None:
        """*endpoint* is the address of S3."""
        self._system = system or System()
        self._is_loopback = _is_loopback(urlsplit(endpoint).hostname or "")
        self._of_connections: dict[int, tuple[int, int]] = {}
        self._threads: dict[str, int] = {}
        self._uses: list[Use] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._time, self._before = 0.0, dict[str, float | None]()

    def __enter__(self) -> Self:
        self._time, self._before = time.monotonic(), self._counters()
        self._busiest()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._read()

    @property
    def curve(self) -> UseCurve:
        """The use until now."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return UseCurve(cores or 1, self._system.quota(), tuple(self._uses))

    def _follow(self) -> None:
        while not self._ended.wait(INTERVAL_SECONDS):
            self._read()

    def _read(self) -> None:
        now, counters = time.monotonic(), self._counters()
        changes = {name: _change(self._before[name], value) for name, value in counters.items()}
        whole = {name: None if (n := changes.pop(name)) is None else int(n) for name in _WHOLE}
        pages = (self._system.text("self", "statm") or "").split()
        memory_bytes = int(pages[1]) * _PAGE_BYTES if pages else None
        seconds = round(now - self._time, 4)
        use = Use(seconds, busiest=self._busiest(), memory_bytes=memory_bytes)
        use = replace(use, **changes, **whole)  # type: ignore[arg-type]  # names are its fields
        self._uses.append(use)
        self._time, self._before = now, counters

    def _counters(self) -> dict[str, float | None]:
        """Totals since the start of the process or of the machine."""
        system = self._system
        machine = (system.text("stat") or "").partition("\n")[0].split()
        of_disk = counts_in(system.text("self", "io"), ": ")
        network = self._connections() if self._is_loopback else system.devices()
        user, in_kernel = self._cpu() or (None, None)
        return {
            "user": user,
            "system": in_kernel,
            "wait": int(machine[5]) / _TICKS if machine else None,
            "stolen": int(machine[8]) / _TICKS if machine else None,
            "throttled": system.throttled(),
            "received_bytes": network[0] if network else None,
            "sent_bytes": network[1] if network else None,
            "read_bytes": of_disk.get("read_bytes"),
            "written_bytes": of_disk.get("write_bytes"),
        }

    def _cpu(self) -> tuple[float, float] | None:
        """CPU seconds of the process and of its children, in programs and in the kernel."""
        of_self = self._system.text("self", "stat")
        if of_self is None:
            return None
        rows = [ticks_in(of_self), *ticks_of_children(self._system.proc)]
        return tuple(sum(row[n] + row[n + 2] for row in rows) / _TICKS for n in (0, 1))  # type: ignore[return-value]  # of two

    def _busiest(self) -> float | None:
        """CPU seconds of the busiest thread since the call before."""
        tasks = self._system.proc / "self" / "task"
        try:
            texts = {task.name: text_of(task / "schedstat") for task in tasks.iterdir()}
        except OSError:
            return None
        now = {name: int(text.split()[0]) for name, text in texts.items() if text}
        before, self._threads = self._threads, now
        changes = [nanoseconds - before.get(name, 0) for name, nanoseconds in now.items()]
        return round(max(changes) / 1e9, 4) if changes else None

    def _connections(self) -> tuple[int, int]:
        """Bytes received and sent by the connections that this meter has seen."""
        self._of_connections |= dict(open_connections())
        received, sent = zip((0, 0), *self._of_connections.values(), strict=True)
        return sum(received), sum(sent)


_WHOLE: Final = ("received_bytes", "sent_bytes", "read_bytes", "written_bytes")


def _change(before: float | None, now: float | None) -> float | None:
    return None if before is None or now is None else round(max(now - before, 0), 4)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
