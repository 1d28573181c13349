"""The group `bucketsum backfill`: ``backfill BUCKET`` is short for ``backfill start BUCKET``."""

from __future__ import annotations

from typing import Final

import click

from bucketsum_cli.commands.lazy_group import LazyGroup

_RUNS: Final = ("list", "show", "stop", "resume")


def places_of(group: str) -> dict[str, str]:
    """The places of the commands of `backfill`, or of `verify`, for `LazyGroup`."""
    runs = {name: f"bucketsum_cli.commands.backfill.runs:{group}_{name}" for name in _RUNS}
    return {"start": f"bucketsum_cli.commands.{group}.start:start", **runs}


class StartByDefault(LazyGroup):
    """A group whose first command need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Name `start` if the first word is not a command."""
        if args and args[0] not in (*self.places, *ctx.help_option_names):
            if not ctx.resilient_parsing:
                meant = f" For a bucket of this name: `bucketsum backfill start {args[0]}`"
                self.refuse_misspelled(ctx, args[0], meant)
            args = ["start", *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command; `start` for the name of a bucket."""
        return super().get_command(ctx, cmd_name) or super().get_command(ctx, "start")


@click.group("backfill", cls=StartByDefault, places=places_of("backfill"))
def backfill() -> None:
    """Hash the existing objects of a bucket.

    `bucketsum backfill BUCKET` is short for `bucketsum backfill start BUCKET`; see `bucketsum
    backfill start --help`. The backfill runs in the stack, so you can close the terminal. New
    objects never wait for it. Below, BACKFILL is a name from `bucketsum backfill list`.

    Example: bucketsum backfill photos --dry-run
    """
