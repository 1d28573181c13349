"""What a box needs of the machine, and how to get what is missing."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

SYSTEM_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where tools of the system are; a person's PATH often leaves the sbin folders out."""


class CannotMakeBoxError(Exception):
    """The box cannot be made here; the text says what is missing and how to get it."""


@dataclass(frozen=True, slots=True)
class Missing:
    """One thing that is not there.

    Attributes:
        what: Its name.
        why: What it is needed for.
        get: How a person gets it.
    """

    what: str
    why: str
    get: str

    def __str__(self) -> str:
        """One line for people."""
        return f"{self.what}: {self.why}. {self.get}"


_TOOLS: Final = (
    Missing("ip", "makes the network namespaces", "apt-get install iproute2"),
    Missing("tc", "gives the link its rate", "apt-get install iproute2"),
    Missing("nginx", "serves the objects over TLS", "apt-get install nginx-light"),
    Missing("curl", "measures what the box allows", "apt-get install curl"),
)


def tool(name: str) -> str | None:
    """Where the program *name* is."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}")


def missing(
    which: Callable[[str], str | None] = tool,
    platform: str = sys.platform,
    user: int | None = None,
) -> list[Missing]:
    """All that is missing here, so that a person need not find out one by one."""
    if platform != "linux":
        return [Missing("Linux", f"namespaces and control groups; this is {platform}", "Use Linux")]
    found = [one for one in _TOOLS if which(one.what) is None]
    if (os.geteuid() if user is None else user) != 0:
        why = "makes namespaces and control groups"
        found.insert(0, Missing("root", why, f"sudo -E {sys.executable} -m bench ..."))
    if find_spec("trustme") is None:
        found.append(Missing("trustme", "makes the server's certificate", "make setup"))
    return found


def refusal(lacking: list[Missing]) -> CannotMakeBoxError:
    """The error that names all of *lacking*."""
    lines = "\n".join(f"  {one}" for one in lacking)
    return CannotMakeBoxError(f"the box cannot be made on this machine; missing:\n{lines}")


CONTROL_GROUPS: Final = Missing(
    "control groups `cpu` and `memory`",
    "hold a process to Lambda's share of the processor and memory",
    "Mount them writable: version 1 under /sys/fs/cgroup/cpu and /memory, or version 2 with both "
    "in /sys/fs/cgroup/cgroup.subtree_control; in a container: --privileged --cgroupns=host",
)
