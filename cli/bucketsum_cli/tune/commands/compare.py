"""`bucketsum tune compare`: two runs, cell by cell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from bucketsum_cli.options import json_option, stack_options
from bucketsum_cli.output import print_json, say
from bucketsum_cli.tables import print_table
from bucketsum_cli.tune.comparison import differences, pair_as_json, pairs_of
from bucketsum_cli.tune.comparison_table import ComparisonTable
from bucketsum_cli.tune.export import run_as_json
from bucketsum_cli.tune.recorded_runs import results_in
from bucketsum_cli.tune.table_view import LOCAL_NOTE

if TYPE_CHECKING:
    from bucketsum_cli.options import Target
    from bucketsum_cli.tune.results import Results


@click.command("compare")
@click.argument("before_id", metavar="RUN")
@click.argument("after_id", metavar="RUN")
@click.option("--after-stack", metavar="NAME",
              help="Stack of the second run, if different; not with --local.")  # fmt: skip
@json_option
@stack_options
def compare(
    target: Target, before_id: str, after_id: str, after_stack: str | None, as_json: bool
) -> None:
    """Compare the speed and cost of two runs, cell by cell.

    Each RUN is a name from `bucketsum tune list`, or `last`.

    Example: bucketsum tune compare 20261121T041500-abcdef last
    """
    if target.local and after_stack:
        raise click.UsageError(
            "--after-stack cannot be used with --local: the local emulator has one stack"
        )
    before = results_in(target, before_id)
    if after_stack:
        target = replace(target, stack=after_stack, is_named=True)
    after = results_in(target, after_id)
    if as_json:
        print_json(
            {
                "before": run_as_json(before.run),
                "after": run_as_json(after.run),
                "differences": list(differences(before, after)),
                "cells": [pair_as_json(pair) for pair in pairs_of(before, after)],
            }
        )
    else:
        _print(before, after)


def _print(before: Results, after: Results) -> None:
    say(f"before: {before.run.run_id}   after: {after.run.run_id}")
    for difference in differences(before, after):
        say(f"they differ in {difference}", "yellow")
    if before.is_local or after.is_local:
        say(LOCAL_NOTE, "yellow")
    pairs = pairs_of(before, after)
    table = ComparisonTable(pairs, per_tb=bool(before.machine or after.machine))
    print_table(table.columns, map(table.row, pairs))
