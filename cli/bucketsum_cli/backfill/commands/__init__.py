"""The group `bucketsum backfill`: ``backfill BUCKET`` is short for ``backfill start BUCKET``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bucketsum_cli.backfill.commands.runs import list_runs, resume, show, stop
from bucketsum_cli.backfill.commands.start import start
from bucketsum_cli.options import OrderedGroup

if TYPE_CHECKING:
    from typing import Any


class StartByDefault(OrderedGroup):
    """A group whose first command need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Name `start` if the first word is not a command."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["start", *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Any:  # noqa: ANN401 - click's type
        """The command; `start` for the name of a bucket."""
        return super().get_command(ctx, cmd_name) or start


@click.group("backfill", cls=StartByDefault)
def backfill() -> None:
    """Hash the existing objects of a bucket.

    `bucketsum backfill BUCKET` is short for `bucketsum backfill start BUCKET`; see `bucketsum
    backfill start --help`. The backfill runs in the stack, so you can close the terminal. New
    objects never wait for it. BACKFILL is a name from `bucketsum backfill list`.

    Example: bucketsum backfill photos --dry-run
    """


for command in (start, list_runs, show, stop, resume):
    backfill.add_command(command)
