"""The snapshot that a question is asked of: a new one, or the one that ``--snapshot`` names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

import click
from click.decorators import FC

from bucketsum_cli.arguments.target import Target
from bucketsum_cli.snapshots.database import Database, require_engine
from bucketsum_cli.snapshots.folder import Listed, Snapshot
from bucketsum_cli.snapshots.tables import open_snapshot, open_snapshots
from bucketsum_cli.snapshots.taking import LAST, Taking, buckets_of, kept_snapshot, take
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import duration_text, moment_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note

snapshot_option = click.option(
    "--snapshot",
    "snapshot_name",
    metavar="last|FOLDER",
    help="Ask the last snapshot, or the one in FOLDER; by default, a new one is taken.",
)

_WORKGROUP: Final = "bucketsum.workgroup"


def _keep_workgroup(context: click.Context, _: click.Parameter, name: str) -> None:
    context.meta[_WORKGROUP] = name


def athena_option(command: FC) -> FC:
    """The options ``--athena``, and ``--workgroup``, which `by_athena` finds in the context."""
    for option in (
        click.option(
            "--workgroup",
            envvar="ATHENA_WORKGROUP",
            show_envvar=True,
            default="primary",
            show_default=True,
            metavar="NAME",
            expose_value=False,
            callback=_keep_workgroup,
            help="The workgroup of Athena that answers.",
        ),
        click.option(
            "--athena",
            metavar="URL",
            help="Have Athena answer, from tables that are written to s3://BUCKET/FOLDER.",
        ),
    ):
        command = option(command)
    return command


def database_of(
    target: Target, name: str | None, taking: Taking, athena: str | None = None
) -> tuple[Database, Snapshot]:
    """The database of the snapshot *name*, or of a new one as in *taking*; notes which, how old.

    With the URL *athena*, the database is asked by Athena.

    Raises:
        CannotDoError: It lacks the listing that *taking* wants.
    """
    require_engine()
    snapshot = snapshot_for(target, name, taking)
    require_listing(snapshot, taking.listed)
    database = open_snapshot(snapshot)
    return by_athena(target, database, athena, snapshot), snapshot


def databases_of(target: Target, named: Mapping[str, str]) -> Database:
    """A database of several snapshots, by their names; notes how old each is."""
    require_engine()
    return open_snapshots(
        {name: snapshot_for(target, folder, Taking()) for name, folder in named.items()}
    )


def by_athena(
    target: Target, database: Database, url: str | None, snapshot: Snapshot | None = None
) -> Database:
    """Return *database*, or, with a *url*, one over the same tables that asks Athena.

    Tables that belong to no *snapshot* are deleted when the command ends.
    """
    if url is None:
        return database
    from bucketsum_cli.snapshots.athena import Athena, place_for  # noqa: PLC0415 - boto3

    aws, _ = target.connect()
    context = click.get_current_context()
    place = context.with_resource(place_for(aws, url, snapshot))
    return Database(database.local, Athena(database.local, aws, place, context.meta[_WORKGROUP]))


def delete_tables_of(target: Target, snapshot: Snapshot) -> None:
    """Delete the tables that were written for Athena from *snapshot*, if there are any."""
    from bucketsum_cli.snapshots.athena import delete_tables, kept_place  # noqa: PLC0415 - boto3

    if place := kept_place(snapshot):
        region = None if target.local else place.region
        delete_tables(replace(target, region=region).connect()[0], place)


def snapshot_for(target: Target, name: str | None, taking: Taking) -> Snapshot:
    """The snapshot *name*, or a new one as in *taking*; notes which it is, and how old."""
    if name is None:
        snapshot = take(target.find(), taking)
    else:
        snapshot = kept_snapshot(name, target.find() if name == LAST else None)
    note(
        f"snapshot {snapshot.folder}: {snapshot.rows:,} rows of {moment_text(snapshot.ended_at)} "
        f"UTC, {duration_text(max(0.0, snapshot.age_seconds))} old"
    )
    return snapshot


def require_rows_listed(database: Database, snapshot: Snapshot, prefix: str) -> None:
    """Refuse a *snapshot* that has no listing of all buckets that its rows are of.

    Raises:
        CannotDoError: As `require_listing`.
    """
    rows = database.local.run("SELECT DISTINCT bucket FROM versions ORDER BY bucket")
    require_listing(snapshot, [Listed(bucket, prefix) for (bucket,) in rows])


def keys_to_list(target: Target, bucket: str | None, prefix: str, name: str | None) -> list[Listed]:
    """The keys that a question lists: those of *bucket*, or, in a new snapshot, of all buckets."""
    buckets = (bucket,) if bucket else () if name else buckets_of(target.find())
    return [Listed(bucket, prefix) for bucket in buckets]


def is_listed(snapshot: Snapshot, keys: Listed) -> bool:
    """Whether *snapshot* has a listing of *keys*."""
    return any(
        keys.bucket == part.bucket and keys.prefix.startswith(part.prefix)
        for part in snapshot.listed
    )


def require_listing(snapshot: Snapshot, listed: Iterable[Listed]) -> None:
    """Refuse a *snapshot* that has no listing of the keys that are to be *listed*."""
    for keys in listed:
        if not is_listed(snapshot, keys):
            raise CannotDoError(
                f"the snapshot {snapshot.folder} has no listing of s3://{keys.bucket}/{keys.prefix}"
                f"; take one with `{command_line('snapshot', '--listing')}`, or leave out "
                "--snapshot"
            )
