"""`bucketsum tune report`: a run as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from bucketsum_cli.arguments.options import Target, json_option, output_option, stack_options
from bucketsum_cli.terminal.output import STDOUT, print_json, say
from bucketsum_cli.tune.recorded_runs import RecordedRuns, complete_run
from bucketsum_cli.tune.report.write import write_report


@click.command("report")
@click.argument("run_id", metavar="RUN", shell_complete=complete_run)
@output_option("Output file; by default the run's name with .html; - is stdout.")
@json_option()
@stack_options
def report(target: Target, run_id: str, file: Path | None, as_json: bool) -> None:
    """Write RUN as a self-contained HTML page with plots.

    RUN is a name from `bucketsum tune list`, or `last`.

    Example: bucketsum tune report last -o report.html
    """
    if as_json and file == STDOUT:
        raise click.UsageError("--json cannot be used with --output -")
    results = RecordedRuns(target).results(run_id)
    file = file or Path(f"{results.run.run_id}.html")
    write_report(results, file)
    if as_json:
        print_json({"run_id": results.run.run_id, "file": str(file)})
    elif file != STDOUT:
        say(str(file))
