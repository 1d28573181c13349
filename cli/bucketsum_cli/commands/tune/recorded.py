"""`bucketsum tune list`, `show`, `export` and `report`: runs as they are recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

import click

from bucketsum_cli.arguments.options import json_option, limit_option, output_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.terminal.documents import json_text
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.output_files import STDOUT, write_text
from bucketsum_cli.terminal.unexpected import end_if_damaged
from bucketsum_cli.tune.recorded_runs import RecordedRuns, complete_run, no_run
from bucketsum_cli.tune.report import write_report
from bucketsum_cli.tune.report.export import (
    results_as_csv,
    results_as_json,
    rows_as_csv,
    run_as_json,
)
from bucketsum_cli.tune.report.table_view import print_results, print_runs
from bucketsum_cli.tune.results import Results
from bucketsum_lab.protocol.run_records import RunStatus

_run: Final = click.argument("run_id", metavar="RUN", shell_complete=complete_run)

_TEXTS: Final[Mapping[str, Callable[[Results], str]]] = {
    "csv": results_as_csv,
    "rows": rows_as_csv,
    "json": lambda results: json_text(results_as_json(results)) + "\n",
}


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


@click.command("show")
@_run
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


@click.command("export")
@_run
@click.option("--format", "kind", type=click.Choice(["csv", "rows", "json"]), default="json",
              show_default=True,
              help="csv: one line per sample (one invocation); rows: CSV, one line per "
                   "transferred file (workload transfer only); json: everything.")  # fmt: skip
@output_option("Output file; by default -, which is stdout.", default="-")
@json_option()
@stack_options
def export(target: Target, run_id: str, kind: str, file: Path, as_json: bool) -> None:
    """Export everything recorded for RUN, for other programs.

    RUN is a name from `bucketsum tune list`, or `last`.

    With --output, --json prints the path of the written file. Without --output, --json cannot be
    used with --format csv or rows.

    Example: bucketsum tune export last --format csv -o samples.csv
    """
    if as_json and kind != "json" and file == STDOUT:
        raise click.UsageError(
            f"--json cannot be used with --format {kind}, unless there is --output"
        )
    results = RecordedRuns(target).results(run_id)
    write_text(file, _TEXTS[kind](results))
    if file == STDOUT:
        return
    if as_json:
        print_json({"run_id": results.run.run_id, "format": kind, "file": str(file)})
    else:
        note(f"wrote {file}")


@click.command("report")
@_run
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
