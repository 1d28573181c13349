"""Requirements of the sandbox, and how to install them."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from bench.signals import unwind_on_signals
from bucketsum_cli.terminal import output

SYSTEM_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Folders of system tools; a user's PATH often lacks the sbin folders."""


class CannotMakeSandboxError(Exception):
    """The sandbox cannot be created; the text names the missing requirements."""


@dataclass(frozen=True, slots=True)
class Missing:
    """One missing requirement, its purpose, and how to install it."""

    what: str
    why: str
    get: str

    def __str__(self) -> str:
        """One line of text."""
        return f"{self.what}: {self.why}. {self.get}"


_TOOLS: Final = (
    Missing("ip", "makes the network namespaces", "apt-get install iproute2"),
    Missing("nsenter", "starts programs in them", "apt-get install util-linux"),
    Missing("tc", "gives the link its rate", "apt-get install iproute2"),
    Missing("nginx", "serves the objects over TLS", "apt-get install nginx-light"),
    Missing("curl", "measures the speed that the sandbox allows", "apt-get install curl"),
)


def tool(name: str) -> str | None:
    """Path of the program *name*."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}")


def missing(
    which: Callable[[str], str | None] = tool,
    platform: str = sys.platform,
    user: int | None = None,
) -> list[Missing]:
    """All requirements that are missing."""
    if platform != "linux":
        return [Missing("Linux", f"namespaces and control groups; this is {platform}", "Use Linux")]
    lacking = [needed for needed in _TOOLS if which(needed.what) is None]
    if (os.geteuid() if user is None else user) != 0:
        why = "makes namespaces and control groups"
        lacking.insert(0, Missing("root", why, f"sudo -E {sys.executable} -m bench ..."))
    if find_spec("trustme") is None:
        lacking.append(Missing("trustme", "makes the server's certificate", "make setup"))
    return lacking


@contextmanager
def sandboxes() -> Iterator[None]:
    """The block of a benchmark: where a sandbox cannot be created, print why, and exit with 2.

    What is missing is known before anything is measured. Signals leave the block, so that every
    sandbox in it is removed.
    """
    unwind_on_signals()
    try:
        require()
        yield
    except (CannotMakeSandboxError, ValueError) as error:
        for line in str(error).splitlines():
            output.note(line)
        raise SystemExit(2) from None


def require() -> None:
    """Raise `refusal` if something is missing."""
    if lacking := missing():
        raise refusal(lacking)


def refusal(lacking: list[Missing]) -> CannotMakeSandboxError:
    """The error that names all of *lacking*."""
    lines = "\n".join(f"  {requirement}" for requirement in lacking)
    return CannotMakeSandboxError(
        f"the sandbox cannot be created on this machine; missing:\n{lines}"
    )


CONTROL_GROUPS: Final = Missing(
    "control groups `cpu` and `memory`",
    "limit a process to Lambda's CPU share and memory",
    "Mount them writable: version 1 under /sys/fs/cgroup/cpu and /memory, or version 2 with both "
    "in /sys/fs/cgroup/cgroup.subtree_control; in a container: --privileged --cgroupns=host",
)
