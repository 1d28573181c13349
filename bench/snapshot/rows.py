"""Snapshots of generated rows and their listing, in the form that a scan writes."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bucketsum.table.items import item_of
from bucketsum.table.row_parts import ReadSetup, Timing
from bucketsum.table.rows import Row, Status
from bucketsum_cli.snapshots.folder import LISTING, ROWS, Listed, Snapshot, new_folder
from bucketsum_cli.snapshots.lines import write_files

BUCKET: Final = "photos"
_FILES: Final = 8
_PAGE: Final = 1000
_AT: Final = "2026-11-20T10:00:00.000Z"
_OF_COPIES: Final = 5
"""Of so many objects, one has the content of the one before."""
_OF_CHANGES: Final = 1000
"""Of so many objects, one has another content in another edition."""
_ROW: Final = Row(
    BUCKET, "", "", Status.HASHED, 0, "", _AT, _AT, timing=Timing(41.5, 92.3),
    setup=ReadSetup(1 << 20, 1, 1024),
)  # fmt: skip


def row_of(number: int, edition: int = 0) -> Row:
    """The row of an object, which has a SHA-1 alone."""
    content = number - (number % _OF_COPIES == 1)
    text = f"{content}/{edition if number % _OF_CHANGES == 0 else 0}".encode()
    return replace(
        _ROW,
        key=f"2026/{number % 365:03}/IMG_{number:09}.jpg",
        entry=f"v{number:08x}",
        size_bytes=1 + content * 37 % 9_000_000,
        sequencer=f"{number:032X}",
        sha1=hashlib.sha1(text, usedforsecurity=False).hexdigest(),
        etag=hashlib.md5(text, usedforsecurity=False).hexdigest(),
    )


def _entry(row: Row) -> dict[str, Any]:
    return {
        "bucket": BUCKET, "key": row.key, "version": row.entry, "latest": True,
        "size_bytes": row.size_bytes, "etag": row.etag, "created_at": _AT[:19],
        "storage_class": "STANDARD",
    }  # fmt: skip


def snapshot_of(folder: Path, rows: int, edition: int = 0) -> Snapshot:
    """Write a snapshot of *rows* rows into *folder*."""

    def pages(kind: str, part: int) -> Iterator[list[dict[str, Any]]]:
        numbers = range(part, rows, _FILES)
        for start in range(0, len(numbers), _PAGE):
            page = (row_of(number, edition) for number in numbers[start : start + _PAGE])
            yield [{"Item": item_of(r)} if kind == ROWS else _entry(r) for r in page]

    with new_folder(folder) as (partial, complete):
        files = tuple(
            file
            for kind in (ROWS, LISTING)
            for file in write_files(partial, kind, [pages(kind, n) for n in range(_FILES)], rows)
        )
        names = ("bench", "0", "", "digests", _AT, _AT, "scan")
        snapshot = Snapshot(folder, *names, files, (Listed(BUCKET, ""),))
        complete(snapshot)
    return snapshot
