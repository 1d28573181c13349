"""The group `bucketsum snapshot`, which takes a snapshot if no other command is named."""

from __future__ import annotations

from typing import Final

import click

from bucketsum_cli.commands.lazy_group import LazyGroup

_PLACES: Final = {
    "take": "bucketsum_cli.commands.snapshot.take:take_snapshot",
    "list": "bucketsum_cli.commands.snapshot.kept:list_snapshots",
    "delete": "bucketsum_cli.commands.snapshot.kept:delete",
}


class TakeByDefault(LazyGroup):
    """A group whose first command need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Name `take` if the first word is neither a command nor ``--help``."""
        if not args or args[0] not in (*self.places, *ctx.help_option_names):
            args = ["take", *args]
        return super().parse_args(ctx, args)


@click.group("snapshot", cls=TakeByDefault, places=_PLACES)
def snapshot() -> None:
    """Copy everything that a stack has recorded to a local folder.

    `bucketsum snapshot` is short for `bucketsum snapshot take`. Questions about it are `bucketsum
    duplicates`, `compare`, `coverage`, `export`, `find --list` and `sql`; each takes a new snapshot
    unless --snapshot names one. A snapshot is never changed.

    Example: bucketsum snapshot --listing
    """
