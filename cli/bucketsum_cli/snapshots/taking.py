"""Take a snapshot of a stack, after its price; or find the one that an option names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bucketsum.clock import now
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots.export import export
from bucketsum_cli.snapshots.folder import (
    LIVE,
    MEASUREMENTS,
    ROWS,
    Listed,
    Snapshot,
    SnapshotFile,
    new_folder,
    read_snapshot,
    snapshots,
    snapshots_folder,
)
from bucketsum_cli.snapshots.keeping import hold, remove_old, require_room
from bucketsum_cli.snapshots.scan import TableFigures, figures_of, scan
from bucketsum_cli.snapshots.stored import ASKED_ROWS, store
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import count_text, duration_text, usd_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

LAST: Final = "last"

_ASKED_USD: Final = 1.0
_EXPORTED_ROWS: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class Taking:
    """The choices of a snapshot that is taken.

    Attributes:
        export_to: ``s3://BUCKET/PREFIX`` for DynamoDB's export, which stays there; None scans.
        listed: Keys that are listed in S3 too, or in an inventory.
        to: Its folder; None is a new one in `snapshots_folder`.
        yes: Whether no question is asked.
        is_kept: Whether a person wants the snapshot itself, and not only an answer.
    """

    export_to: str | None = None
    listed: Sequence[Listed] = ()
    to: Path | None = None
    yes: bool = False
    is_kept: bool = False


def take(stack: Stack, taking: Taking) -> Snapshot:
    """Take a snapshot of *stack*.

    Raises:
        CannotDoError: Its folder exists or cannot be written; no half of it is left.
    """
    from bucketsum_cli.snapshots.inventories import dated  # noqa: PLC0415 - as the next
    from bucketsum_cli.snapshots.listing import (  # noqa: PLC0415 - urllib3, which answers need not
        list_keys,
    )

    dynamodb, s3, begun_at = stack.client("dynamodb"), stack.client("s3"), now()
    figures = figures_of(dynamodb, stack.table)
    name = f"{begun_at.replace(':', '-')}-{stack.name}"
    folder = taking.to or snapshots_folder() / name
    place = (
        S3Place.of_folder(f"{taking.export_to.rstrip('/')}/{name}") if taking.export_to else None
    )
    room = "no disk" if place else require_room(folder, figures.rows)
    usd = figures.export_usd if place else figures.scan_usd
    if (figures.rows > ASKED_ROWS or usd > _ASKED_USD) and not taking.yes:
        _ask(figures, usd, room, is_export=place is not None)
    listed = tuple(dated(s3, keys, in_place=bool(place)) for keys in taking.listed)
    with new_folder(folder) as (partial, complete):
        written, files = _rows(stack, figures, place, partial)
        ended_at = now()
        files += tuple(
            chain.from_iterable(
                list_keys(s3, keys, partial) for keys in listed if not (place and keys.inventory)
            )
        )
        if measurements := stack.outputs.get("MeasurementsTableName"):
            files += scan(dynamodb, measurements, 0, partial, MEASUREMENTS)
        snapshot = Snapshot(
            folder=folder,
            stack=stack.name,
            account=figures.account,
            region=stack.connection.region,
            table=stack.table,
            begun_at=begun_at,
            ended_at=ended_at,
            via="export" if place else "scan",
            files=files,
            listed=listed,
            is_kept=taking.is_kept,
            place=str(place or ""),
            export=written,
        )
        complete(snapshot)
    if place:
        store(s3, snapshot)
    hold(snapshot)
    remove_old(snapshot)
    return snapshot


def _rows(
    stack: Stack, figures: TableFigures, place: S3Place | None, folder: Path
) -> tuple[str, tuple[SnapshotFile, ...]]:
    """The files of an export to *place*, and their folder in it; or of a scan, in *folder*."""
    if place:
        return export(stack, figures.arn, place, folder)
    return "", scan(stack.client("dynamodb"), stack.table, figures.rows, folder, ROWS)


def _ask(figures: TableFigures, usd: float, room: str, *, is_export: bool) -> None:
    """Show what a snapshot of a large table costs, and ask."""
    hint = ""
    if figures.rows > _EXPORTED_ROWS and not is_export:
        price = usd_text(figures.export_usd)
        hint = f"; --via export costs {price} USD and reads nothing from the table"
    duration = "minutes" if is_export else f"about {duration_text(figures.scan_seconds)}"
    note(f"{count_text(figures.rows, 'row')}: {duration}, {usd_text(usd)} USD, {room}{hint}")
    confirm("Take a snapshot?", "nothing was read", yes=False)


def keys_in(s3: S3Client, inventories: Sequence[str], others: Sequence[str]) -> list[Listed]:
    """The buckets of *inventories*; the *others* are listed, or all live if that is among them."""
    from bucketsum.backfill.inventory import read_manifest  # noqa: PLC0415 - as in `take`

    sources = {read_manifest(s3, url).source: url for url in inventories if url != LIVE}
    for bucket in others:
        sources.setdefault(bucket, LIVE if LIVE in inventories else "")
    return [Listed(bucket, "", source) for bucket, source in sources.items()]


def kept_snapshot(name: str, stack: Stack | None = None) -> Snapshot:
    """The snapshot in the folder *name*, or the `LAST` one of *stack*.

    Raises:
        CannotDoError: There is none.
    """
    if name != LAST:
        return read_snapshot(Path(name))
    wanted = stack and (stack.connection.region, stack.name, stack.table)
    for snapshot in snapshots():
        if wanted in (None, snapshot.source[1:]):
            hold(snapshot)
            return snapshot
    raise CannotDoError(
        f"there is no snapshot in {snapshots_folder()}; take one with "
        f"`{command_line('snapshot')}`, or leave out --snapshot"
    )
