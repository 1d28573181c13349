"""`bucketsum local`: one file for each subcommand."""

from __future__ import annotations

import click

from bucketsum_cli.local.commands.demo import demo
from bucketsum_cli.local.commands.down import down
from bucketsum_cli.local.commands.logs import logs
from bucketsum_cli.local.commands.status import status
from bucketsum_cli.local.commands.up import up
from bucketsum_cli.options import OrderedGroup


@click.group(cls=OrderedGroup)
def local() -> None:
    """Run the local AWS emulator (ministack).

    The emulator needs no AWS account, costs nothing, and uses the real template. Numbers measured
    on it say nothing about AWS.

    The command uses the emulator of the clone of bucketsum that contains the current folder, or
    else of the clone that it is installed from. To use another emulator, set the environment
    variable BUCKETSUM_HOME to its folder (default: .bucketsum in the clone).
    """


for command in (up, status, logs, down, demo):
    local.add_command(command)
