"""`bucketsum local down`: stop the emulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import click

from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.commands.local.deployment import locked, stop
from bucketsum_cli.emulator import emulator_state
from bucketsum_cli.terminal.output import print_json


@dataclass(frozen=True, slots=True)
class StoppedEmulator:
    """The result of `local down`."""

    stopped: Annotated[bool, "Whether the emulator was running."]


@click.command("down")
@json_option(StoppedEmulator)
def down(as_json: bool) -> None:
    """Stop the local emulator and delete all its data.

    Snapshots stay: `bucketsum snapshot list` shows where they are.
    """
    project = emulator_state.local_project()
    with locked(project):
        stopped = stop(project)
    if as_json:
        print_json(StoppedEmulator(stopped))
    else:
        click.echo("stopped" if stopped else "the local emulator was not running")
