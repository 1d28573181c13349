"""Files of a snapshot, written in parallel: a JSON document in each line, compressed by gzip."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from bucketsum_cli.snapshots.folder import SnapshotFile, md5_of
from bucketsum_cli.terminal.live_progress import progress


def write_files(
    folder: Path, kind: str, sources: Sequence[Iterator[Sequence[Any]]], total: int | None
) -> tuple[SnapshotFile, ...]:
    """Write a file of the pages of each of *sources*, all in parallel; a bar counts the lines.

    Raises:
        OSError: The disk is full. After any error, the other files end early.
    """
    stopped = threading.Event()
    first = sum(1 for _ in (folder / kind).iterdir())  # after those that were written before
    with progress("{task.completed:,.0f}", passing=True) as shown:
        task = shown.add_task(f"reading {kind}", total=total)

        def write(number: int) -> SnapshotFile:
            name, rows = f"{kind}/{first + number:04}.json.gz", 0
            with gzip.open(folder / name, "wt", compresslevel=1, encoding="utf-8") as file:
                for page in sources[number]:
                    if stopped.is_set():
                        break
                    file.writelines(f"{json.dumps(line)}\n" for line in page)
                    rows += len(page)
                    shown.advance(task, len(page))
            return SnapshotFile(name, rows, md5_of(folder / name))

        with ThreadPoolExecutor(max(1, len(sources))) as pool:
            try:
                files = [pool.submit(write, number) for number in range(len(sources))]
                written = [file.result() for file in as_completed(files)]
            finally:
                stopped.set()
    return tuple(sorted(written, key=lambda file: file.name))
