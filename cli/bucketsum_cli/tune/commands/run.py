"""`bucketsum tune run`: plan a sweep, start it, and follow it to its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bucketsum.sweep.input import StrategyName
from bucketsum.sweep.records import RunStatus
from bucketsum.sweep.workloads import WORKLOADS, WorkloadName
from bucketsum_cli.errors import ANSWER_IS_NO, CANNOT_DO, CannotDoError
from bucketsum_cli.options import json_option, stack_options, yes_option
from bucketsum_cli.output import confirmed, note, print_json, say
from bucketsum_cli.tune.export import results_as_json
from bucketsum_cli.tune.plan_view import priced_plan, print_plan
from bucketsum_cli.tune.progress import ended_execution, settled_run, show_command
from bucketsum_cli.tune.results import results_of
from bucketsum_cli.tune.sweep_input import CommaSeparated, Size, Streams, sweep_fields, sweep_input
from bucketsum_cli.tune.sweeper import Sweeper, new_run_id
from bucketsum_cli.tune.table_view import print_results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bucketsum_cli.options import Target
    from bucketsum_cli.tune.sweeper import Execution

_EXIT_STATUSES: Final[Mapping[RunStatus, int]] = {RunStatus.SUCCEEDED: 0, RunStatus.PARTIAL: 1}

_INTEGERS: Final = CommaSeparated("numbers", click.INT)
_STREAMS: Final = CommaSeparated("numbers", Streams())
_NAMES: Final = CommaSeparated("names", click.STRING)
_SIZES: Final = CommaSeparated("sizes", Size())


def _own_options() -> Iterator[Any]:
    """An option for each parameter that a workload has of its own."""
    for name, workload in WORKLOADS.items():
        for parameter in workload.parameters:
            has_numbers = not isinstance(parameter.default_value, str)
            yield click.option(
                f"--{parameter.name.replace('_', '-')}",
                parameter.name,
                type=_INTEGERS if has_numbers else _NAMES,
                metavar=f"{parameter.name.upper()},...",
                help=f"For {name}: {parameter.choices}.",
            )


def sweep_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options for the fields of a sweep's input; an option replaces the file's field."""
    for option in reversed(
        (
            click.option("--memory", "memory_mb", type=_INTEGERS, metavar="MB,...",
                         help="Memory sizes, for example 128,512,1769."),
            click.option("--chunk", "chunk_bytes", type=_SIZES, metavar="SIZE,...",
                         help="Chunk sizes, for example 256KiB,10MB."),
            click.option("--object-size", "object_bytes", type=_SIZES, metavar="SIZE,...",
                         help="Sizes of objects to generate and read, for example 100MB,1GB."),
            click.option("--key", "keys", multiple=True, metavar="KEY",
                         help="An object in the bucket for sweeps; may be repeated."),
            click.option("--streams", type=_STREAMS, metavar="N,...",
                         help="Connections per object, for example 1,4,auto."),
            click.option("--workload", type=click.Choice([*WorkloadName]),
                         help=f"What to do with the objects: {' or '.join(WorkloadName)}."),
            *_own_options(),
            click.option("--concurrency", type=_INTEGERS, metavar="N,...",
                         help="Number of concurrent invocations per cell."),
            click.option("--runs", type=int, metavar="N", help="Runs of each cell."),
            click.option("--strategy", type=click.Choice([*StrategyName]),
                         help="How to choose the recommended setting."),
            click.option("--weight", type=float, metavar="0..1",
                         help="For balanced: weight of cost against speed."),
            click.option("--mb-per-s", type=float, metavar="X",
                         help="For cheapest-at-least: the minimum speed."),
            click.option("--usd-per-gb", type=float, metavar="X",
                         help="For fastest-below: the maximum cost."),
            click.option("--max-usd", type=float, metavar="X",
                         help="Do not start if the estimated cost is higher; 5 by default."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


@click.command("run")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@sweep_options
@yes_option
@click.option("--dry-run", is_flag=True, help="Show plan, price and time; start nothing.")
@click.option("--no-wait", is_flag=True, help="Start the sweep, print its name and return.")
@json_option
@stack_options
def run(
    target: Target,
    file: Path | None,
    yes: bool,  # noqa: FBT001 - click passes by name
    dry_run: bool,  # noqa: FBT001 - click passes by name
    no_wait: bool,  # noqa: FBT001 - click passes by name
    as_json: bool,  # noqa: FBT001 - click passes by name
    **options: Any,  # noqa: ANN401 - of many types
) -> None:
    """Measure the settings in FILE; options replace its fields.

    Shows the plan, the time and the cost, asks for confirmation, and shows the progress of every
    cell. Ctrl-C stops the sweep and cleans up.

    Exits with 0 if everything was measured, with 1 if something is missing or the sweep was not
    confirmed, with 2 if the sweep failed.

    Example: bucketsum tune run events/sweep-quick.json --local
    """
    fields = sweep_input(file, sweep_fields(options))
    sweeper = Sweeper(target.find())
    priced = priced_plan(sweeper, fields)
    print_plan(priced)
    if dry_run:
        if as_json:
            print_json(priced.to_json())
        return
    if not priced.plan.samples:
        raise CannotDoError("no cell of this sweep can run; the plan gives the reasons")
    if not confirmed("Start it?", yes=yes):
        note("not started")
        raise SystemExit(ANSWER_IS_NO)
    run_id = new_run_id()
    arn = sweeper.start(run_id, fields)
    if no_wait:
        _print_name(sweeper, run_id, arn, as_json=as_json)
        return
    note(f"started {run_id}")
    execution = ended_execution(sweeper, arn, run_id, priced.plan)
    _print_results(sweeper, run_id, execution, as_json=as_json)


def _print_name(sweeper: Sweeper, run_id: str, arn: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"run_id": run_id, "execution_arn": arn})
        return
    say(run_id)
    note(f"started; {show_command(sweeper, run_id)} shows its progress")


def _print_results(sweeper: Sweeper, run_id: str, execution: Execution, *, as_json: bool) -> None:
    ended_run = settled_run(sweeper, run_id)
    if ended_run is None:
        raise CannotDoError(
            f"the sweep ended before it recorded anything: {execution.status} {execution.cause}"
        )
    results = results_of(sweeper.measurements, run_id)
    if as_json:
        print_json(results_as_json(results))
    else:
        print_results(results)
    raise SystemExit(_EXIT_STATUSES.get(ended_run.status, CANNOT_DO))
