"""Plan a sweep on this machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bucketsum.clock import now
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.machine import hardware
from bucketsum_cli.tune.here.disks import disks_text, on_disks
from bucketsum_cli.tune.here.place import Place
from bucketsum_cli.tune.here.sweep import HereSweep
from bucketsum_cli.tune.machine import Confinement, Machine, instance_type
from bucketsum_cli.tune.workloads import add_programs
from bucketsum_lab.errors import BadSweep, FieldPlace
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import check_estimate, unlimited_plan
from bucketsum_lab.protocol.measuring import MachinePrice
from bucketsum_lab.workloads import WORKLOADS


@dataclass(frozen=True, slots=True)
class HereOptions:
    """The options of the command that only `--here` has.

    Attributes:
        bucket: The bucket; None is the stack's bucket for sweeps.
        usd_per_hour: Price of the machine; None if it is not known.
        confine: Limits of the processes; None is the memory's, if the machine allows it.
        disks: Folders for temporary files to compare; none is the system's.
    """

    bucket: str | None = None
    usd_per_hour: float | None = None
    confine: Confinement | None = None
    disks: tuple[Path, ...] = ()


def planned_sweep(
    fields: Mapping[str, Any],
    place: Place,
    machine: Machine,
    disks: Sequence[str],
    roots: Mapping[str, str] | None,
) -> HereSweep:
    """The sweep of *fields* on *machine*, whose estimates are within its limits."""
    sweep = on_disks(SweepInput.from_json(fields), disks)
    sweep = _on_this_machine(sweep, machine.confinement)
    add_programs(sweep.workload)
    objects, workload = place.bucket.objects, WORKLOADS[sweep.workload]
    sizes = [objects.named(key, workload)["size_bytes"] for key in sweep.keys]
    usd = machine.usd_per_hour
    disks_mb: dict[str | None, int] = {disk: hardware.free_mb(disk) for disk in disks}
    planned = HereSweep(
        run_id=new_execution_name(),
        fields=fields,
        plan=unlimited_plan(sweep, sizes, hardware.free_mb(), disks_mb),
        machine=machine,
        price=MachinePrice(usd, now()[:10]) if usd else MachinePrice(),
        place=place,
        roots=roots,
    )
    check_estimate(sweep.limits, planned.estimated_usd, planned.estimated_seconds)
    return planned


def machine_of_sweep(
    place: Place, options: HereOptions, confinement: Confinement, disks: Sequence[str]
) -> Machine:
    """This machine, as the run records it."""
    return Machine(
        cpu=hardware.cpu_model(),
        cores=os.cpu_count() or 1,
        ram_mb=hardware.memory_mb(),
        kernel=f"{platform.system()} {platform.release()}",
        disk=disks_text(disks),
        confinement=confinement,
        instance_type=instance_type(),
        endpoint=place.bucket.endpoint(),
        usd_per_hour=options.usd_per_hour,
    )


def _on_this_machine(sweep: SweepInput, confinement: Confinement) -> SweepInput:
    """*sweep* with the machine's memory as its only size, unless memory can be limited here."""
    memory_mb = hardware.memory_mb()
    if confinement is Confinement.NONE:
        settings = (replace(setting, memory_mb=memory_mb) for setting in sweep.settings)
        return replace(sweep, settings=tuple(dict.fromkeys(settings)))
    for wanted_mb in sweep.memory_mb:
        if wanted_mb > memory_mb:
            raise BadSweep(
                FieldPlace("memory_mb"),
                f" is {wanted_mb}, more than the {memory_mb} MB of this machine: lower it, or "
                "measure without limits with --confine none",
            )
    return sweep
