"""The box itself: ``with Box(profile) as box: box.run(argv, env, log)``.

What runs in it sees one network: a link with Lambda's rate to a namespace where servers run.
`Box.serve` starts a server there; `Box.start`, and `Box.run` to its end, a program within the
limits. All of it is gone when the ``with`` ends, however it ends; what a box that was killed left
behind is removed by the next one.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from bench.box.confinement import Confinement
from bench.box.network import PREFIX, Network, remove_abandoned
from bench.box.requirements import missing, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from bench.box.profiles import Profile
    from bucketsum_cli.local.worker import Cgroup as Group

_NUMBERS: Final = itertools.count(1)


@dataclass(slots=True)
class Inside:
    """A program in the box.

    Attributes:
        process: With pipes for its standard input and output.
        group: Its control group.
        name: The group's name.
    """

    process: subprocess.Popen[str]
    group: Group
    name: str

    def limit_cpu(self) -> None:
        """Give it Lambda's share from here on; a function's init phase has more."""
        with suppress(ProcessLookupError):  # it has ended: what it left tells why
            self.group.limit_cpu(self.process.pid)


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a program in the box.

    Attributes:
        status: Its exit status; negative for the signal that killed it.
        output: What it wrote.
        kills: How many of its processes the kernel killed for want of memory.
    """

    status: int
    output: str
    kills: int


class Box:
    """One shape of Lambda, made of namespaces and control groups.

    Raises on entering:
        CannotMakeBoxError: Something is missing, or the kernel refused; nothing is left behind.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._name = f"{PREFIX}-{os.getpid()}-{next(_NUMBERS)}"
        self._network = Network(self._name)
        self._confinement: Confinement | None = None
        self._made = ExitStack()
        self._counter = itertools.count(1)

    def __enter__(self) -> Self:
        lacking = missing()
        if lacking:
            raise refusal(lacking)
        with ExitStack() as made:
            remove_abandoned()
            self._confinement = Confinement.make(self._name)
            made.callback(self._confinement.remove)
            made.callback(self._network.remove)
            self._network.make(self.profile)
            self._made = made.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._made.close()

    def serve(
        self, argv: list[str], env: Mapping[str, str], log: Path, cwd: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a server beyond the link, at `network.SERVER_ADDRESS`; it ends with the box.

        It is under no limit. What it says goes to *log*.
        """
        with log.open("ab") as told:
            server = subprocess.Popen(  # noqa: S603 - the caller's own program
                self._network.inside("server", argv),
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=told,
            )
        self._made.callback(_collect, server)
        return server

    def start(
        self, argv: list[str], env: Mapping[str, str], log: Path, cwd: Path | None = None
    ) -> Inside:
        """Start a program within the memory limit; `Inside.limit_cpu` adds the processor's.

        The caller ends it with `finish`. Until it reads something from its standard input it
        should do nothing that takes memory: it is put into its group right after its start.
        """
        assert self._confinement is not None, "used outside of its `with`"  # noqa: S101 - a contract
        name = f"{next(self._counter)}"
        group = self._confinement.group(name, self.profile.memory_mb)
        with log.open("ab") as told:
            process = subprocess.Popen(  # noqa: S603 - the caller's own program
                self._network.inside("client", argv),
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=told,
                text=True,
            )
        self._made.callback(_collect, process)
        with suppress(ProcessLookupError):  # it has ended: what it left tells why
            group.limit_memory(process.pid)
        self._confinement.forbid_swap(name)
        return Inside(process, group, name)

    def finish(self, inside: Inside) -> int:
        """End the program if it has not ended; returns how often memory ran out."""
        assert self._confinement is not None, "used outside of its `with`"  # noqa: S101 - a contract
        _collect(inside.process)
        kills = self._confinement.out_of_memory_kills(inside.name)
        self._confinement.empty(inside.name)
        return kills

    def run(self, argv: list[str], env: Mapping[str, str], log: Path, given: str = "\n") -> Ended:
        """Run a program within both limits from its start, *given* on its standard input."""
        inside = self.start(argv, env, log)
        inside.limit_cpu()
        output, _ = inside.process.communicate(given)  # ignores a pipe that nobody reads
        status = inside.process.returncode
        return Ended(status, output, self.finish(inside))

    def unlimited(self, argv: list[str], env: Mapping[str, str]) -> str:
        """Run a program behind the link but under no limit of processor or memory.

        Returns what it wrote.

        Raises:
            subprocess.CalledProcessError: It failed.
        """
        return subprocess.run(  # noqa: S603 - the caller's own program
            self._network.inside("client", argv),
            env=dict(env),
            check=True,
            text=True,
            capture_output=True,
        ).stdout


def _collect(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """See to it that *process* has ended, and has left neither a zombie nor a pipe."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
