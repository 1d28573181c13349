"""`bucketsum coverage`: what S3 has, and what is recorded of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import click

from bucketsum.table.state import ObjectState
from bucketsum_cli.arguments.buckets import bucket_argument
from bucketsum_cli.arguments.options import prefix_option
from bucketsum_cli.commands.asking import Asking, is_all_listed, no_objects, question
from bucketsum_cli.snapshots.next_steps import NEUTRAL, next_steps
from bucketsum_cli.terminal.columns import SIZE, Cell, Column
from bucketsum_cli.terminal.documents import Moment
from bucketsum_cli.terminal.errors import end_if
from bucketsum_cli.terminal.formatting import moment_text, size_text, tally_text
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.tables import print_table

_COLUMNS: Final = (
    Column("folder", shrinks=True), Column("class"), Column("state", shrinks=True),
    Column("objects", right=True), SIZE, Column("oldest read (UTC)"),
)  # fmt: skip


_NO_PART: Final = (ObjectState.DELETED, ObjectState.HIDDEN)


@dataclass(frozen=True, slots=True)
class CoveredPart:
    """Versions of objects in one folder, of one storage class, in one state."""

    bucket: str
    folder: Annotated[str, "First folder of the keys; empty without one."]
    storage_class: Annotated[str | None, "Its storage class; null if not known."]
    state: Annotated[
        str, f"{', '.join(f'`{state}`' for state in ObjectState if state not in _NO_PART)}."
    ]
    reason: str | None
    objects: Annotated[int, "Number of versions."]
    size_bytes: int | None
    oldest_verified_at: Annotated[Moment | None, "The earliest time at which one was last read."]
    first_key: Annotated[str, "The first of the keys."]


@dataclass(frozen=True, slots=True)
class CoverageResult:
    """The result of `coverage`."""

    snapshot: Annotated[Path, "Folder of the snapshot that was asked."]
    is_complete: Annotated[bool, "Whether no state makes the exit status 1."]
    parts: Annotated[Sequence[CoveredPart], "All versions in S3, and rows without one."]


@click.command("coverage")
@bucket_argument(required=False)
@prefix_option("Only keys that begin with TEXT.")
@click.option(
    "--inventory",
    metavar="URL|live",
    help="Instead of listing BUCKET, read the S3 inventory with this manifest.json, in CSV; with "
    "--athena also in ORC or Parquet, or S3 Metadata's live inventory table.",
)
@question(CoverageResult)
def coverage(
    asking: Asking,
    bucket: str | None,
    prefix: str,
    inventory: str | None,
    as_json: bool,
) -> None:
    """Show which objects in S3 have no digest, and why.

    Lists all versions, and compares them with the rows. Without BUCKET, all buckets of the stack;
    rows of detached buckets are left out.

    Exits with 1 if a version differs, is lost, unreadable, not recorded or damaged; not if it is
    archived, or repaired by a newer version. With --snapshot, also if it lacks a bucket's listing.

    Example: bucketsum coverage photos
    """
    if inventory and (not bucket or asking.snapshot_name):
        raise click.UsageError("--inventory needs BUCKET, and cannot be used with --snapshot")
    listed = [replace(keys, inventory=inventory or "") for keys in asking.keys(bucket, prefix)]
    database, snapshot = asking.database(listed)
    is_known = is_all_listed(database, snapshot, bucket, prefix) or asking.snapshot_name is None
    answer = database.ask("coverage", bucket=bucket or "", prefix=prefix)
    parts = [CoveredPart(**record) for record in answer.records()]
    counts: Counter[str] = Counter()
    for part in parts:
        counts[part.state] += part.objects
    if not parts:
        raise no_objects(bucket, prefix)
    is_complete = is_known and counts.keys() <= NEUTRAL
    if as_json:
        print_json(CoverageResult(snapshot.folder, is_complete, parts))
    else:
        print_table(_COLUMNS, map(_cells, parts))
        say(
            tally_text(dict(counts.most_common())),
            "bold green" if is_complete else "bold red",
        )
        for state, hint in next_steps().items():
            if counts[state]:
                note(f"{state}: {hint}")
    end_if(not is_complete)


def _cells(part: CoveredPart) -> list[Any]:
    state = f"{part.state}: {part.reason}" if part.reason else part.state
    if part.state == ObjectState.ARCHIVED:  # its reason is always the same
        state = f"{part.state} ({part.storage_class})" if part.storage_class else part.state
    oldest = moment_text(part.oldest_verified_at) if part.oldest_verified_at else ""
    return [
        f"{part.bucket}/{part.folder}", part.storage_class or "",
        Cell(state, "" if part.state in NEUTRAL else "red"), f"{part.objects:,}",
        size_text(part.size_bytes or 0), oldest,
    ]  # fmt: skip
