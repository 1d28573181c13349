"""The snapshot that a question is asked of: a new one, or the one that ``--snapshot`` names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import click
from click.decorators import FC

from bucketsum_cli.arguments.target import Target
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.buckets.served_buckets import buckets_of
from bucketsum_cli.snapshots.database import Database, require_engine
from bucketsum_cli.snapshots.folder import Listed, Snapshot
from bucketsum_cli.snapshots.sides_database import SidesDatabase
from bucketsum_cli.snapshots.stored import fetch, stored_snapshot
from bucketsum_cli.snapshots.tables import open_snapshot, open_snapshots
from bucketsum_cli.snapshots.taking import LAST, Taking, kept_snapshot, take
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import count_text, duration_text, moment_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note

if TYPE_CHECKING:
    from bucketsum_cli.snapshots.athena import Athena  # boto3

snapshot_option = click.option(
    "--snapshot",
    "snapshot_name",
    metavar="last|FOLDER|URL",
    help="Ask the last snapshot, or the one in FOLDER or at s3://BUCKET/FOLDER; by default, a new "
    "one is taken.",
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
            help="Have Athena ask a snapshot in S3, and write tables to s3://BUCKET/FOLDER.",
        ),
    ):
        command = option(command)
    return command


def database_of(
    target: Target, name: str | None, taking: Taking, athena: str | None = None
) -> tuple[Database, Snapshot]:
    """The database of the snapshot *name*, or of a new one as in *taking*; notes which, how old.

    With the URL *athena*, the rows stay in S3, and Athena answers; a new snapshot is an export.

    Raises:
        CannotDoError: It lacks the listing that *taking* wants.
    """
    require_engine()
    snapshot = snapshot_for(target, name, replace(taking, export_to=athena))
    require_listing(snapshot, taking.listed)
    if athena is None:
        return _closed(open_snapshot(local(target, snapshot, yes=taking.yes))), snapshot
    engine = athena_engine(target, athena, yes=taking.yes)
    engine.ask_of(snapshot)
    return _closed(Database(engine.local, engine)), snapshot


def databases_of(target: Target, named: Mapping[str, str], *, yes: bool) -> Database:
    """A database of several snapshots, by their names; notes how old each is."""
    require_engine()
    return _closed(
        open_snapshots(
            {
                name: local(target, snapshot_for(target, folder, Taking()), yes=yes)
                for name, folder in named.items()
            }
        )
    )


def _closed(database: Database) -> Database:
    """The *database*, which is closed at the end of the command, also after an error."""
    click.get_current_context().call_on_close(database.local.close)
    return database


def athena_engine(target: Target, url: str, *, yes: bool) -> Athena:
    """Athena, which writes its tables below *url* until the command ends."""
    from bucketsum_cli.snapshots.athena import athena  # noqa: PLC0415 - boto3

    aws, _ = target.connect()
    context = click.get_current_context()
    return context.with_resource(athena(aws, url, context.meta[_WORKGROUP], yes=yes))


def sides_database(target: Target, url: str | None, *, yes: bool) -> SidesDatabase:
    """A database of two sides, which Athena compares if it may write below *url*."""
    engine = athena_engine(target, url, yes=yes) if url else None
    return SidesDatabase(engine, partial(local, target, yes=yes))


def local(target: Target, snapshot: Snapshot, *, yes: bool) -> Snapshot:
    """The *snapshot* with its files on this machine, for a local question.

    Raises:
        CannotDoError: Its listing is an inventory that Athena reads.
    """
    if snapshot.url and any(keys.inventory for keys in snapshot.listed):
        raise CannotDoError(
            f"the listing of {snapshot.name} is an inventory in S3: ask this snapshot with --athena"
        )
    if snapshot.url:
        fetch(target.connect()[0].client("s3"), snapshot, yes=yes)
    return snapshot


def delete_tables_of(target: Target, snapshot: Snapshot) -> None:
    """Delete the tables that Athena wrote for *snapshot*, if its rows are in S3."""
    from bucketsum_cli.snapshots.glue_tables import (  # noqa: PLC0415 - boto3
        database_of,
        delete_tables,
    )

    if snapshot.url:
        region = None if target.local else snapshot.region
        delete_tables(replace(target, region=region).connect()[0], database_of(snapshot))


def named_snapshot(target: Target, name: str, *, of_stack: bool = True) -> Snapshot:
    """The snapshot *name*: the last one, by default of the stack, or one in a folder or in S3."""
    if S3Place.is_url(name):
        return stored_snapshot(target.connect()[0].client("s3"), name)
    return kept_snapshot(name, target.find_kept() if name == LAST and of_stack else None)


def snapshot_for(target: Target, name: str | None, taking: Taking) -> Snapshot:
    """The snapshot *name*, or a new one as in *taking*; notes which it is, and how old."""
    snapshot = take(target.find(), taking) if name is None else named_snapshot(target, name)
    note_snapshot(snapshot)
    return snapshot


def note_snapshot(snapshot: Snapshot) -> None:
    """Note which *snapshot* answers, and how old it is."""
    note(
        f"snapshot {snapshot.name}: {count_text(snapshot.rows, 'row')} of "
        f"{moment_text(snapshot.ended_at)} UTC, {duration_text(max(0.0, snapshot.age_seconds))} old"
    )


def is_all_listed(database: Database, snapshot: Snapshot, bucket: str | None, prefix: str) -> bool:
    """Whether *snapshot* has listings of *bucket*, or of all with rows; notes those left out.

    Raises:
        CannotDoError: As `require_listing`, if it has none at all.
    """
    if bucket:
        return True
    rows = database.engine.run("SELECT DISTINCT bucket FROM versions")
    unlisted = sorted(name for (name,) in rows if not is_listed(snapshot, Listed(name, prefix)))
    if unlisted and not any(is_listed(snapshot, Listed(k.bucket, prefix)) for k in snapshot.listed):
        require_listing(snapshot, [Listed(unlisted[0], prefix)])
    for name in unlisted:
        note(f"left out {name}, as S3 was not asked; name it, if it still exists")
    return not unlisted


def keys_to_list(target: Target, bucket: str | None, prefix: str, name: str | None) -> list[Listed]:
    """The keys that a question lists: those of *bucket*, or, in a new snapshot, of all buckets."""
    buckets = (bucket,) if bucket else () if name else buckets_of(target.find())
    return [Listed(bucket, prefix) for bucket in buckets]


def no_objects(bucket: str | None, prefix: str, kind: str = "") -> CannotDoError:
    """The error that a question selects no object of a *kind*: an empty answer would look right."""
    where = f"s3://{bucket or '*'}/{prefix}"
    return CannotDoError(f"there is no object {kind}under {where}: check the bucket and prefix")


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
                f"the snapshot {snapshot.name} has no listing of s3://{keys.bucket}/{keys.prefix}"
                f"; take a snapshot with `{command_line('snapshot', '--listing')}`, or "
                "leave out --snapshot"
            )
