"""The group `bucketsum snapshot`, which takes a snapshot if no other command is named."""

from __future__ import annotations

from typing import Final

import click

from bucketsum_cli.commands.lazy_group import DefaultCommandGroup

_PLACES: Final = {
    "take": "bucketsum_cli.commands.snapshot.take:take_snapshot",
    "list": "bucketsum_cli.commands.snapshot.kept:list_snapshots",
    "delete": "bucketsum_cli.commands.snapshot.kept:delete",
}


@click.group(
    "snapshot", cls=DefaultCommandGroup, places=_PLACES, default="take", no_args_is_help=False
)
def snapshot() -> None:
    """Copy everything that a stack has recorded to a local folder.

    `bucketsum snapshot` is short for `bucketsum snapshot take`. Questions about it are `bucketsum
    duplicates`, `compare`, `coverage`, `export`, `find --list` and `sql`; each takes a new snapshot
    unless --snapshot names one. A snapshot is never changed.

    Example: bucketsum snapshot --listing
    """
