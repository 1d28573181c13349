"""The counters of Linux: /proc, the control group, and open connections."""

from __future__ import annotations

import os
import socket
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bucketsum_lab.protocol.measuring import text_of

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
