"""Snapshots of generated rows, in the form that a scan writes."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from bucketsum.table.items import item_of
from bucketsum.table.row_parts import ReadSetup, Timing
from bucketsum.table.rows import Row, Status
from bucketsum_cli.snapshots.folder import ROWS, Snapshot, SnapshotFile, md5_of, new_folder

if TYPE_CHECKING:
    from pathlib import Path

BUCKET: Final = "photos"
_FILES: Final = 8
_AT: Final = "2026-11-20T10:00:00.000Z"
_OF_COPIES: Final = 5
"""Of so many objects, one has the content of the one before."""
_OF_CHANGES: Final = 1000
"""Of so many objects, one has another content in another edition."""
_TEXTS: Final = ("{key}", "F" * 32, "{sha1}", "{etag}")
_SIZE: Final = 7_777_777


def lines(rows: int, edition: int = 0) -> Iterator[str]:
    """The lines of objects without versions, which have a SHA-1 alone."""
    key, sequencer, sha1, etag = _TEXTS
    row = Row(
        BUCKET, key, "null", Status.HASHED, _SIZE, sequencer, _AT, _AT, sha1=sha1, etag=etag,
        timing=Timing(41.5, 92.3), setup=ReadSetup(1 << 20, 1, 1024),
    )  # fmt: skip
    item = json.dumps({"Item": item_of(row)}) + "\n"
    for number in range(rows):
        content = number - (number % _OF_COPIES == 1)
        text = f"{content}/{edition if number % _OF_CHANGES == 0 else 0}".encode()
        values = (
            f"2026/{number % 365:03}/IMG_{number:09}.jpg",
            f"{number:032X}",
            hashlib.sha1(text, usedforsecurity=False).hexdigest(),
            hashlib.md5(text, usedforsecurity=False).hexdigest(),
        )
        line = item.replace(str(_SIZE), str(1 + content * 37 % 9_000_000))
        for name, value in zip(_TEXTS, values, strict=True):
            line = line.replace(name, value)
        yield line


def snapshot_of(folder: Path, rows: int, edition: int = 0) -> Snapshot:
    """Write a snapshot of *rows* rows into *folder*."""
    with new_folder(folder) as (partial, complete):
        names = [f"{ROWS}/{number:04}.json.gz" for number in range(_FILES)]
        with ExitStack() as stack:
            files = [
                stack.enter_context(gzip.open(partial / name, "wt", compresslevel=1))
                for name in names
            ]
            for number, line in enumerate(lines(rows, edition)):
                files[number % _FILES].write(line)
        written = tuple(
            SnapshotFile(name, len(range(place, rows, _FILES)), md5_of(partial / name))
            for place, name in enumerate(names)
        )
        snapshot = Snapshot(folder, "bench", "0", "", "digests", _AT, _AT, "scan", written)
        complete(snapshot)
    return snapshot
