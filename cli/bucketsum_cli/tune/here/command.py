"""`bucketsum tune run --here`: plan a sweep, and measure it on this machine."""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bucketsum.clock import now
from bucketsum_cli.arguments.options import Target
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.machine import hardware
from bucketsum_cli.terminal.errors import INTERRUPTED, CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import confirm, note
from bucketsum_cli.tune.here.disks import disk_folders, disks_text, on_disks
from bucketsum_cli.tune.here.place import Place, place_of
from bucketsum_cli.tune.here.sweep import HereSweep
from bucketsum_cli.tune.machine import Confinement, Machine, confined, instance_type
from bucketsum_cli.tune.plan_view import print_machine_plan
from bucketsum_cli.tune.progress import ProgressBars
from bucketsum_cli.tune.results import Results, results_of
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


def run_here(
    target: Target, fields: Mapping[str, Any], options: HereOptions, *, yes: bool, dry_run: bool
) -> Results | HereSweep:
    """Measure on this machine after a confirmation; with *dry_run*, only plan.

    Ctrl-C stops the sweep, records its end, and ends the command.

    Raises:
        BadSweep: The sweep cannot run; the message names the field or option to change.
        CannotDoError: This machine cannot run it, or no cell can.
    """
    if importlib.util.find_spec("pycurl") is None:
        raise CannotDoError("--here reads over libcurl, as the functions do: pip install pycurl")
    disks = disk_folders(options.disks)
    place = place_of(target, options.bucket)
    with confined(options.confine) as (confinement, roots):
        machine = _machine(place, options, confinement, disks)
        sweep = _planned(fields, place, machine, disks, roots)
        print_machine_plan(sweep.plan, sweep.machine, sweep.estimated_seconds, sweep.estimated_usd)
        if dry_run:
            return sweep
        if not sweep.plan.samples:
            raise CannotDoError("no cell of this sweep can run; the plan gives the reasons")
        if any(planned.generated for planned in sweep.plan.objects):
            place.bucket.refuse_notifications()
            note(place.bucket.expiry_note())
        confirm("Start it?", "not started", yes=yes)
        _follow(sweep)
    return results_of(place.store, sweep.run_id)


def _follow(sweep: HereSweep) -> None:
    note(f"started {sweep.run_id}")
    samples = []
    try:
        with ProgressBars(sweep.plan) as bars, closing(sweep.samples()) as measured:
            for sample in measured:
                samples.append(sample)
                bars.update(samples)
    except KeyboardInterrupt:
        show = command_line("tune", "show", sweep.run_id)
        note(f"stopped; `{show}` shows the samples taken so far")
        raise SystemExit(INTERRUPTED) from None


def _planned(
    fields: Mapping[str, Any],
    place: Place,
    machine: Machine,
    disks: Sequence[str],
    roots: Mapping[str, str] | None,
) -> HereSweep:
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


def _machine(
    place: Place, options: HereOptions, confinement: Confinement, disks: Sequence[str]
) -> Machine:
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
