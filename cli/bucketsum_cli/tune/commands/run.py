"""`bucketsum tune run`: plan, ask, start, watch, tell."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bucketsum.sweep.axes import Workload
from bucketsum.sweep.measurements_table import RunStatus
from bucketsum.sweep.strategy import StrategyName
from bucketsum_cli.errors import ANSWER_IS_NO, INTERRUPTED, CannotDoError
from bucketsum_cli.options import json_option, stack_options, yes_option
from bucketsum_cli.output import confirmed, note, print_json, say
from bucketsum_cli.tune.export import results_as_json
from bucketsum_cli.tune.plan_view import Priced, priced_plan, print_plan
from bucketsum_cli.tune.progress import follow, settled
from bucketsum_cli.tune.results import results_of
from bucketsum_cli.tune.sweep_input import Listed, Size, Streams, sweep_asked_for
from bucketsum_cli.tune.sweeper import Sweeper
from bucketsum_cli.tune.table_view import print_results

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bucketsum_cli.options import Target
    from bucketsum_cli.tune.sweeper import Execution

EXIT_STATUSES: Final[Mapping[RunStatus, int]] = {RunStatus.SUCCEEDED: 0, RunStatus.PARTIAL: 1}
_EXIT_OTHERWISE: Final = 2

_WHOLE_NUMBERS: Final = Listed("numbers", click.INT)
_STREAMS: Final = Listed("numbers", Streams())
_NAMES: Final = Listed("names", click.STRING)
_TAKEN_AS_THEY_ARE: Final = ("streams", "workload", "mode", "inflate", "concurrency", "runs")
_SIZES: Final = Listed("sizes", Size())


def axis_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options for what a file may say too; given here, they take its place."""
    for option in reversed(
        (
            click.option("--memory", "memory_mb", type=_WHOLE_NUMBERS, metavar="MB,...",
                         help="Memory sizes, as 128,512,1769."),
            click.option("--chunk", "chunk_bytes", type=_SIZES, metavar="SIZE,...",
                         help="Chunk sizes, as 256KiB,10MB."),
            click.option("--object-size", "object_bytes", type=_SIZES, metavar="SIZE,...",
                         help="Sizes of objects to make and read, as 100MB,1GB."),
            click.option("--key", "keys", multiple=True, metavar="KEY",
                         help="An object in the sweeps' bucket; may be repeated."),
            click.option("--streams", type=_STREAMS, metavar="N,...",
                         help="Connections that read one object, as 1,4,auto."),
            click.option("--workload", type=click.Choice([*Workload]),
                         help="What is done with the bytes."),
            click.option("--mode", type=_NAMES, metavar="MODE,...",
                         help="For unzip: stream, tmp, discard."),
            click.option("--inflate", type=_NAMES, metavar="ENGINE,...",
                         help="For unzip: isal, zlib."),
            click.option("--concurrency", type=_WHOLE_NUMBERS, metavar="N,...",
                         help="How many invocations of a cell at once."),
            click.option("--runs", type=int, metavar="N", help="Runs of each cell."),
            click.option("--strategy", type=click.Choice([*StrategyName]),
                         help="What to recommend."),
            click.option("--weight", type=float, metavar="0..1",
                         help="For balanced: how much cost counts against speed."),
            click.option("--mb-per-s", type=float, metavar="X",
                         help="For cheapest-at-least: the speed to reach."),
            click.option("--usd-per-gb", type=float, metavar="X",
                         help="For fastest-below: the cost not to exceed."),
            click.option("--max-usd", type=float, metavar="X",
                         help="Do not start what is estimated to cost more."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


@click.command("run")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@axis_options
@yes_option
@click.option("--dry-run", is_flag=True, help="Show plan, price and time; start nothing.")
@click.option("--no-wait", is_flag=True, help="Start it, print its name and leave it alone.")
@json_option
@stack_options
def run(
    target: Target,
    file: Path | None,
    yes: bool,  # noqa: FBT001 - click passes by name
    dry_run: bool,  # noqa: FBT001 - click passes by name
    no_wait: bool,  # noqa: FBT001 - click passes by name
    as_json: bool,  # noqa: FBT001 - click passes by name
    **axes: Any,  # noqa: ANN401 - of many types
) -> None:
    """Measure memory, chunk sizes and more as FILE says, and options in its stead.

    Shows what it will do, take and cost, asks, and shows every cell's progress. Ctrl-C stops it
    and cleans up.

    Exits with 0 where all was measured, 1 where something is missing, 2 where it failed.

    Example: bucketsum tune run events/sweep-quick.json --local
    """
    asked = sweep_asked_for(file, _as_fields(axes))
    sweeper = Sweeper(target.find())
    priced = priced_plan(sweeper, asked)
    print_plan(priced)
    if dry_run:
        if as_json:
            print_json(priced.to_json())
        return
    if not confirmed("Start it?", yes=yes):
        note("not started")
        raise SystemExit(ANSWER_IS_NO)
    run_id = new_run_id()
    arn = sweeper.start(run_id, asked)
    if no_wait:
        _tell_name(sweeper, run_id, arn, as_json=as_json)
        return
    note(f"started {run_id}")
    _tell(sweeper, run_id, watched(sweeper, arn, run_id, priced), as_json=as_json)


def new_run_id() -> str:
    """A name that sorts by time and that nobody else takes."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def _as_fields(axes: Mapping[str, Any]) -> dict[str, Any]:
    """Options as the fields of a sweep's input; None where one was not given."""
    strategy = {
        name: value
        for name, value in (
            ("name", axes["strategy"]),
            ("weight", axes["weight"]),
            ("mb_per_s", axes["mb_per_s"]),
            ("usd_per_gb", axes["usd_per_gb"]),
        )
        if value is not None
    }
    if strategy and "name" not in strategy:
        raise click.UsageError("--weight, --mb-per-s and --usd-per-gb need a --strategy")
    return {
        "memory_mb": axes["memory_mb"],
        "chunk_bytes": axes["chunk_bytes"],
        "object_bytes": axes["object_bytes"],
        "keys": list(axes["keys"]) or None,
        **{
            name: axes[name]
            for name in ("streams", "workload", "mode", "inflate", "concurrency", "runs")
        },
        "strategy": strategy or None,
        "limits": None if axes["max_usd"] is None else {"max_usd": axes["max_usd"]},
    }


def _tell_name(sweeper: Sweeper, run_id: str, arn: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"run_id": run_id, "execution_arn": arn})
        return
    say(run_id)
    note(f"started; {_show(sweeper, run_id)} shows how far it is")


def _show(sweeper: Sweeper, run_id: str) -> str:
    return f"`bucketsum tune show {run_id}{' --local' if sweeper.is_local else ''}`"


def watched(sweeper: Sweeper, arn: str, run_id: str, priced: Priced) -> Execution:
    """The execution once it is over; Ctrl-C stops it and ends the command."""
    try:
        return follow(sweeper, arn, run_id, priced.plan)
    except KeyboardInterrupt:
        note("stopping; Ctrl-C again leaves the rest to the stack")
        sweeper.stop(arn)
        note(
            "the stack now removes the versions that this run published and sets the prober's "
            "memory back; samples stay, and so do the objects, for the next sweep"
        )
        _wait_for_clean_up(sweeper, run_id)
        raise SystemExit(INTERRUPTED) from None


def _wait_for_clean_up(sweeper: Sweeper, run_id: str) -> None:
    ended = settled(sweeper, run_id)
    if ended is None:
        note("it had not recorded anything yet")
    elif ended.status is RunStatus.RUNNING:
        note(f"it has not said yet that it is done; {_show(sweeper, run_id)} will")
    else:
        note(f"{ended.status}; {_show(sweeper, run_id)} shows what was measured until then")


def _tell(sweeper: Sweeper, run_id: str, execution: Execution, *, as_json: bool) -> None:
    ended = settled(sweeper, run_id)
    if ended is None:
        raise CannotDoError(
            f"the sweep ended before it began: {execution.status} {execution.cause}"
        )
    results = results_of(sweeper.measurements, run_id)
    if as_json:
        print_json(results_as_json(results))
    else:
        print_results(results)
    raise SystemExit(EXIT_STATUSES.get(ended.status, _EXIT_OTHERWISE))
