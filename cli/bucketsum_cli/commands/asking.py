"""The snapshot that a question is asked of: a new one, or the one that ``--snapshot`` names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import click
from click.decorators import FC

from bucketsum_cli.arguments.options import json_option, yes_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.buckets.served_buckets import buckets_of
from bucketsum_cli.snapshots.database import Database, require_engine
from bucketsum_cli.snapshots.folder import Listed, Snapshot
from bucketsum_cli.snapshots.stored import fetch, stored_snapshot
from bucketsum_cli.snapshots.tables import open_snapshot, open_snapshots
from bucketsum_cli.snapshots.taking import LAST, Taking, kept_snapshot, take
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import count_text, duration_text, moment_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note

if TYPE_CHECKING:
    from bucketsum_cli.snapshots.athena import Athena  # boto3
    from bucketsum_cli.snapshots.sides_database import SidesDatabase

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


@dataclass(frozen=True, slots=True)
class Asking:
    """The options of a question: what is asked, and by what.

    Attributes:
        snapshot_name: The snapshot to ask; None takes a new one.
        athena: URL of the folder that Athena writes to: the rows stay in S3, and it answers. A new
            snapshot is an export then. None asks on this machine.
        yes: Whether no question is asked before.
    """

    target: Target
    snapshot_name: str | None = None
    athena: str | None = None
    yes: bool = False

    def keys(self, bucket: str | None, prefix: str) -> list[Listed]:
        """The keys to list: those of *bucket*, or, in a new snapshot, of all buckets."""
        is_new = self.snapshot_name is None
        buckets = (bucket,) if bucket else buckets_of(self.target.find()) if is_new else ()
        return [Listed(bucket, prefix) for bucket in buckets]

    def snapshot(self, listed: Sequence[Listed] = ()) -> Snapshot:
        """The snapshot, a new one with the keys *listed*; notes which it is, and how old."""
        if self.snapshot_name is None:
            snapshot = take(self.target.find(), Taking(self.athena, listed, yes=self.yes))
        else:
            snapshot = named_snapshot(self.target, self.snapshot_name)
        note_snapshot(snapshot)
        return snapshot

    def database(self, listed: Sequence[Listed] = ()) -> tuple[Database, Snapshot]:
        """The database of the `snapshot`.

        Raises:
            CannotDoError: It lacks the listing of the keys *listed*.
        """
        require_engine()
        snapshot = self.snapshot(listed)
        require_listing(snapshot, listed)
        if self.athena is None:
            return _closed(open_snapshot(self._local(snapshot))), snapshot
        engine = self._engine(self.athena)
        engine.ask_of(snapshot)
        return _closed(Database(engine.local, engine)), snapshot

    def databases(self, named: Mapping[str, str]) -> Database:
        """A database of several snapshots, by their names; notes how old each is."""
        require_engine()
        askings = {name: replace(self, snapshot_name=place) for name, place in named.items()}
        snapshots = {name: self._local(asking.snapshot()) for name, asking in askings.items()}
        return _closed(open_snapshots(snapshots))

    def sides(self) -> SidesDatabase:
        """A database of two sides, which Athena compares if it may write somewhere."""
        from bucketsum_cli.snapshots.sides_database import (  # noqa: PLC0415 - manifests take 40 ms
            SidesDatabase,
        )

        engine = self._engine(self.athena) if self.athena else None
        return SidesDatabase(engine, self._local)

    def _engine(self, url: str) -> Athena:
        """Athena, which writes its tables below *url* until the command ends."""
        from bucketsum_cli.snapshots.athena import athena  # noqa: PLC0415 - boto3

        aws, _ = self.target.connect()
        context = click.get_current_context()
        return context.with_resource(athena(aws, url, context.meta[_WORKGROUP], yes=self.yes))

    def _local(self, snapshot: Snapshot) -> Snapshot:
        """The *snapshot* with its files on this machine, for a local question.

        Raises:
            CannotDoError: Its listing is an inventory that Athena reads.
        """
        if snapshot.url and any(keys.inventory for keys in snapshot.listed):
            raise CannotDoError(
                f"the listing of {snapshot.name} is an inventory in S3: ask this snapshot with "
                "--athena"
            )
        if snapshot.url:
            fetch(self.target.connect()[0].client("s3"), snapshot, yes=self.yes)
        return snapshot


def question(
    *documents: type,
    options: Sequence[Callable[..., Any]] = (snapshot_option, athena_option),
    of: Callable[..., Any] = stack_options,
    has_json: bool = True,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a question, as ``asking``, and ``--json`` of *documents*.

    *options* are those that say what is asked, *of* those of the stack.
    """
    names = {field.name for field in fields(Asking)}
    json_options = [json_option(*documents)] if has_json else []

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_asking(**given: Any) -> None:  # noqa: ANN401 - the command's types
            own = {name: given.pop(name) for name in names & given.keys()}
            command(asking=Asking(**own), **given)

        for option in (of, *json_options, yes_option, *reversed(options)):
            with_asking = option(with_asking)
        return with_asking

    return decorate


def _closed(database: Database) -> Database:
    """The *database*, which is closed at the end of the command, also after an error."""
    click.get_current_context().call_on_close(database.local.close)
    return database


def named_snapshot(target: Target, name: str, *, of_stack: bool = True) -> Snapshot:
    """The snapshot *name*: the last one, by default of the stack, or one in a folder or in S3."""
    if S3Place.is_url(name):
        return stored_snapshot(target.connect()[0].client("s3"), name)
    return kept_snapshot(name, target.find_kept() if name == LAST and of_stack else None)


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
