"""The benchmark sandbox: ``with Sandbox(profile) as sandbox: sandbox.start(argv, env, log)``.

Programs in it have one network, a link with Lambda's rate to a namespace with servers.
`Sandbox.serve` starts a server there; `Sandbox.start` starts a program within the limits.
Everything is removed when the ``with`` ends; leftovers of a killed run are removed by the next one.
"""

import itertools
import os
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from bench.sandbox.network import PREFIX, SandboxNetwork, is_abandoned, remove_abandoned
from bench.sandbox.profiles import Profile
from bench.sandbox.requirements import CONTROL_GROUPS, refusal, require
from bucketsum_cli.machine.cgroups import cgroup_roots, forbid_swap, kills_of, remove_roots
from bucketsum_cli.machine.json_lines import answer_of, send
from bucketsum_cli.machine.worker import Cgroup

_NUMBERS: Final = itertools.count(1)


@dataclass(slots=True)
class Inside:
    """A program in the sandbox: its process with pipes, its control group, and its name."""

    process: subprocess.Popen[bytes]
    group: Cgroup
    name: str

    def limit_cpu(self) -> None:
        """Apply Lambda's CPU share from now on; a function's init phase has more."""
        with suppress(ProcessLookupError):  # it has ended: its log says why
            self.group.limit_cpu(self.process.pid)

    def ask(self, request: object, seconds: float) -> dict[str, Any]:
        """Write one line of JSON, and return the program's answer, another line.

        Raises:
            NoAnswerError: The program has ended, or did not answer within *seconds*.
        """
        send(self.process, request)
        return answer_of(self.process, time.monotonic() + seconds)


class Sandbox:
    """A sandbox of namespaces and control groups, for one configuration.

    Raises on entering:
        CannotMakeSandboxError: A tool is missing, or the kernel refused; nothing is left behind.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._name = f"{PREFIX}-{os.getpid()}-{next(_NUMBERS)}"
        self._network = SandboxNetwork(self._name)
        self.roots: dict[str, str] = {}
        """Folders for control groups, while the sandbox is open."""
        self._stack = ExitStack()
        self._counter = itertools.count(1)

    def __enter__(self) -> Self:
        require()
        with ExitStack() as stack:
            remove_abandoned()
            self.roots = _parent_groups(self._name)
            stack.callback(remove_roots, self.roots)
            stack.callback(self._network.remove)
            self._network.make(self.profile)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def inside(self, argv: list[str]) -> list[str]:
        """*argv* as a command that runs behind the link."""
        return self._network.inside("client", argv)

    def serve(self, argv: list[str], env: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
        """Start a server beyond the link, at `network.SERVER_ADDRESS`; it ends with the sandbox.

        It has no limits. Its output goes to *log*.
        """
        return self._popen("server", argv, env, log)

    def start(self, argv: list[str], env: Mapping[str, str], log: Path) -> Inside:
        """Start a program within the memory limit; `Inside.limit_cpu` adds the CPU share.

        The caller ends it with `finish`. It should use no memory before its first read of
        standard input, because it joins its control group only after its start.
        """
        name = f"{next(self._counter)}"
        group = Cgroup(self.roots, name, self.profile.memory_mb)
        process = self._popen("client", argv, env, log)
        with suppress(ProcessLookupError):  # it has ended: its log says why
            group.limit_memory(process.pid)
        forbid_swap(Path(self.roots["memory"], name))  # memory runs out as on Lambda
        return Inside(process, group, name)

    def _popen(
        self, end: str, argv: list[str], env: Mapping[str, str], log: Path
    ) -> subprocess.Popen[bytes]:
        with log.open("ab") as sink:
            process = subprocess.Popen(  # noqa: S603 - the caller's own program
                self._network.inside(end, argv),
                env=dict(env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if end == "client" else sink,
                stderr=sink,
            )
        self._stack.callback(_collect, process)
        return process

    def finish(self, inside: Inside) -> int:
        """End the program if it still runs; returns how often memory ran out."""
        _collect(inside.process)
        kills = kills_of(Path(self.roots["memory"], inside.name))
        remove_roots({kind: str(Path(root, inside.name)) for kind, root in self.roots.items()})
        return kills

    def unlimited(self, argv: list[str], env: Mapping[str, str]) -> str:
        """Run a program behind the link without limits of CPU and memory; returns its output.

        Raises:
            subprocess.CalledProcessError: It failed.
        """
        return subprocess.run(  # noqa: S603 - the caller's own program
            self.inside(argv),
            env=dict(env),
            check=True,
            text=True,
            capture_output=True,
        ).stdout


def _parent_groups(name: str) -> dict[str, str]:
    """Create the folders of a sandbox's groups, which proves that they work.

    Raises:
        CannotMakeSandboxError: Control groups are not writable here.
    """
    roots = cgroup_roots(name)
    if roots is None:
        raise refusal([CONTROL_GROUPS])
    for parent in {Path(root).parent for root in roots.values()}:
        for folder in [folder for folder in parent.iterdir() if is_abandoned(folder.name)]:
            remove_roots({"abandoned": str(folder)})
    return roots


def _collect(process: subprocess.Popen[bytes]) -> None:
    """End *process* and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
