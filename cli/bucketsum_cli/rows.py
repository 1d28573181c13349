"""Rows of the digests table, in tables and in JSON."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bucketsum.archives.member_rows import MEMBER_MARK
from bucketsum.dynamodb_items import attributes_of
from bucketsum_cli.output import Cell

if TYPE_CHECKING:
    from bucketsum.digests_table import Row


class State(StrEnum):
    """How far an object is; where it has a row, what the row says."""

    HASHED = "hashed"
    UNREADABLE = "unreadable"
    WAITING = "waiting"
    """It is in the bucket, and nothing is recorded of it yet."""


def state_of(row: Row | None) -> State:
    """How far the object with *row* is."""
    return State(row.status.value) if row else State.WAITING


def digest_cell(row: Row | None) -> str | Cell:
    """The SHA-1, or why there is none."""
    if row is None:
        return Cell(State.WAITING, "yellow")
    return row.sha1 or Cell(f"{row.status}: {row.reason}", "red")


def named(row: Row) -> str:
    """Its key; of a member, ``KEY!/path``."""
    return f"{row.key}{MEMBER_MARK}{row.member.path}" if row.member else row.key


def version_of(row: Row) -> str:
    """Version of the object that it is, or is in."""
    return row.entry.partition(MEMBER_MARK)[0] if row.member else row.entry


def row_as_json(row: Row) -> dict[str, Any]:
    """All attributes of the table's item; absent ones are null."""
    attributes: dict[str, Any] = {"bucket": row.bucket, "key": row.key, "entry": row.entry}
    for name, value in attributes_of(row):
        attributes[name] = value
        if name == "sha1":
            attributes["digests"] = dict(row.digests)
    return attributes
