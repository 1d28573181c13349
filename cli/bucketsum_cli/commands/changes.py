"""`bucketsum changes`: the difference between two snapshots, or since a date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Annotated, Any, Final

import click

from bucketsum_cli.arguments.buckets import BucketPlace, bucket_of
from bucketsum_cli.arguments.options import limit_option, prefix_option
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.commands.asking import Asking, athena_option, question
from bucketsum_cli.snapshots.database import require_engine
from bucketsum_cli.snapshots.folder import LIVE, Snapshot
from bucketsum_cli.snapshots.sides_database import SidesDatabase
from bucketsum_cli.terminal.columns import SIZE, Cell, Column
from bucketsum_cli.terminal.errors import CannotDoError, end_if
from bucketsum_cli.terminal.formatting import size_text, tally_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.tables import print_table

_BAD: Final = ("differs", "lost", "damaged", "unreadable", "not recorded")
_COLUMNS: Final = (
    Column("folder", shrinks=True), Column("change"), Column("objects", right=True), SIZE,
    Column("first", shrinks=True),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChangedVersion:
    """A version that changed."""

    key: str
    version: str
    reason: Annotated[str | None, "Why it is a finding, if that is not the change itself."]


@dataclass(frozen=True, slots=True)
class ChangedPart:
    """Versions in one folder that changed alike."""

    bucket: str
    folder: Annotated[str, "First folder of the keys; empty without one."]
    change: Annotated[
        str,
        "`added`, `overwritten` (with other content), `deleted`, `hidden` (by a delete marker), "
        "`recorded`, `verified`, `repaired`, `archived`; or a finding: `differs`, `lost`, "
        "`damaged`, `unreadable`, `not recorded` (its row is gone).",
    ]
    objects: Annotated[int, "Number of versions."]
    size_bytes: int | None
    first: Annotated[Sequence[ChangedVersion], "The first of them, by key."]


@dataclass(frozen=True, slots=True)
class ChangesResult:
    """The result of `changes`."""

    before: Annotated[str, "The earlier snapshot, or the date."]
    after: Annotated[str, "The later snapshot."]
    has_findings: Annotated[bool, "Whether a change is a finding."]
    counts: Annotated[Mapping[str, int], "Number of versions by change."]
    parts: Sequence[ChangedPart]


@click.command("changes")
@click.argument("earlier", metavar="[A]", required=False)
@click.argument("later", metavar="[B]", required=False)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"]),
    metavar="DATE",
    help="Compare one snapshot with itself at that time in UTC, as 2026-03-01.",
)
@click.option("--bucket", "place", type=BucketPlace(), metavar="BUCKET", help="Only this bucket.")
@prefix_option("Only keys that begin with TEXT.")
@limit_option("keys that are shown for each folder and change", default=1)
@question(ChangesResult, options=(athena_option,))
def changes(
    asking: Asking,
    earlier: str | None,
    later: str | None,
    since: datetime | None,
    place: S3Place | None,
    prefix: str,
    limit: int,
    as_json: bool,
) -> None:
    """Show what was added, changed or lost since a snapshot.

    A and B are folders of snapshots, or last; without B, a new one is taken, and lists what A
    lists. Also shown is what was verified, hidden by a delete marker, or recorded (created before,
    hashed since). With --since, one snapshot is enough; of buckets without versions, it shows what
    was overwritten as added, and it shows everything that is lost. Exits with 1 if an object newly
    differs, is lost or unreadable, or its row was damaged or is gone.

    Example: bucketsum changes last --bucket photos
    """
    if (earlier is None and since is None) or (later and since):
        raise click.UsageError("give A, or A and B, or --since with at most one snapshot")
    bucket, prefix = bucket_of([place], prefix)
    require_engine()
    keys = {"bucket": bucket or "", "prefix": prefix}
    before, after = _snapshots(asking, (earlier, later), since, bucket)
    comparison = _filled(asking.sides(), before, after, since, keys)
    moment = since.replace(tzinfo=UTC).isoformat() if since else before.begun_at
    answer = comparison.ask("changes", since=moment[:19].replace("T", " "), rows=limit)
    result = _result(since.isoformat() if since else before.name, after, answer.records())
    if as_json:
        print_json(result)
    else:
        _print(result)
    end_if(result.has_findings)


def _snapshots(
    asking: Asking,
    names: tuple[str | None, str | None],
    since: datetime | None,
    bucket: str | None,
) -> tuple[Snapshot, Snapshot]:
    """The earlier and the later snapshot; with *since*, both are the same.

    Raises:
        CannotDoError: They are of two tables, or in the wrong order; or the later is to be taken,
            and the inventory of the earlier is older.
    """
    first, second = (replace(asking, snapshot_name=name) for name in names)
    before = first.snapshot([] if first.snapshot_name else first.keys(bucket, ""))
    if since:
        return before, before
    if second.snapshot_name is None and any(k.inventory not in ("", LIVE) for k in before.listed):
        take = command_line("snapshot", "--via", "export", "--inventory")
        raise CannotDoError(
            f"{before.name} has S3 inventories, which are older: take a snapshot with newer ones "
            f"by `{take}`, and name it as B"
        )
    after = second.snapshot(before.listed)
    if before.source != after.source:
        raise CannotDoError(
            f"{before.name} is of the stack {before.stack} in {before.account}, {before.region}, "
            f"{after.name} of {after.stack} in {after.account}, {after.region}; both must be of "
            "one table"
        )
    if before.ended_at > after.ended_at:
        raise CannotDoError(f"{before.name} is later than {after.name}; name the earlier first")
    return before, after


def _filled(
    comparison: SidesDatabase,
    before: Snapshot,
    after: Snapshot,
    since: datetime | None,
    keys: Mapping[str, str],
) -> SidesDatabase:
    """The *comparison* with both sides as tables.

    Raises:
        CannotDoError: No snapshot has anything of *keys*.
    """
    until = {"left_side": since.isoformat(" ") if since else "", "right_side": ""}
    for table, snapshot in (("left_side", before), ("right_side", after)):
        question = {**keys, "until": until[table]}
        comparison.put_objects(table, snapshot, "changes_side", question)
    listed = () if since else map(asdict, before.listed)
    comparison.local.put_table("left_listed", "bucket VARCHAR, prefix VARCHAR", listed)
    [(count,)] = comparison.engine.run(
        "SELECT (SELECT count(*) FROM left_side) + (SELECT count(*) FROM right_side)"
    )
    if not count:
        place = f"s3://{keys['bucket']}/{keys['prefix']}" if keys["bucket"] else keys["prefix"]
        raise CannotDoError(f"the snapshots have no object {place}".rstrip())
    if not after.listed:
        note(f"{after.name} has no listing: what is lost is not seen, unless its row is gone")
    return comparison


def _result(before: str, after: Snapshot, records: Any) -> ChangesResult:  # noqa: ANN401
    parts = []
    for (bucket, folder, change), group in groupby(
        records, key=lambda r: (r["bucket"], r["folder"], r["change"])
    ):
        rows = list(group)
        first = [ChangedVersion(row["key"], row["version"], row["reason"]) for row in rows]
        parts.append(
            ChangedPart(bucket, folder, change, rows[0]["objects"], rows[0]["size_bytes"], first)
        )
    counts: Counter[str] = Counter()
    for part in parts:
        counts[part.change] += part.objects
    has_findings = any(counts[change] for change in _BAD)
    return ChangesResult(before, after.name, has_findings, dict(counts.most_common()), parts)


def _print(result: ChangesResult) -> None:
    print_table(_COLUMNS, (cells for part in result.parts for cells in _cells(part)))
    style = "bold red" if result.has_findings else "bold green"
    say(tally_text(result.counts) or "no changes", style)


def _cells(part: ChangedPart) -> list[list[str | Cell]]:
    """The lines of a part: the first has its figures, each further one a key."""
    change = Cell(part.change, "bold red" if part.change in _BAD else "")
    figures: list[str | Cell] = [
        f"{part.bucket}/{part.folder}", change, f"{part.objects:,}", size_text(part.size_bytes or 0)
    ]  # fmt: skip
    keys = [f"{v.key} ({v.reason})" if v.reason else v.key for v in part.first]
    blanks: list[str | Cell] = [""] * len(figures)
    return [[*(blanks if number else figures), key] for number, key in enumerate(keys)]
