"""`bucketsum ls`: what is in the bucket, and what is recorded of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from bucketsum.digests_table import RowKey
from bucketsum_cli.members import list_members
from bucketsum_cli.options import json_option, stack_options
from bucketsum_cli.output import (
    KEY,
    MOMENT,
    SHA1,
    SIZE,
    SPEED,
    VERSION,
    Cell,
    Column,
    answers,
    moment_text,
    note,
    print_json_array,
    print_table,
    size_text,
    speed_text,
)
from bucketsum_cli.rows import digest_cell, state_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mypy_boto3_s3.type_defs import ObjectVersionTypeDef

    from bucketsum.digests_table import Row
    from bucketsum_cli.options import Target
    from bucketsum_cli.stack import Stack

_WIDE: Final = 110
"""From this many characters on a line has room for when a digest was recorded."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A version of an object in the bucket and what is recorded of it.

    Attributes:
        key: Its key.
        version: Version id, or ``null``.
        latest: Whether it is what a reader of the key gets.
        size_bytes: Its size.
        etag: Entity tag without quotes.
        put_at: When it was put, ISO 8601 UTC.
        row: Its row, if there is one.
    """

    key: str
    version: str
    latest: bool
    size_bytes: int
    etag: str
    put_at: str
    row: Row | None


@click.command("ls")
@click.argument("prefix", default="")
@click.option("--all-versions", is_flag=True, help="Overwritten versions too.")
@click.option("--members", is_flag=True, help="What is in the archive PREFIX, a key.")
@json_option
@stack_options
def ls(
    target: Target,
    prefix: str,
    all_versions: bool,  # noqa: FBT001 - click passes by name
    members: bool,  # noqa: FBT001 - click passes by name
    as_json: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """List what is in the bucket, with its SHA-1.

    An object whose digest is not there yet is `waiting`; one that cannot be read is `unreadable`,
    with the reason.

    With --members the newest version of one archive is looked into; PREFIX is its key, or
    KEY!/BEGINNING for some of its members.

    Example: bucketsum ls photos/ --local
    """
    if members:
        list_members(target.find(), prefix, as_json=as_json)
        return
    listed = objects_in(target.find(), prefix, all_versions=all_versions)
    if as_json:
        print_json_array(map(_listed_as_json, listed))
        return
    columns = [KEY, VERSION, SIZE, SHA1] if all_versions else [KEY, SIZE, SHA1, SPEED]
    if answers().width >= _WIDE:
        columns.append(MOMENT)
    if not print_table(columns, (_listed_as_cells(one, columns) for one in listed)):
        note(f"no key in the bucket begins with {prefix}" if prefix else "the bucket is empty")


def objects_in(stack: Stack, prefix: str, *, all_versions: bool = False) -> Iterator[Listed]:
    """What is in the bucket under *prefix*, by key, a page at a time; deleted objects are not.

    Raises:
        BotoCoreError: AWS cannot be reached.
        ClientError: AWS refused.
    """
    ledger = stack.ledger()
    pages = stack.client("s3").get_paginator("list_object_versions")
    for page in pages.paginate(Bucket=stack.bucket, Prefix=prefix):
        versions = [one for one in page.get("Versions", ()) if all_versions or one["IsLatest"]]
        rows = ledger.rows_at(_place(stack.bucket, one) for one in versions)
        for one in versions:
            yield _listed(one, rows.get(_place(stack.bucket, one)))


def _place(bucket: str, version: ObjectVersionTypeDef) -> RowKey:
    return RowKey(bucket, version["Key"], version["VersionId"])


def _listed(version: ObjectVersionTypeDef, row: Row | None) -> Listed:
    etag = version["ETag"].strip('"')
    if row and row.etag not in (None, etag):
        row = None  # of the object that was at this key before, in a bucket without versions
    return Listed(
        key=version["Key"],
        version=version["VersionId"],
        latest=version["IsLatest"],
        size_bytes=version["Size"],
        etag=etag,
        put_at=version["LastModified"].isoformat(),
        row=row,
    )


def _listed_as_cells(one: Listed, columns: Sequence[Column]) -> list[str | Cell]:
    row = one.row
    cells: dict[Column, str | Cell] = {
        KEY: one.key,
        VERSION: one.version,
        SIZE: size_text(one.size_bytes),
        SHA1: digest_cell(row),
        SPEED: speed_text(row.mb_per_s if row else None),
        MOMENT: moment_text(row.recorded_at) if row else "",
    }
    return [cells[column] for column in columns]


def _listed_as_json(one: Listed) -> dict[str, Any]:
    row = one.row
    return {
        "key": one.key,
        "version": one.version,
        "latest": one.latest,
        "size_bytes": one.size_bytes,
        "etag": one.etag,
        "put_at": one.put_at,
        "state": state_of(row),
        "sha1": row.sha1 if row else None,
        "mb_per_s": row.mb_per_s if row else None,
        "recorded_at": row.recorded_at if row else None,
        "reason": row.reason if row else None,
    }
