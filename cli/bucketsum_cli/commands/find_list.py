"""`bucketsum find --list`: up to a million digests, found in a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, BinaryIO, Final

from bucketsum.algorithms import ALGORITHMS
from bucketsum.archives.member_rows import MEMBER_MARK
from bucketsum.table.state import HELD, ObjectState
from bucketsum_cli.commands.asking import Asking, is_listed
from bucketsum_cli.commands.lists import ListForm
from bucketsum_cli.manifests.entries import BadLine
from bucketsum_cli.snapshots.folder import Listed, Snapshot
from bucketsum_cli.terminal.columns import KEY, SIZE, VERSION, Cell, Column
from bucketsum_cli.terminal.documents import Moment, document_of
from bucketsum_cli.terminal.errors import CannotDoError, end_if
from bucketsum_cli.terminal.formatting import count_text, moment_text, size_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json_array, say
from bucketsum_cli.terminal.screen import width_of
from bucketsum_cli.terminal.tables import print_table

WANTED: Final = ", ".join(
    ("place BIGINT", "name VARCHAR", "digest VARCHAR", *(f"{name} VARCHAR" for name in ALGORITHMS))
)
"""The columns of the table ``wanted``."""

_NOTED_MAX: Final = 10
_BELOW_DIGEST: Final = (KEY, VERSION, SIZE, Column(""))
_COLUMNS: Final = (
    KEY,
    VERSION,
    SIZE,
    Column("digest", shrinks=True),
    Column("deleted (UTC)"),
    Column("state"),
)


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
    state: Annotated[str, "State of the object; of a member, also that of its archive."]


@dataclass(frozen=True, slots=True)
class ListedDigest:
    """A digest of a list, and where it is."""

    name: Annotated[str, "Its name in the list."]
    digest: Annotated[str, "Of any algorithm, in hexadecimal."]
    objects: Annotated[Sequence[FoundContent], "Where it is; deleted versions too."]


def wanted_in(
    stream: BinaryIO, file: str, form: ListForm
) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of the table ``wanted``, found by their first digest; and why lines have none."""
    rows: list[dict[str, Any]] = []
    bad = []
    for entry in form.entries_in(stream, file):
        if isinstance(entry, BadLine):
            bad.append(entry.reason)
            continue
        digests = {name: entry.digests.get(name) for name in ALGORITHMS}
        digest = next(filter(None, digests.values()), None)
        if digest is None:
            has = ", ".join(entry.digests)
            bad.append(f"line {entry.line}: it has {has}; rows have {', '.join(ALGORITHMS)}")
            continue
        name = entry.name.decode("utf-8", "backslashreplace") or digest
        rows.append({"place": len(rows), "name": name, "digest": digest, **digests})
    return rows, bad


def note_first(texts: Sequence[str], rest: str = "") -> None:
    """Note each of *texts*, or the number of those after the tenth and *rest*."""
    for text in texts[:_NOTED_MAX]:
        note(text)
    if len(texts) > _NOTED_MAX:
        note(f"and {len(texts) - _NOTED_MAX:,} more{rest}")


def find_in_snapshot(
    asking: Asking, wanted: Sequence[Mapping[str, Any]], bad: Sequence[str], *, as_json: bool
) -> None:
    """Show where the digests *wanted* are in a snapshot.

    Raises:
        SystemExit: With 1, if a digest is nowhere, or *bad* has reasons why lines have none.
    """
    if not wanted:
        reason = bad[0] if bad else "it is empty"
        raise CannotDoError(f"the list has no digests, so nothing was looked for; {reason}")
    bucket = asking.target.bucket
    database, snapshot = asking.database([] if asking.snapshot_name else asking.keys(bucket, ""))
    database.local.put_table("wanted", WANTED, wanted)
    records = database.ask("find", bucket=bucket or "").records()
    results = [_result(list(rows)) for _, rows in groupby(records, key=lambda row: row["place"])]
    missing = [result for result in results if not result.objects]
    recorded = {*database.algorithms("contents")} if missing else set[str]()
    lacking = [sorted(_algorithms_in(row)) for row in wanted if not _algorithms_in(row) & recorded]
    if len(lacking) == len(wanted) and recorded:
        raise _without(lacking[0])
    if as_json:
        print_json_array(results)
    else:
        _print(results)
        have = {result.digest: bool(result.objects) for result in results}
        say(f"{sum(have.values()):,} of {count_text(len(have), 'digest')} recorded")
    absent = [*dict.fromkeys(_absent(results, wanted, recorded))]
    note_first(absent, "; see --json")
    note_first([f"skipped {reason}" for reason in bad])
    end_if(_are_unlisted(results, snapshot) or absent or bad)


