"""`bucketsum tune run --here`: plan a sweep, and measure it on this machine."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from bucketsum_cli.arguments.target import Target
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.errors import INTERRUPTED, CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note
from bucketsum_cli.tune.here.place import place_of
from bucketsum_cli.tune.here.planning import (
    HereOptions,
    disk_folders,
    machine_of_sweep,
    planned_sweep,
)
from bucketsum_cli.tune.here.sweep import HereSweep
from bucketsum_cli.tune.machine import confined
from bucketsum_cli.tune.plan_view import print_machine_plan
from bucketsum_cli.tune.progress import ProgressBars
from bucketsum_cli.tune.results import Results, results_of


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
        machine = machine_of_sweep(place, options, confinement, disks)
        sweep = planned_sweep(fields, place, machine, disks, roots)
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
