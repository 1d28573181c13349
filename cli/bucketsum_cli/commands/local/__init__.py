"""`bucketsum local`: one file for each subcommand."""

from __future__ import annotations

from typing import Final

import click

from bucketsum_cli.commands.lazy_group import LazyGroup

_PLACES: Final = {
    name: f"bucketsum_cli.commands.local.{name}:{name}"
    for name in ("up", "status", "env", "logs", "down", "demo")
}


@click.group(cls=LazyGroup, places=_PLACES)
def local() -> None:
    """Run the local AWS emulator (ministack).

    The emulator needs no AWS account, costs nothing, and uses the real template. Numbers measured
    on it say nothing about AWS.

    In a clone of bucketsum, the commands use the emulator of that clone; elsewhere, the emulator of
    the clone from which bucketsum was installed. To use another emulator, set the environment
    variable BUCKETSUM_HOME to its folder (default: .bucketsum in the clone).
    """
