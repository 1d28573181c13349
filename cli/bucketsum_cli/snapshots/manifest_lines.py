"""Lines of a manifest, from the current objects of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bucketsum.algorithms import ALGORITHMS
from bucketsum.archives.member_rows import MEMBER_MARK
from bucketsum.table.state import ObjectState
from bucketsum_cli.manifests.entries import BadLine, Entry
from bucketsum_cli.manifests.formats import BAGIT, FORMATS, Format
from bucketsum_cli.snapshots.database import Answer, Database
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.terminal.output import note

_PAYLOAD: Final = "data/"

_PLAIN_NAME: Final = r"\w[\w ./!-]*\w"  # in DuckDB, of ASCII


def is_bag_folder(database: Database, question: dict[str, Any]) -> bool:
    """Whether the prefix is the folder of a bag; notes what is left out then."""
    database.local.put_question(question)
    declared = database.local.run(
        "SELECT 1 FROM question q JOIN current_objects c "
        "ON c.bucket = q.bucket AND c.key = q.prefix || 'bagit.txt'"
    )
    is_bag = bool([*declared.records()])
    if is_bag:
        note("the tag files of the bag are left out: a payload manifest does not list them")
    return is_bag


def lines_of(
    database: Database,
    question: Mapping[str, Any],
    format_name: str,
    algorithm: str,
    prefix: str = "",
    *,
    is_bag: bool = False,
) -> Iterator[bytes | BadLine]:
    """The lines of objects, with names without *prefix*; or why an object has none."""
    format_ = FORMATS[format_name]
    digests = [algorithm] if format_.has_one_digest else [*ALGORITHMS]
    name = f"substr(concat(key, '{MEMBER_MARK}' || member), {len(prefix) + 1})"
    if format_ is BAGIT and not is_bag:
        name = f"concat('{_PAYLOAD}', {name})"
    database.local.put_question(question)
    rows = database.local.run(
        "SELECT line, CASE WHEN line IS NULL "  # noqa: S608 - texts of ours
        f"THEN row(name, size_bytes, s3_checksum, s3_checksum_result, {', '.join(digests)}) END "
        f"FROM (SELECT *, {_plain_line(format_, algorithm)} AS line "
        f"FROM (SELECT *, {name} AS name FROM ({query_text('export')}))) "
        f"WHERE (sha1 IS NULL OR state = '{ObjectState.HASHED}') "  # others: see `_not_hashed`
        f"AND starts_with(name, '{_PAYLOAD if is_bag else ''}') ORDER BY key, member NULLS FIRST"
    )
    return format_.lines(_entries(rows, digests), algorithm)


def _plain_line(format_: Format, algorithm: str) -> str:
    """SQL for the line of an object with a plain name, which stands in it as it is; else null."""
    line = format_.line(Entry(b"{name}", {algorithm: "{digest}"}), algorithm)
    if not format_.has_one_digest or not isinstance(line, bytes):
        return "NULL"
    text = line.decode().replace("{name}", "' || name || '")
    text = text.replace("{digest}", f"' || {algorithm} || '")
    return f"CASE WHEN regexp_full_match(name, '{_PLAIN_NAME}') THEN '{text}' END"


def _entries(rows: Answer, digests: Sequence[str]) -> Iterator[Entry | bytes]:
    """The lines that are known already, and the other entries."""
    for line, entry in rows:
        if line is not None:
            yield line.encode()
            continue
        name, size_bytes, checksum, result, *values = entry
        known = {digest: value for digest, value in zip(digests, values, strict=True) if value}
        yield Entry(name.encode(), known, size_bytes, checksum=(checksum or "", result or ""))
