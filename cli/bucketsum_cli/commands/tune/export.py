"""`bucketsum tune export`: a run as JSON or CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import click

from bucketsum_cli.arguments.options import Target, json_option, output_option, stack_options
from bucketsum_cli.terminal.documents import json_text
from bucketsum_cli.terminal.output import STDOUT, note, print_json, write_text
from bucketsum_cli.tune.recorded_runs import RecordedRuns, complete_run
from bucketsum_cli.tune.report.export import results_as_csv, results_as_json, rows_as_csv

if TYPE_CHECKING:
    from pathlib import Path

    from bucketsum_cli.tune.results import Results


@click.command("export")
@click.argument("run_id", metavar="RUN", shell_complete=complete_run)
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


_TEXTS: Final[Mapping[str, Callable[[Results], str]]] = {
    "csv": results_as_csv,
    "rows": rows_as_csv,
    "json": lambda results: json_text(results_as_json(results)) + "\n",
}
