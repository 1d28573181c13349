"""Samples of a sweep on the local emulator, and of the same rounds in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.workloads.experiments import Experiment
from bench.workloads.runner import samples_of
from bucketsum_cli.arguments.options import Target
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.machine.proxy import BURST_BYTES
from bucketsum_cli.terminal import output
from bucketsum_cli.tune.plan_view import priced_plan
from bucketsum_cli.tune.progress import ended_execution
from bucketsum_cli.tune.sweeper import Sweeper

if TYPE_CHECKING:
    from bucketsum_lab.plan.plan import Plan
    from bucketsum_lab.protocol.samples import Sample


class Place(StrEnum):
    """A place where the sweep is measured."""

    EMULATOR = "emulator"
    SANDBOX = "sandbox"


def on_emulator(fields: Mapping[str, Any]) -> list[Sample]:
    """The samples of `bucketsum tune run --local`."""
    sweeper, run_id = Sweeper(Target(local=True).find()), new_execution_name()
    priced = priced_plan(sweeper, fields)
    sweeper.state_machine.start(run_id, fields)
    ended_execution(sweeper, run_id, priced.plan)
    return sweeper.measurements.samples(run_id)


def in_sandbox(
    fields: Mapping[str, Any], planned: Plan, emulated: Sequence[Sample]
) -> Iterator[Sample]:
    """Measure the same rounds in the sandbox; each pause is the median pause in *emulated*."""
    pause_seconds = median(pauses(emulated))
    experiment = Experiment(
        "emulator", "", dict(fields), burst_bytes=BURST_BYTES, pause_seconds=pause_seconds
    )
    for sample in samples_of(experiment, planned):
        speed = f"{sample.reading.mb_per_s:.1f} MB/s" if sample.reading else sample.failure
        output.note(f"  {sample.cell_id}: {speed}")
        yield sample


def pauses(samples: Sequence[Sample]) -> Iterator[float]:
    """Seconds from the end of each sample to the start of the next.

    In them the burst allowance grows, so the sandbox has to make them too.
    """
    for before, sample in pairwise(sorted(samples, key=lambda sample: sample.at)):
        if sample.billing:
            ends = [datetime.fromisoformat(each.at) for each in (before, sample)]
            yield (ends[1] - ends[0]).total_seconds() - sample.billing.billed_ms / 1000
