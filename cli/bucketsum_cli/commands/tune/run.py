"""`bucketsum tune run`: plan a sweep, start it, and follow it to its end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from bucketsum_cli.arguments.options import json_option, yes_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.errors import CANNOT_DO, CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.tune.here.command import run_here
from bucketsum_cli.tune.here.planning import HereOptions
from bucketsum_cli.tune.machine import Confinement
from bucketsum_cli.tune.plan_view import priced_plan, print_plan
from bucketsum_cli.tune.progress import ended_execution, recorded_results
from bucketsum_cli.tune.report.export import results_as_json
from bucketsum_cli.tune.report.table_view import print_results
from bucketsum_cli.tune.results import Results
from bucketsum_cli.tune.sweep_input import naming, sweep_input
from bucketsum_cli.tune.sweep_options import fields_of, names_of, sweep_options
from bucketsum_cli.tune.sweeper import Sweeper
from bucketsum_lab.protocol.run_records import RunStatus

_EXIT_STATUSES: Final[Mapping[RunStatus, int]] = {RunStatus.SUCCEEDED: 0, RunStatus.PARTIAL: 1}


@click.command("run")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@sweep_options
@yes_option
@click.option("--dry-run", is_flag=True, help="Show the plan, cost and time; start nothing.")
@click.option(
    "--no-wait",
    is_flag=True,
    help="Start the run, print its name and exit; `bucketsum tune show` shows its progress.",
)
@json_option()
@stack_options
def run(
    target: Target,
    file: Path | None,
    is_here: bool,
    bucket: str | None,
    usd_per_hour: float | None,
    confine: str | None,
    disks: tuple[Path, ...],
    yes: bool,
    dry_run: bool,
    no_wait: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - of many types
) -> None:
    """Measure the settings in FILE; options override its fields.

    Without FILE, give --memory, --object-size or --key, and with --streams above 1 --chunk. For
    --workload transfer or records, give at least --memory. docs/reference/sweeps.md explains all
    values and defaults.

    Shows the plan, the time and the cost, asks for confirmation, and shows the progress of every
    cell. After Ctrl-C, the sweep stops and cleans up. With --here, the sweep runs on this machine,
    not on Lambda.

    Exits with 0 if everything was measured and cleaned up; with 1 if a measurement is missing, the
    clean-up is incomplete, or you decline; with 2 if the sweep failed; with 130 if Ctrl-C stopped
    it.

    Example: bucketsum tune run events/sweep-quick.json --local
    """
    here = HereOptions(bucket, usd_per_hour, Confinement(confine) if confine else None, disks)
    if not is_here and here != HereOptions():
        raise click.UsageError("--bucket, --usd-per-hour, --confine and --disk need --here")
    if is_here and no_wait:
        raise click.UsageError(
            "--no-wait cannot be used with --here: this command does the measuring"
        )
    with naming(names_of(options, set_alone=file is not None)):
        fields = sweep_input(file, fields_of(options))
        if is_here:
            ended = run_here(target, fields, here, yes=yes, dry_run=dry_run)
            if isinstance(ended, Results):
                _print_results(ended, as_json=as_json)
            elif as_json:
                print_json(ended.to_json())
        else:
            _run_on_lambda(
                target, fields, yes=yes, dry_run=dry_run, no_wait=no_wait, as_json=as_json
            )


def _run_on_lambda(
    target: Target,
    fields: Mapping[str, Any],
    *,
    yes: bool,
    dry_run: bool,
    no_wait: bool,
    as_json: bool,
) -> None:
    sweeper = Sweeper(target.find())
    priced = priced_plan(sweeper, fields)
    print_plan(priced)
    if dry_run:
        if as_json:
            print_json(priced.to_json())
        return
    if not priced.plan.samples:
        raise CannotDoError("no cell of this sweep can run; the plan gives the reasons")
    confirm("Start it?", "not started", yes=yes)
    run_id = new_execution_name()
    arn = sweeper.state_machine.start(run_id, fields)
    if no_wait and as_json:
        print_json({"run_id": run_id, "execution_arn": arn})
        return
    if no_wait:
        say(run_id)
        note(f"started; `{command_line('tune', 'show', run_id)}` shows its progress")
        return
    note(f"started {run_id}")
    execution = ended_execution(sweeper, run_id, priced.plan)
    _print_results(recorded_results(sweeper, run_id, execution), as_json=as_json)


def _print_results(results: Results, *, as_json: bool) -> None:
    """Print the results, and exit with the run's status."""
    if as_json:
        print_json(results_as_json(results))
    else:
        print_results(results)
    raise SystemExit(_EXIT_STATUSES.get(results.run.status, CANNOT_DO))
