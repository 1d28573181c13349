"""Comparison of the rows with the uploaded versions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tests.soak.workload import Version

from bucketsum.archives.member_rows import MemberRows
from bucketsum.table.items import deletion_of, key_of
from bucketsum.table.rows import Row, RowKey, row_key_of
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.dead_letters.messages import DeadLetter
from bucketsum_cli.dead_letters.queue import received

_CHUNK: Final = 1000
_LETTERS: Final = 100_000
_HOLD_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class Findings:
    """Differences between the rows and the versions.

    Attributes:
        missing: Versions without a digest, or without their deletion.
        wrong: Rows that contradict a version, in words.
    """

    missing: tuple[RowKey, ...]
    wrong: tuple[str, ...]


def compared(stack: Stack, versions: Sequence[Version]) -> Findings:
    """Compare every version with its row, and every member of an archive."""
    table = stack.digests_table()
    missing: list[RowKey] = []
    wrong: list[str] = []
    for chunk in (versions[start : start + _CHUNK] for start in range(0, len(versions), _CHUNK)):
        rows = table.rows_at(version.row_key for version in chunk)
        for version in chunk:
            row = rows.get(version.row_key)
            wrong += _contradictions(stack, version, row)
            if not _is_complete(stack, version, row):
                missing.append(version.row_key)
    return Findings(tuple(missing), tuple(wrong))


def _is_complete(stack: Stack, version: Version, row: Row | None) -> bool:
    """Whether the digest is recorded, or the deletion of a version that was deleted."""
    if not version.deleted:
        return row is not None and row.sha1 is not None
    if row is not None:
        return row.deletion is not None
    item = stack.client("dynamodb").get_item(TableName=stack.table, Key=key_of(version.row_key))
    return "Item" in item and deletion_of(item["Item"]) is not None


def _contradictions(stack: Stack, version: Version, row: Row | None) -> Iterator[str]:
    if row is None:
        return
    if row.sha1 is not None and row.sha1 != version.sha1:
        yield f"{version.row_key}: {row.sha1} in place of {version.sha1}"
    if row.sha1 is None:
        yield f"{version.row_key}: {row.status}: {row.reason}"
    if row.deletion and not version.deleted:
        yield f"{version.row_key}: recorded as deleted, and exists"
    if row.archive and version.members:
        rows = MemberRows(stack.client("dynamodb"), stack.table).of(row)
        members = {member.member.path: member.sha1 for member in rows if member.member}
        if members != version.members:
            yield f"{version.row_key}: members {members} in place of {version.members}"


def is_malformed(letter: DeadLetter) -> bool:
    """Whether the workload sent it malformed."""
    return letter.document.body.startswith('{"soak"')


def dead_letters(stack: Stack, bucket_keys: set[RowKey]) -> list[DeadLetter]:
    """The workload's messages in the dead-letter queue; they stay there."""
    with received(stack, _LETTERS, _HOLD_SECONDS) as letters:
        return [
            letter
            for letter in letters
            if is_malformed(letter) or set(map(row_key_of, letter.events)) & bucket_keys
        ]


def keys_in(letters: Iterable[DeadLetter]) -> set[RowKey]:
    """The versions that the *letters* are about."""
    return {row_key_of(event) for letter in letters for event in letter.events}
