"""`bucketsum tune list`: the recorded runs, newest first."""

from __future__ import annotations

from itertools import islice

import click

from bucketsum_cli.arguments.options import Target, json_option, limit_option, stack_options
from bucketsum_cli.terminal.errors import end_if_damaged
from bucketsum_cli.terminal.output import note, print_json
from bucketsum_cli.tune.recorded_runs import RecordedRuns, no_run
from bucketsum_cli.tune.report.export import run_as_json
from bucketsum_cli.tune.report.table_view import print_runs


@click.command("list")
@limit_option("runs to show")
@json_option()
@stack_options
def list_runs(target: Target, limit: int, as_json: bool) -> None:
    """List runs, newest first.

    Exits with 1 if another program damaged the record of a run.

    Example: bucketsum tune list
    """
    runs = list(islice(RecordedRuns(target).runs(), limit))
    if as_json:
        print_json([run_as_json(run) for run in runs])
    elif runs:
        print_runs(runs)
    else:
        note(no_run())
    end_if_damaged(runs)
