"""`bucketsum snapshot take`: all rows of a stack, into a folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import click

from bucketsum_cli.arguments.options import json_option, yes_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.buckets.served_buckets import buckets_of
from bucketsum_cli.snapshots.folder import LIVE, Snapshot
from bucketsum_cli.snapshots.keeping import size_of
from bucketsum_cli.snapshots.taking import LAST, Taking, keys_in, take
from bucketsum_cli.terminal.documents import INLINE
from bucketsum_cli.terminal.formatting import count_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import print_json, say


@dataclass(frozen=True, slots=True)
class KeptSnapshot:
    """A snapshot: all rows of a stack at one time."""

    snapshot: Snapshot = field(metadata=INLINE)
    rows: Annotated[int, "Items of the digests table."]
    size_bytes: Annotated[int, "Its size on the disk, with the tables of questions."]

    @classmethod
    def of(cls, snapshot: Snapshot) -> KeptSnapshot:
        """The document of *snapshot*."""
        return cls(snapshot, snapshot.rows, size_of(snapshot))


@click.command("take")
@click.option(
    "--via",
    type=click.Choice(["scan", "export"]),
    default="scan",
    show_default=True,
    help="Read the table, or have DynamoDB export it to S3 (for more than ten million rows).",
)
@click.option(
    "--export-to",
    metavar="URL",
    help="With --via export: where DynamoDB writes, s3://BUCKET/FOLDER. The files stay there.",
)
@click.option("--listing", is_flag=True, help="Also list what S3 has now in the stack's buckets.")
@click.option(
    "--inventory",
    "inventories",
    multiple=True,
    metavar="URL|live",
    help="Instead of listing a bucket, read the S3 inventory with this manifest.json (may be "
    "repeated); live is S3 Metadata's live inventory table of every other bucket. With --via "
    "export, Athena reads them where they are; ask live ones within a day.",
)
@click.option(
    "--to", type=click.Path(path_type=Path), metavar="FOLDER", help="A new folder for it."
)
@yes_option
@json_option(KeptSnapshot)
@stack_options
def take_snapshot(
    target: Target,
    via: str,
    export_to: str | None,
    listing: bool,
    inventories: tuple[str, ...],
    to: Path | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Copy all rows of a stack into a folder, as DynamoDB exports them.

    Shows the time and the price, and asks, if the table has more than a million rows. --via export
    needs no read capacity. It needs point-in-time recovery, which the stack has, and a bucket in
    the same Region.

    Example: bucketsum snapshot --listing
    """
    if (via == "export") != (export_to is not None):
        raise click.UsageError("--via export and --export-to must be used together")
    stack = target.find_kept()
    listed = keys_in(
        stack.client("s3"), inventories, buckets_of(stack) if listing or LIVE in inventories else ()
    )
    snapshot = take(stack, Taking(export_to, listed, to=to, yes=yes, is_kept=True))
    if as_json:
        print_json(KeptSnapshot.of(snapshot))
    else:
        name = snapshot.name if to or snapshot.place else LAST
        also = f" and a listing of {count_text(len(listed), 'bucket')}" if listed else ""
        say(
            f"{count_text(snapshot.rows, 'row')}{also} in {snapshot.name}; ask it with "
            f"`{command_line('duplicates', '--snapshot', name)}`, or see "
            f"`{command_line('snapshot', '--help')}`"
        )