def _are_unlisted(results: Iterable[ListedDigest], snapshot: Snapshot) -> bool:
    """Note the buckets that *results* are of, and *snapshot* has no listing of."""
    buckets = {at.bucket for result in results for at in result.objects}
    unlisted = [bucket for bucket in buckets if not is_listed(snapshot, Listed(bucket, ""))]
    if unlisted:
        note(f"S3 was not listed: what is shown in {', '.join(sorted(unlisted))} may be gone")
    return bool(unlisted)


def _absent(
    results: Sequence[ListedDigest], wanted: Sequence[Mapping[str, Any]], recorded: set[str]
) -> Iterator[str]:
    """Yield each digest of *wanted* that no object has whose content holds."""
    for result, row in zip(results, wanted, strict=True):
        name = result.digest
        name += "" if result.name == result.digest else f" {result.name}"
        states = {at.state for at in result.objects}
        if not states and recorded and not _algorithms_in(row) & recorded:
            yield f"not known, as no row has {' or '.join(sorted(_algorithms_in(row)))}: {name}"
        elif not states:
            yield f"not recorded: {name}"
        elif not states & HELD:
            yield f"only in what is {' or '.join(sorted(states))}: {name}"


def _algorithms_in(row: Mapping[str, Any]) -> set[str]:
    return {name for name in ALGORITHMS if row.get(name)}


def _without(algorithms: Sequence[str]) -> CannotDoError:
    """The error that no row has a digest of *algorithms*, so that nothing can be found."""
    verify = command_line("verify", "BUCKET", "--missing", algorithms[0])
    return CannotDoError(
        f"no row has a digest of {' or '.join(algorithms)}, so nothing can be found: `{verify}` "
        "adds it, if the stack's parameter ExtraAlgorithms has it"
    )


def algorithms_of(digest: str) -> list[str]:
    """The algorithms whose digests have as many digits: one, or none."""
    return [name for name, algorithm in ALGORITHMS.items() if algorithm.is_digest(digest.lower())]


def _result(rows: Sequence[Mapping[str, Any]]) -> ListedDigest:
    places = [document_of(FoundContent, row) for row in rows if row["bucket"] is not None]
    return ListedDigest(rows[0]["name"], rows[0]["digest"], places)


def _print(results: Sequence[ListedDigest]) -> None:
    """Show where the digests are; on a terminal, each is above its objects: a row is too wide."""
    names_of: dict[tuple[str, tuple[FoundContent, ...]], dict[str, None]] = {}
    for result in results:
        if result.objects:
            names_of.setdefault((result.digest, tuple(result.objects)), {})[result.name] = None
    if width_of() is None:
        print_table(_COLUMNS, (_cells(digest, at) for digest, places in names_of for at in places))
        return
    for (digest, objects), names in names_of.items():
        named = ", ".join(name for name in names if name != digest)
        say(f"{digest}  {named}".rstrip(), "bold")
        print_table(_BELOW_DIGEST, map(_cells_below_digest, objects), heading=False)


def _cells(digest: str, at: FoundContent) -> list[str | Cell]:
    deleted = moment_text(at.deleted_at) if at.deleted_at else ""
    cells: list[str | Cell] = [_url(at), at.version, size_text(at.size_bytes), digest]
    return [*cells, Cell(deleted, "red"), "" if at.state == ObjectState.HASHED else at.state]


def _cells_below_digest(at: FoundContent) -> list[str | Cell]:
    deleted = f"deleted {moment_text(at.deleted_at)}" if at.deleted_at else at.state
    shown = "" if deleted == ObjectState.HASHED else Cell(deleted, "red")
    return [_url(at), at.version, size_text(at.size_bytes), shown]


def _url(at: FoundContent) -> str:
    return f"s3://{at.bucket}/{at.key}{'' if at.member is None else f'{MEMBER_MARK}{at.member}'}"
