"""The group `bucketsum tune`: a file for each subcommand."""

from __future__ import annotations

import click

from bucketsum_cli.options import OrderedGroup
from bucketsum_cli.tune.commands.apply import apply
from bucketsum_cli.tune.commands.compare import compare
from bucketsum_cli.tune.commands.export import export
from bucketsum_cli.tune.commands.list_runs import list_runs
from bucketsum_cli.tune.commands.prices import prices
from bucketsum_cli.tune.commands.report import report
from bucketsum_cli.tune.commands.run import run
from bucketsum_cli.tune.commands.show import show


@click.group("tune", cls=OrderedGroup)
def tune() -> None:
    """Measure and recommend settings of the hashing function.

    A sweep measures every combination of settings, objects and concurrencies several times; each
    combination is a cell. A run is one execution of a sweep; RUN is its name, or `last` for the
    newest run.
    """


for command in (run, list_runs, show, compare, export, report, apply, prices):
    tune.add_command(command)
