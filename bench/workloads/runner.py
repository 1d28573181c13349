"""All samples of an experiment: one sandbox, and in it one prober, for each memory size."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from bench.sandbox.objects import BUCKET
from bench.sandbox.profiles import Profile
from bench.sandbox.sandbox import NoAnswerError
from bench.sandbox.server import FOLDER, serving
from bench.workloads.data_sets import ensured
from bucketsum_cli.emulator.proxy import LINK_MBIT_PER_S
from bucketsum_cli.tune.here.process import PROGRAM, Configuration
from bucketsum_cli.tune.workloads import add_programs, view_of
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import plan_of
from bucketsum_lab.protocol.probe import failed
from bucketsum_lab.results.record_values import sample_of
from bucketsum_lab.workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench.sandbox.sandbox import Inside, Sandbox
    from bench.sandbox.server import Server
    from bench.workloads.experiments import Experiment
    from bucketsum_lab.plan.cells import PlannedCell
    from bucketsum_lab.plan.plan import Plan
    from bucketsum_lab.protocol.samples import Sample

STORAGE_MB: Final = 10_240
"""Of the cells' plan; the sandbox does not limit the disk."""
_READY_SECONDS: Final = 60.0
_SAMPLE_SECONDS: Final = 600.0


def plan(experiment: Experiment) -> Plan:
    """The cells and rounds of the experiment's sweep.

    Raises:
        BadSweep: Its input is wrong.
    """
    sweep = SweepInput.from_json(experiment.sweep)
    add_programs(sweep.workload)
    return plan_of(sweep, storage_mb=STORAGE_MB)


def samples_of(experiment: Experiment, planned: Plan) -> Iterator[Sample]:
    """Measure the plan's rounds in order."""
    objects, workload = FOLDER / "objects", WORKLOADS[planned.sweep.workload]
    programs = view_of(planned.sweep.workload).programs
    known = [ensured(objects, each, workload) for each in planned.objects]
    for memory_mb, rounds in planned.rounds.items():
        profile = Profile(
            experiment.name,
            memory_mb,
            LINK_MBIT_PER_S,
            known[0]["size_bytes"],
            experiment.burst_bytes,
        )
        refill_seconds = profile.burst_bytes / profile.link_bytes_per_s
        with serving(profile, objects) as (sandbox, server, folder):
            prober = _SandboxProber(sandbox, server, folder, experiment.limits_cpu, programs)
            for index, repetition in rounds:
                cell = planned.cells[index]
                time.sleep(refill_seconds)
                place = {"bucket": BUCKET, "workload": planned.sweep.workload}
                answer = prober.probe({**cell.event, **known[cell.number], **place})
                yield _sample(cell, repetition, answer)
            prober.end()


def _sample(cell: PlannedCell, repetition: int, answer: dict[str, Any]) -> Sample:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    of_state_machine = {"cell_id": cell.cell_id, "run": repetition, "invocation": 1, "at": at}
    return sample_of({**answer, **of_state_machine})


@dataclass(slots=True)
class _SandboxProber:
    """The prober of `tune run --here`, in *sandbox*, started again if the kernel kills it."""

    sandbox: Sandbox
    server: Server
    folder: Path
    limits_cpu: bool
    programs: str
    _inside: Inside | None = None

    def probe(self, event: dict[str, Any]) -> dict[str, Any]:
        """The answer, or the reason why there is none."""
        memory_mb = self.sandbox.profile.memory_mb
        try:
            self._inside = self._inside or self._started()
            return self._inside.ask(event, _SAMPLE_SECONDS)
        except NoAnswerError as error:
            if self.end():
                return dict(failed("OutOfMemory", f"killed with {memory_mb} MB of memory"))
            name = "TimedOut" if error.timed_out else "Ended"
            return dict(failed(name, self._log.read_text(errors="replace").strip()[-200:]))

    @property
    def _log(self) -> Path:
        return self.folder / "prober.log"

    def end(self) -> int:
        """End the process; returns how often memory ran out."""
        inside, self._inside = self._inside, None
        return self.sandbox.finish(inside) if inside else 0

    def _started(self) -> Inside:
        disk = self.folder / "tmp"
        disk.mkdir(exist_ok=True)
        variables = {**self.server.client_environment(self.folder), "TMPDIR": str(disk)}
        memory_mb = self.sandbox.profile.memory_mb
        configured = Configuration(memory_mb, disk, variables, programs=self.programs)
        command = [sys.executable, "-m", PROGRAM, configured.program_argument]
        inside = self.sandbox.start(command, variables, self._log)
        self._inside = inside
        inside.ask({}, _READY_SECONDS)
        if self.limits_cpu:
            inside.limit_cpu()
        return inside
