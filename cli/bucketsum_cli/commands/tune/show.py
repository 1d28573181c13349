"""`bucketsum tune show`: the table of a run and its recommendation."""

from __future__ import annotations

import click

from bucketsum_cli.arguments.options import Target, json_option, stack_options
from bucketsum_cli.terminal.output import note, print_json
from bucketsum_cli.tune.recorded_runs import RecordedRuns, complete_run
from bucketsum_cli.tune.report.export import results_as_json
from bucketsum_cli.tune.report.table_view import print_results
from bucketsum_lab.protocol.run_records import RunStatus


@click.command("show")
@click.argument("run_id", metavar="RUN", shell_complete=complete_run)
@json_option()
@stack_options
def show(target: Target, run_id: str, as_json: bool) -> None:
    """Show times and their spread, MB/s and cost of each cell of RUN.

    RUN is a name from `bucketsum tune list`, or `last`.

    Example: bucketsum tune show last
    """
    results = RecordedRuns(target).results(run_id)
    if as_json:
        print_json(results_as_json(results))
        return
    print_results(results)
    if results.run.status is RunStatus.RUNNING:
        note("the run is still in progress; statistics follow when it has ended")
