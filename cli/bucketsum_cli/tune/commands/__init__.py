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
    """Measure settings of the hashing function, and recommend the best.

    A run is one sweep over settings; RUN is its name, or `last` for the newest run. A cell is one
    setting with one object and one concurrency, and is measured several times.
    """


for command in (run, list_runs, show, compare, export, report, apply, prices):
    tune.add_command(command)
