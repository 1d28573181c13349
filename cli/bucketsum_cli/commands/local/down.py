"""`bucketsum local down`: stop the emulator."""

from __future__ import annotations

import click

from bucketsum_cli.local.deploy import locked, stop
from bucketsum_cli.machine import emulator_state
from bucketsum_cli.options import json_option
from bucketsum_cli.terminal.output import print_json


@click.command("down")
@json_option
def down(as_json: bool) -> None:
    """Stop the local emulator and delete all its data."""
    project = emulator_state.local_project()
    with locked(project):
        stopped = stop(project)
    if as_json:
        print_json({"stopped": stopped})
    else:
        click.echo("stopped" if stopped else "the local emulator was not running")
