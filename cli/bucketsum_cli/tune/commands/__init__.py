"""The group `bucketsum tune` and its commands that only read."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bucketsum_cli.options import OrderedGroup, json_option, stack_options
from bucketsum_cli.output import note, print_json, print_table, say
from bucketsum_cli.tune import comparison as comparing
from bucketsum_cli.tune.commands.apply import apply
from bucketsum_cli.tune.commands.run import run
from bucketsum_cli.tune.export import results_as_csv, results_as_json, run_as_json
from bucketsum_cli.tune.results import is_running
from bucketsum_cli.tune.sweeper import Sweeper, found_run
from bucketsum_cli.tune.table_view import LOCAL_NOTE, print_results, print_runs
from bucketsum_cli.tune.writing import json_text, write, write_report

if TYPE_CHECKING:
    from bucketsum_cli.options import Target

_RUNS_SHOWN: Final = 20


@click.group("tune", cls=OrderedGroup)
def tune() -> None:
    """Measure memory, chunk sizes and ways to unzip, and deploy what is best.

    RUN is a run's name, or `last`.
    """


@click.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=_RUNS_SHOWN, show_default=True,
              metavar="N", help="How many to show.")  # fmt: skip
@json_option
@stack_options
def list_runs(target: Target, limit: int, as_json: bool) -> None:  # noqa: FBT001 - click's way
    """List runs, the newest first.

    Example: bucketsum tune list
    """
    runs = list(islice(Sweeper(target.find()).measurements.runs(), limit))
    if as_json:
        print_json([run_as_json(one) for one in runs])
    elif runs:
        print_runs(runs)
    else:
        note("no sweep has run yet; start one with `bucketsum tune run`")


@click.command("show")
@click.argument("run_id", metavar="RUN")
@json_option
@stack_options
def show(target: Target, run_id: str, as_json: bool) -> None:  # noqa: FBT001 - click's way
    """Show the table of RUN: every run's seconds, MB/s, spread and cost of each cell.

    Example: bucketsum tune show last
    """
    results = found_run(target, run_id)
    if as_json:
        print_json(results_as_json(results))
        return
    print_results(results)
    if is_running(results.run):
        note("it is still running: statistics come at its end")


@click.command("compare")
@click.argument("before", metavar="RUN")
@click.argument("after", metavar="RUN")
@click.option("--after-stack", metavar="NAME", help="Stack of the second RUN, where another.")
@json_option
@stack_options
def compare(
    target: Target,
    before: str,
    after: str,
    after_stack: str | None,
    as_json: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """Compare two runs cell by cell: how speed and cost changed, and whether chance explains it.

    Example: bucketsum tune compare 20261121T041500-abcdef last
    """
    if target.local and after_stack:
        raise click.UsageError("--after-stack does not go with --local: it has one stack")
    one = found_run(target, before)
    other = found_run(replace(target, stack=after_stack) if after_stack else target, after)
    pairs = comparing.pairs_of(one, other)
    differences = list(comparing.differences(one, other))
    if as_json:
        print_json(
            {
                "before": run_as_json(one.run),
                "after": run_as_json(other.run),
                "differences": differences,
                "cells": [comparing.as_json(pair) for pair in pairs],
            }
        )
        return
    say(f"before: {one.run.run_id}   after: {other.run.run_id}")
    for difference in differences:
        say(f"they differ in {difference}", "yellow")
    if one.is_local or other.is_local:
        say(LOCAL_NOTE, "yellow")
    table = comparing.Table(pairs)
    print_table(table.columns, map(table.row, pairs))


@click.command("export")
@click.argument("run_id", metavar="RUN")
@click.option("--format", "kind", type=click.Choice(["csv", "json"]), default="json",
              show_default=True, help="A line a sample, or everything.")  # fmt: skip
@click.option("-o", "--output", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="Where to; stdout otherwise.")  # fmt: skip
@stack_options
def export(target: Target, run_id: str, kind: str, file: Path | None) -> None:
    """Write all that is recorded of RUN, for other programs.

    Example: bucketsum tune export last --format csv -o samples.csv
    """
    results = found_run(target, run_id)
    text = results_as_csv(results) if kind == "csv" else json_text(results_as_json(results))
    if file is None:
        click.echo(text, nl=False)
    else:
        write(file, text)
        note(f"wrote {file}")


@click.command("report")
@click.argument("run_id", metavar="RUN")
@click.option("-o", "--output", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="Where to; RUN.html otherwise.")  # fmt: skip
@stack_options
def report(target: Target, run_id: str, file: Path | None) -> None:
    """Write RUN as one HTML page with plots, which opens offline.

    Example: bucketsum tune report last -o report.html
    """
    results = found_run(target, run_id)
    file = file or Path(f"{results.run.run_id}.html")
    write_report(results, file)
    say(str(file))


for command in (run, list_runs, show, compare, export, report, apply):
    tune.add_command(command)
