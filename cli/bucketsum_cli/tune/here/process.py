"""Processes that probe, in place of Lambda's execution environments."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Final, Self

from bucketsum.clock import now
from bucketsum_cli.emulator.process import end_group, signals_held
from bucketsum_cli.machine.cgroups import kills_of, remove_roots
from bucketsum_cli.machine.json_lines import NoAnswerError, answer_of, send
from bucketsum_lab.protocol.probe import ProbeAnswer, failed
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.protocol.workload import PROBE_SECONDS_MAX
from bucketsum_lab.results.record_values import sample_of

PROGRAM: Final = "bucketsum_cli.tune.here.prober_program"
_LOG: Final = "log"


@dataclass(frozen=True, slots=True)
class Configuration:
    """A process to start.

    Attributes:
        memory_mb: Memory of the setting in MiB.
        folder: Folder for its temporary files and its log; the process makes it.
        environment: Variables by which it reaches S3.
        roots: Folders for control groups; None for a process without limits.
        limits_cpu: Whether it gets Lambda's CPU share.
        programs: As `WorkloadView.programs`.
        prefix: Beginning of the command, as of one that runs another in a network namespace.
    """

    memory_mb: int
    folder: Path
    environment: Mapping[str, str]
    roots: Mapping[str, str] | None = None
    limits_cpu: bool = False
    programs: str = ""
    prefix: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Name of the folder and of the control group."""
        return self.folder.name

    @property
    def program_argument(self) -> str:
        """The values that the program needs, as JSON."""
        values = {"memory_mb": self.memory_mb, "name": self.name, "limits_cpu": self.limits_cpu}
        values |= {"programs": self.programs, "roots": self.roots and dict(self.roots)}
        return json.dumps(values)


class _Process:
    """A process that answers events one after the other."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        folder = configuration.folder
        folder.mkdir(parents=True)
        program = [sys.executable, "-P", "-m", PROGRAM, configuration.program_argument]
        variables = {**os.environ, **configuration.environment, "TMPDIR": str(folder)}
        with (folder / _LOG).open("wb") as log, signals_held():
            self._child = subprocess.Popen(  # noqa: S603 - ourselves
                [*configuration.prefix, *program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=variables,
                start_new_session=True,  # Ctrl-C is for the command, which then ends this process
            )

    @property
    def has_ended(self) -> bool:
        return self._child.poll() is not None

    def send(self, event: Mapping[str, Any]) -> None:
        send(self._child, event)

    def answer(self, deadline: float) -> ProbeAnswer:
        """The answer to the event; a process without one is ended."""
        try:
            return {**answer_of(self._child, deadline), "log_stream": str(self._child.pid)}
        except NoAnswerError as error:
            return self._failure(is_late=error.timed_out)

    def _failure(self, *, is_late: bool) -> ProbeAnswer:
        if is_late:
            self.end()
            return failed("TimedOut", f"no answer within {PROBE_SECONDS_MAX} seconds")
        status = self._child.wait()
        memory_mb, roots = self._configuration.memory_mb, self._configuration.roots
        if roots and kills_of(Path(roots["memory"], self._configuration.name)):
            return failed("OutOfMemory", f"the process needed more than {memory_mb} MB")
        ending = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        log = (self._configuration.folder / _LOG).read_text("utf-8", "replace")
        last_words = next(filter(None, reversed(log.splitlines())), "")
        return failed("ProcessEnded", ": ".join(filter(None, [ending, last_words])))

    def end(self) -> None:
        """End it with everything that it started, and remove its control group."""
        end_group(self._child.pid)
        self._child.communicate()
        roots, name = self._configuration.roots, self._configuration.name
        if roots:
            remove_roots({kind: str(Path(root, name)) for kind, root in roots.items()})


class Processes:
    """The processes of one memory size; all end with the block."""

    def __init__(self, configuration: Configuration) -> None:
        """Name their folders after that of *configuration*."""
        self._configuration = configuration
        self._running: list[_Process] = []
        self._numbers = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._running:
            self._running[-1].end()
            self._running.pop()

    def samples(self, event: Mapping[str, Any], repetition: int) -> Iterator[Sample]:
        """The samples that the state machine would record for *event*, a `ProbeEvent`."""
        answers = self.probe(event, event["concurrency"])
        for invocation, answer in enumerate(answers, start=1):
            place = {"cell_id": event["cell_id"], "run": repetition, "invocation": invocation}
            yield sample_of({**answer, **place, "at": now()})

    def probe(self, event: Mapping[str, Any], concurrency: int) -> list[ProbeAnswer]:
        """Send *event* to *concurrency* processes at once, which share the price of the machine.

        As on Lambda, a process is kept for later events, and starts only if there are too few.
        """
        while len(self._running) < concurrency:
            name = f"{self._configuration.name}-{next(self._numbers)}"
            folder = self._configuration.folder.with_name(name)
            self._running.append(_Process(replace(self._configuration, folder=folder)))
        processes = self._running[:concurrency]
        for process in processes:
            process.send(event)
        deadline = time.monotonic() + PROBE_SECONDS_MAX
        answers = [process.answer(deadline) for process in processes]
        for process in [process for process in processes if process.has_ended]:
            process.end()
            self._running.remove(process)
        for answer in answers:
            if "billed_ms" in answer:
                answer["billed_ms"] = math.ceil(answer["billed_ms"] / concurrency)
        return answers
