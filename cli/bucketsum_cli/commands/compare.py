"""`bucketsum compare`: two sides, each a bucket, a snapshot or a manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Annotated, Any, Final

import click

from bucketsum_cli.arguments.options import limit_option
from bucketsum_cli.arguments.target import Target
from bucketsum_cli.commands.asking import (
    Asking,
    named_snapshot,
    note_snapshot,
    question,
    require_listing,
)
from bucketsum_cli.commands.lists import ListForm, list_options, note_all_differ
from bucketsum_cli.snapshots.database import require_engine
from bucketsum_cli.snapshots.manifest_rows import STDIN, ManifestFile, rows_of, scope_of
from bucketsum_cli.snapshots.sides import Objects, name_pattern, side_of
from bucketsum_cli.snapshots.sides_database import LISTED, SidesDatabase
from bucketsum_cli.terminal.columns import Cell, Column
from bucketsum_cli.terminal.documents import document_of
from bucketsum_cli.terminal.errors import CannotDoError, end_if
from bucketsum_cli.terminal.formatting import count_text, size_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.tables import print_table

_EQUAL: Final = "equal"
_LEFT_OUT: Final = "left out"
_TITLES: Final = {
    "differs": "differs: equal name, other content",
    "moved": "moved: the content has another name",
    "only left": "only in A",
    "only right": "only in B",
    "not recorded": "not recorded: no digest that both sides have",
    _LEFT_OUT: "left out: the name is not of this form",
    "bad line": "line of a manifest is not an entry",
}
_TITLES_OF_SEVERAL: Final = {
    "differs": "differ: equal names, other contents",
    _LEFT_OUT: "left out: the names are not of this form",
    "bad line": "lines of manifests are not entries",
}
_STYLES: Final = {"differs": "bold red", "only left": "red", "only right": "yellow"}
_COLUMNS: Final = (
    Column("name", shrinks=True),
    Column("size", right=True),
    Column("in B, why", shrinks=True),
)


@dataclass(frozen=True, slots=True)
class ComparedName:
    """A name, or a pair of names, that is not equal on both sides."""

    result: Annotated[
        str,
        "`differs`, `moved`, `only left` or `right`, `not recorded`, `bad line`, "
        "`left out` (of --names, or of what a list cannot have).",
    ]
    left_name: Annotated[str | None, "Its name on the first side."]
    right_name: Annotated[str | None, "Its name on the second side."]
    left_bytes: Annotated[int | None, "Its size on the first side, if known."]
    right_bytes: Annotated[int | None, "Its size on the second side, if known."]
    reason: str | None


@dataclass(frozen=True, slots=True)
class CompareResult:
    """The result of `compare`."""

    left: Annotated[str, "The first side."]
    right: Annotated[str, "The second side."]
    all_equal: bool
    counts: Annotated[Mapping[str, int], "Number of names by result."]
    differences: Annotated[Sequence[ComparedName], "The first of each result, by name."]


@click.command("compare")
@click.argument("left", metavar="A")
@click.argument("right", metavar="[B]", required=False)
@click.option(
    "--names",
    metavar="PATTERN",
    help="Compare A with the digests in its own names, as 'data/??/{sha256}' or 'md5/{md5}'.",
)
@list_options
@limit_option("names that are shown for each result")
@question(CompareResult)
def compare(
    asking: Asking,
    left: str,
    right: str | None,
    names: str | None,
    form: ListForm,
    limit: int,
    as_json: bool,
) -> None:
    """Compare two buckets, snapshots or manifests, without a download.

    A and B are each BUCKET or BUCKET/PREFIX; a folder of a snapshot (of another stack, account or
    Region), with #BUCKET/PREFIX if it has several or is in S3; or a manifest: a file, - for stdin,
    or an s3:// URL of sha1sum's lists and the like, BagIt, hashdeep, rclone, CSV, or manifest.json
    of a report of S3 Batch Operations' Compute checksum. Names are relative to the prefix.

    Buckets are listed, so that what S3 has now is compared. Contents are equal if a digest that
    both sides have is equal. Exits with 1 unless everything is equal. With
    --names, objects whose names do not match the pattern are ignored.

    Of a list, KEY!/PATH is a member of an archive, and a report's versions are compared with the
    same versions. Left out, and counted, are folder markers, the tag files of a bag whose payload
    manifest is compared, and a report's objects of other buckets.

    Example: bucketsum compare photos/2026/ photos-2026.sha256
    """
    if (right is None) == (names is None):
        raise click.UsageError("give B, or --names with a pattern")
    require_engine()
    if left == right == STDIN:
        raise click.UsageError("stdin can be one side only")
    sides = [_side(asking.target, text, form) for text in (left, left if right is None else right)]
    comparison = _filled(asking, sides, names)
    records = list(comparison.ask("compare", rows=limit).records())
    counts = {record["result"]: record["objects"] for record in records}
    if counts.keys() <= {_LEFT_OUT}:
        raise CannotDoError(f"neither {left} nor {right or names} has anything to compare")
    result = CompareResult(
        left,
        right or str(names),
        counts.keys() <= {_EQUAL, _LEFT_OUT},
        counts,
        [document_of(ComparedName, record) for record in records if record["result"] != _EQUAL],
    )
    if as_json:
        print_json(result)
    else:
        _print(result, records)
    if "not recorded" in counts:
        _note_not_recorded(*(map(comparison.algorithms, ("left_side", "right_side"))))
    if (
        any(isinstance(side, ManifestFile) for side in sides)
        and any(record["result"] == "differs" and not record["reason"] for record in records)
        and not counts.keys() & {_EQUAL, "moved"}
    ):
        note_all_differ()
    end_if(not result.all_equal)


def _side(target: Target, text: str, form: ListForm) -> Objects | ManifestFile:
    """The side that *text* names; objects of a snapshot only if it has a listing of them."""
    side = side_of(text, partial(named_snapshot, target))
    if isinstance(side, ManifestFile):
        return replace(side, format_=form.format_, algorithm=form.algorithm)
    if side.snapshot:
        require_listing(side.snapshot, [side.keys])
        note_snapshot(side.snapshot)
    return side


def _filled(
    asking: Asking, sides: Sequence[Objects | ManifestFile], names: str | None
) -> SidesDatabase:
    """The comparison with the tables of both *sides*."""
    wanted = [side.keys for side in sides if isinstance(side, Objects) and not side.snapshot]
    listed = tuple(dict.fromkeys(wanted))
    own = None
    if listed:
        own = asking.snapshot(listed)
        require_listing(own, listed)
    pattern, algorithm = name_pattern(names) if names else ("", "")
    comparison = asking.sides()
    tables = [("left_side", sides[0]), ("right_side", sides[1])]
    lists = [(table, side) for table, side in tables if isinstance(side, ManifestFile)]
    for table, side in lists:
        comparison.put_list(rows_of(side, lambda: asking.target.find().client("s3")))
        if len(lists) == len(tables):
            _put_listed(comparison, table, side)
    for table, objects in tables:
        if isinstance(objects, Objects) and (snapshot := objects.snapshot or own):
            keys = {"bucket": objects.keys.bucket, "prefix": objects.keys.prefix}
            keys |= {"pattern": pattern, "algorithm": algorithm}
            keys |= {"scope": scope_of(lists[0][1].place) if lists else ""}
            query = "names" if names and table == "left_side" else LISTED if lists else "side"
            comparison.put_objects(table, snapshot, query, keys)
    if len(lists) == 1:
        _put_listed(comparison, *lists[0])
    return comparison


def _put_listed(comparison: SidesDatabase, table: str, manifest: ManifestFile) -> None:
    """Make the *table* of the *manifest*; notes what is not as its name says."""
    if buckets := comparison.buckets_of_list():
        note(f"{manifest.place} is a report about objects of {', '.join(buckets)}")
    if repeated := comparison.put_listed(table):
        lines = count_text(repeated, "line")
        note(f"{lines} of {manifest.place} left out: the name is in another line")


def _print(result: CompareResult, records: Sequence[Mapping[str, Any]]) -> None:
    for kind, group in groupby(records, key=lambda record: record["result"]):
        rows = list(group)
        if kind == _EQUAL:
            say(f"{count_text(rows[0]['objects'], 'name')} equal", "green")
            continue
        more = f", the first {len(rows)}" if len(rows) < rows[0]["objects"] else ""
        count = rows[0]["objects"]
        titles = _TITLES if count == 1 else {**_TITLES, **_TITLES_OF_SEVERAL}
        is_of_list = kind == _LEFT_OUT and rows[0]["reason"]
        say(f"{count:,} {_LEFT_OUT if is_of_list else titles[kind]}{more}", "bold")
        print_table(_COLUMNS, (_cells(kind, row) for row in rows), heading=False)
    if result.all_equal:
        say("all equal", "bold green")
    elif not result.counts.get("not recorded"):
        show = command_line("show", "KEY", "--bucket", "BUCKET")
        note(f"`{show}` has all versions of a key and their digests")


def _note_not_recorded(left: Sequence[str], right: Sequence[str]) -> None:
    """Say why names have no digest that both sides have."""
    if left and right and not {*left} & {*right}:
        verify = command_line("verify", "BUCKET", "--missing", left[0])
        note(
            f"A has {', '.join(left)}, B has {', '.join(right)}: `{verify}` adds a digest, if the "
            "stack's parameter ExtraAlgorithms has it"
        )
        return
    coverage = command_line("coverage", "BUCKET")
    note(f"`{coverage}` shows what has no digest, why, and what to do")


def _cells(kind: str, row: Mapping[str, Any]) -> list[str | Cell]:
    size = row["left_bytes"] if row["left_bytes"] is not None else row["right_bytes"]
    other = row["right_name"] if kind == "moved" else row["reason"] or ""
    name = row["left_name"] if row["left_name"] is not None else row["right_name"] or ""
    return [Cell(name, _STYLES.get(kind, "")), "" if size is None else size_text(size), other]
