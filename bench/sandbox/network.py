"""Two network namespaces and a link between them with Lambda's rate.

Both ends of the link are inside these namespaces, so no device of the machine is touched, and
removing the namespaces removes everything.
"""

import json
import os
import re
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.sandbox.profiles import BURST_PEAK_BYTES_PER_S, Profile
from bench.sandbox.requirements import SYSTEM_PATH, CannotMakeSandboxError

PREFIX: Final = "bucketsum-bench"
SERVER_ADDRESS: Final = "10.77.0.1"
CLIENT_ADDRESS: Final = "10.77.0.2"

_DEVICES: Final = {"server": "box0", "client": "box1"}
_MTU: Final = 1500
_FRAME_BYTES: Final = _MTU + 14
_PAYLOAD_BYTES: Final = _MTU - 52
_PEAK_PACKET_BYTES: Final = 128 * 1024
_SMALLEST_BURST_BYTES: Final = 256 * 1024
_QUEUE_BYTES: Final = 64 * 1024 * 1024
_OURS: Final = re.compile(rf"{PREFIX}-(\d+)-\d+(?:-server|-client)?$")


def wire_bytes_per_s(payload_bytes_per_s: float) -> int:
    """The rate on the wire at which a program receives *payload_bytes_per_s*.

    Lambda's 625 Mbit/s were measured by programs as 75 MiB/s ([T] arXiv 2501.07771), so headers
    come on top: 1,514 bytes carry 1,448. What TLS adds, 0.13 %, is not.
    """
    return int(payload_bytes_per_s * _FRAME_BYTES / _PAYLOAD_BYTES)


def shaping(profile: Profile) -> list[str]:
    """The `tc` command that sets the link's rate.

    The bucket and the peak's packet are larger than the kernel's largest packets (64 KiB), which
    would be split or dropped; the queue is so long that nothing is lost in it, since senders of
    the same machine are slowed down rather than dropped.
    """
    command = [
        *("tc", "qdisc", "replace", "dev", _DEVICES["server"], "root", "tbf"),
        *("rate", f"{wire_bytes_per_s(profile.link_bytes_per_s)}bps"),
        *("limit", str(_QUEUE_BYTES)),
    ]
    if not profile.burst_bytes:
        return [*command, "burst", str(_SMALLEST_BURST_BYTES)]
    peak = wire_bytes_per_s(BURST_PEAK_BYTES_PER_S)
    return [
        *(*command, "burst", str(wire_bytes_per_s(profile.burst_bytes))),
        *("peakrate", f"{peak}bps", "mtu", str(_PEAK_PACKET_BYTES)),
    ]


@dataclass(frozen=True, slots=True)
class SandboxNetwork:
    """The namespaces of one sandbox; *name* is the unique prefix of their names."""

    name: str

    def _namespace(self, end: str) -> str:
        return f"{self.name}-{end}"

    def make(self, profile: Profile) -> None:
        """Create both namespaces, and the link of *profile*.

        Raises:
            CannotMakeSandboxError: A command failed; call `remove`.
        """
        server, client = map(self._namespace, _DEVICES)
        for namespace in (server, client):
            _run("ip", "netns", "add", namespace)
        _run(
            *("ip", "link", "add", _DEVICES["server"], "netns", server, "type", "veth"),
            *("peer", "name", _DEVICES["client"], "netns", client),
        )
        for end, address in (("server", SERVER_ADDRESS), ("client", CLIENT_ADDRESS)):
            inside = ("ip", "-n", self._namespace(end))
            _run(*inside, "address", "add", f"{address}/30", "dev", _DEVICES[end])
            _run(*inside, "link", "set", "lo", "up")
            _run(*inside, "link", "set", _DEVICES[end], "mtu", str(_MTU), "up")
        if not is_our_link(_run("ip", "-n", server, "-d", "-j", "link", "show")):
            raise CannotMakeSandboxError(
                f"{_DEVICES['server']} in {server} is not the sandbox's veth, so it is left alone"
            )
        tc, *arguments = shaping(profile)
        try:
            _run(tc, "-n", server, *arguments)
        except CannotMakeSandboxError as error:
            raise CannotMakeSandboxError(
                f"{error}\nIf the qdisc is unknown, the kernel lacks `tbf`: modprobe sch_tbf (it "
                "is in Debian's linux-image packages)"
            ) from None

    def inside(self, end: str, argv: list[str]) -> list[str]:
        """*argv* as a command that runs in the namespace of *end*: ``server`` or ``client``."""
        # unlike `ip netns exec`, this leaves /sys with the control groups as it is
        return ["nsenter", f"--net=/run/netns/{self._namespace(end)}", *argv]

    def remove(self) -> None:
        """End every process in the namespaces, and remove the namespaces that still exist."""
        for end in _DEVICES:
            _remove(self._namespace(end))


def is_our_link(links_json: str) -> bool:
    """Whether `ip -d -j link show` lists the sandbox's device as a veth."""
    return any(
        link.get("ifname") == _DEVICES["server"]
        and link.get("linkinfo", {}).get("info_kind") == "veth"
        for link in json.loads(links_json)
    )


def is_abandoned(name: str, processes: Path = Path("/proc")) -> bool:
    """Whether the namespace *name* belongs to a sandbox whose process has ended."""
    match = _OURS.match(name)
    return match is not None and not (processes / match[1]).exists()


def remove_abandoned() -> None:
    """Remove the namespaces of sandboxes whose process was killed."""
    names = [line.split()[0] for line in _run("ip", "netns", "list").splitlines() if line.strip()]
    for name in filter(is_abandoned, names):
        _remove(name)


def _remove(namespace: str) -> None:
    """End the processes of a namespace, and remove it unless it is already removed."""
    with suppress(CannotMakeSandboxError):
        for pid in _run("ip", "netns", "pids", namespace).split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        _run("ip", "netns", "delete", namespace)


def _run(*argv: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - commands of this module
            argv, capture_output=True, text=True, check=True, env={"PATH": SYSTEM_PATH}
        )
    except subprocess.CalledProcessError as error:
        raise CannotMakeSandboxError(
            f"`{' '.join(argv)}` failed: {error.stderr.strip() or error.returncode}"
        ) from None
    return done.stdout
