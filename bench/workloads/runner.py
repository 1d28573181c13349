"""All samples of an experiment: one sandbox, and in it one prober, for each memory size."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from bench.sandbox.objects import BUCKET
from bench.sandbox.profiles import Profile
from bench.sandbox.server import FOLDER, serving
from bench.workloads.data_sets import ensured
from bucketsum_cli.emulator.proxy import LINK_MBIT_PER_S
from bucketsum_cli.tune.here.process import Configuration, Processes
from bucketsum_cli.tune.workloads import add_programs, view_of
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import plan_of
from bucketsum_lab.workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.workloads.experiments import Experiment
    from bucketsum_lab.plan.plan import Plan
    from bucketsum_lab.protocol.samples import Sample

STORAGE_MB: Final = 10_240
"""Of the cells' plan; the sandbox does not limit the disk."""


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
            configuration = Configuration(
                memory_mb,
                folder / "prober",
                server.client_environment(folder),
                sandbox.roots,
                experiment.limits_cpu,
                programs,
                sandbox.inside([]),
            )
            with Processes(configuration) as processes:
                for index, repetition in rounds:
                    cell = planned.cells[index]
                    time.sleep(refill_seconds)
                    place = {"bucket": BUCKET, "workload": planned.sweep.workload}
                    event = {**cell.event, **known[cell.number], **place}
                    yield from processes.samples(event, repetition)
