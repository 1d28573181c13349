"""`bucketsum tune export`: a run as JSON or CSV."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bucketsum_cli.options import Target, json_option, stack_options
from bucketsum_cli.terminal.output import json_text, note, print_json, printable, write_text
from bucketsum_cli.tune.export import results_as_csv, results_as_json, rows_as_csv
from bucketsum_cli.tune.recorded_runs import RecordedRuns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bucketsum_cli.tune.results import Results


@click.command("export")
@click.argument("run_id", metavar="RUN")
@click.option("--format", "kind", type=click.Choice(["csv", "rows", "json"]), default="json",
              show_default=True,
              help="csv: one line per sample (one invocation); rows: CSV, one line per part of a "
                   "sample (such as a file), for workloads that record parts; json: "
                   "everything.")  # fmt: skip
@click.option("-o", "--output", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="Output file; the default is stdout.")  # fmt: skip
@json_option
@stack_options
def export(target: Target, run_id: str, kind: str, file: Path | None, as_json: bool) -> None:
    """Export everything recorded for RUN, for other programs.

    RUN is a name from `bucketsum tune list`, or `last`.

    --format is the format of the exported data. With --output, --json prints the path of the file
    as JSON; without --output, --json cannot be used with --format csv or rows.

    Example: bucketsum tune export last --format csv -o samples.csv
    """
    if as_json and kind != "json" and file is None:
        raise click.UsageError(
            f"--json cannot be used with --format {kind}, unless there is --output"
        )
    results = RecordedRuns(target).results(run_id)
    text = _TEXTS[kind](results)
    if file is None:
        is_terminal = sys.stdout.isatty()
        click.echo(_escaped(text) if is_terminal else text, nl=False)
    else:
        write_text(file, text)
        if as_json:
            print_json({"run_id": results.run.run_id, "format": kind, "file": str(file)})
        else:
            note(f"wrote {file}")


_TEXTS: Final[Mapping[str, Callable[[Results], str]]] = {
    "csv": results_as_csv,
    "rows": rows_as_csv,
    "json": lambda results: json_text(results_as_json(results)) + "\n",
}


def _escaped(text: str) -> str:
    """*text* with escapes for control characters, which keys may contain."""
    return "\n".join(map(printable, text.replace("\r\n", "\n").split("\n")))
