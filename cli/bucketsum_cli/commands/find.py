"""`bucketsum find`: where else is this content?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bucketsum_cli.errors import ANSWER_IS_NO, CannotDoError
from bucketsum_cli.files import sha1_of_file
from bucketsum_cli.options import json_option, stack_options
from bucketsum_cli.output import (
    KEY,
    SIZE,
    VERSION,
    Cell,
    Column,
    moment_text,
    note,
    print_json,
    print_table,
    progress,
    size_text,
)
from bucketsum_cli.rows import named, row_as_json, version_of

if TYPE_CHECKING:
    from bucketsum.digests_table import Row
    from bucketsum_cli.options import Target
    from bucketsum_cli.stack import Stack

_SHA1: Final = re.compile(r"[0-9A-Fa-f]{40}")


@click.command("find")
@click.argument("content", metavar="SHA1|FILE")
@json_option
@stack_options
def find(target: Target, content: str, as_json: bool) -> None:  # noqa: FBT001 - by name
    """Say where this content is.

    That is every object and version, and every member of an archive, with the same SHA-1.

    40 hexadecimal digits are a SHA-1, even where a file has that name (write ./NAME for the
    file); anything else is a file, which is hashed here.

    Exits with 1 where nothing that is recorded has this content.

    Example: bucketsum find ~/Downloads/cat.jpg
    """
    sha1 = content.lower() if _SHA1.fullmatch(content) else _sha1_of(Path(content))
    stack = target.find()
    rows = stack.ledger().with_sha1(sha1)
    if as_json:
        print_json({"sha1": sha1, "objects": [row_as_json(row) for row in rows]})
    else:
        print_table(
            [KEY, VERSION, SIZE, Column("arrived (UTC)", 19)],
            (_as_cells(row, stack) for row in rows),
        )
    if not rows:
        note(f"nothing that is recorded has the SHA-1 {sha1}")
        raise SystemExit(ANSWER_IS_NO)


def _sha1_of(path: Path) -> str:
    try:
        size_bytes = path.stat().st_size
        with progress(passing=True) as shown:
            task = shown.add_task("hashing", total=size_bytes)
            return sha1_of_file(path, lambda size: shown.advance(task, size))
    except OSError as error:
        raise CannotDoError(
            f"{path} is neither 40 hexadecimal digits nor a file that can be read: {error.strerror}"
        ) from None


def _as_cells(row: Row, stack: Stack) -> list[str | Cell]:
    moment = moment_text(row.arrived_at)
    return [_name(row, stack), version_of(row), size_text(row.size_bytes), moment]


def _name(row: Row, stack: Stack) -> str:
    return named(row) if row.bucket == stack.bucket else f"s3://{row.bucket}/{named(row)}"
