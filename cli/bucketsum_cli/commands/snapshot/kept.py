"""`bucketsum snapshot list` and `delete`."""

from __future__ import annotations

from dataclasses import replace

import click

from bucketsum_cli.arguments.options import json_option, yes_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.commands.asking import named_snapshot
from bucketsum_cli.commands.snapshot.take import KeptSnapshot
from bucketsum_cli.snapshots.folder import Snapshot, snapshots, snapshots_folder
from bucketsum_cli.snapshots.keeping import delete_snapshot, reason_kept, size_of
from bucketsum_cli.terminal.columns import Column
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.formatting import count_text, duration_text, moment_text, size_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.tables import print_table

_COLUMNS = (
    Column("folder", shrinks=True), Column("stack"), Column("rows", right=True),
    Column("listed", right=True), Column("ended (UTC)"), Column("age", right=True),
    Column("size", right=True), Column("kept"),
)  # fmt: skip


@click.command("list")
@json_option(list[KeptSnapshot])
def list_snapshots(as_json: bool) -> None:
    """Show the snapshots, the newest first, and why they are kept.

    They are in the folder that BUCKETSUM_HOME names, else in bucketsum/snapshots in the folder
    XDG_DATA_HOME or ~/.local/share. One that a question took is removed after three newer ones of
    the same table. Those that --to wrote to another folder are not shown.

    Example: bucketsum snapshot list
    """
    kept = snapshots()
    if as_json:
        print_json([KeptSnapshot.of(snapshot) for snapshot in kept])
        return
    rows = (
        [
            str(snapshot.folder), snapshot.stack, f"{snapshot.rows:,}",
            count_text(len(snapshot.listed), "bucket"), moment_text(snapshot.ended_at),
            duration_text(snapshot.age_seconds), size_text(size_of(snapshot)),
            reason_kept(snapshot, (other for other in kept if other.source == snapshot.source)),
        ]
        for snapshot in kept
    )  # fmt: skip
    if not print_table(_COLUMNS, rows):
        take = command_line("snapshot")
        note(f"there are no snapshots in {snapshots_folder()}; `{take}` takes one")


@click.command("delete")
@click.argument("name", metavar="last|FOLDER|URL")
@yes_option
@stack_options
def delete(target: Target, name: str, yes: bool) -> None:
    """Delete a snapshot, and the tables that Athena made of it.

    Of a snapshot in S3, DynamoDB's export and its list stay there.

    Example: bucketsum snapshot delete last
    """
    snapshot = named_snapshot(target, name, of_stack=False)
    what = f"{snapshot.name}, {count_text(snapshot.rows, 'row')}"
    confirm(f"Delete {what}?", "nothing was deleted", yes=yes)
    _delete_tables_of(target, snapshot)
    if snapshot.place:
        note(f"the export stays in {snapshot.place}")
    if delete_snapshot(snapshot):
        say(f"deleted {snapshot.folder}")
    else:
        say(f"deleted the snapshot in {snapshot.folder}; the folder keeps its other files")


def _delete_tables_of(target: Target, snapshot: Snapshot) -> None:
    """Delete the tables that Athena wrote for *snapshot*, if its rows are in S3."""
    from bucketsum_cli.snapshots.glue_tables import (  # noqa: PLC0415 - boto3
        database_of,
        delete_tables,
    )

    if snapshot.url:
        region = None if target.local else snapshot.region
        delete_tables(replace(target, region=region).connect()[0], database_of(snapshot))
