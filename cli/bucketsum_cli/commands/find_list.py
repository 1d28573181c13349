"""`bucketsum find --list`: up to a million digests, found in a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final

from bucketsum.algorithms import ALGORITHMS
from bucketsum.archives.member_rows import MEMBER_MARK
from bucketsum_cli.commands.asking import database_of
from bucketsum_cli.manifests.entries import BadLine
from bucketsum_cli.manifests.formats import entries_in
from bucketsum_cli.snapshots.taking import Taking
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, CannotDoError
from bucketsum_cli.terminal.formatting import count_text, moment_text, size_text
from bucketsum_cli.terminal.output import note, print_json_array, say
from bucketsum_cli.terminal.tables import KEY, SIZE, VERSION, Cell, Column, print_table

if TYPE_CHECKING:
    from bucketsum_cli.arguments.options import Target
    from bucketsum_cli.terminal.documents import Moment

WANTED: Final = ", ".join(
    ("place BIGINT", "name VARCHAR", "digest VARCHAR", *(f"{name} VARCHAR" for name in ALGORITHMS))
)
"""The columns of the table ``wanted``."""

_COLUMNS: Final = (KEY, VERSION, SIZE, Column("digest", shrinks=True), Column("deleted (UTC)"))


@dataclass(frozen=True, slots=True)
class FoundContent:
    """An object, or a member of an archive, with a digest of a list."""

    bucket: str
    key: str
    member: str | None
    version: str
    size_bytes: int
    created_at: Moment | None
    deleted_at: Moment | None


@dataclass(frozen=True, slots=True)
class ListedDigest:
    """A digest of a list, and where it is."""

    name: Annotated[str, "Its name in the list."]
    digest: Annotated[str, "Of any algorithm, in hexadecimal."]
    objects: Annotated[Sequence[FoundContent], "Where it is; deleted versions too."]


def wanted_in(stream: BinaryIO, file: str) -> Iterator[dict[str, Any]]:
    """The rows of the table ``wanted``: the digests of each entry; it is found by the first.

    Raises:
        CannotDoError: A line has none.
    """
    for place, entry in enumerate(entries_in(stream, file)):
        digest = None
        if not isinstance(entry, BadLine):
            digest = next(
                (entry.digests[each] for each in ALGORITHMS if each in entry.digests), None
            )
        if isinstance(entry, BadLine) or digest is None:
            reason = entry.reason if isinstance(entry, BadLine) else f"line {entry.line}"
            raise CannotDoError(
                f"{file}: {reason}; digests of {', '.join(ALGORITHMS)} are recorded"
            )
        name = entry.name.decode("utf-8", "backslashreplace") or digest
        digests = {each: entry.digests.get(each) for each in ALGORITHMS}
        yield {"place": place, "name": name, "digest": digest, **digests}


def find_in_snapshot(
    target: Target,
    wanted: Iterable[Mapping[str, Any]],
    name: str | None,
    athena: str | None,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    """Show where the digests *wanted* are in the snapshot *name*, or in a new one.

    Raises:
        SystemExit: With 1, if a digest is nowhere.
    """
    wanted = list(wanted)
    if not wanted:
        raise CannotDoError("the list has no digests: nothing was looked for")
    database, _ = database_of(target, name, Taking(yes=yes), athena)
    database.put_table("wanted", WANTED, wanted)
    records = database.ask("find", bucket=target.bucket or "").records()
    results = [_result(list(rows)) for _, rows in groupby(records, key=lambda row: row["place"])]
    missing = [result for result in results if not result.objects]
    if as_json:
        print_json_array(results)
    else:
        print_table(_COLUMNS, (_cells(result, at) for result in results for at in result.objects))
        say(f"{len(results) - len(missing):,} of {count_text(len(results), 'digest')} recorded")
    for result in missing[:10]:
        note(f"not recorded: {result.digest} {result.name}")
    if len(missing) > 10:  # noqa: PLR2004 - as shown
        note(f"and {len(missing) - 10:,} others; --json has them all")
    if missing:
        raise SystemExit(ANSWER_IS_NO)


def _result(rows: Sequence[Mapping[str, Any]]) -> ListedDigest:
    places = [
        FoundContent(**{name: row[name] for name in FoundContent.__annotations__})
        for row in rows
        if row["bucket"] is not None
    ]
    return ListedDigest(rows[0]["name"], rows[0]["digest"], places)


def _cells(result: ListedDigest, at: FoundContent) -> list[str | Cell]:
    name = at.key if at.member is None else f"{at.key}{MEMBER_MARK}{at.member}"
    deleted = Cell(moment_text(at.deleted_at), "red") if at.deleted_at else ""
    return [
        f"s3://{at.bucket}/{name}",
        at.version,
        size_text(at.size_bytes),
        result.digest,
        deleted,
    ]
