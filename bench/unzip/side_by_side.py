"""Twelve archives as in elsotanillo (2020): serial or two in parallel, to disk or not.

Each run is done once with the archives in memory, and once after asking the kernel to drop them.
Nothing is synchronised to disk, as in the article.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.tables.spread import Spread
from bench.tables.table import Column, Table, numbers
from bench.unzip.archives import FOLDER
from bench.unzip.turns import available, output_of
from bench.unzip.variants import VARIANTS
from bucketsum_cli.terminal import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.unzip.archives import Archive

MODULE: Final = "bench.unzip.side_by_side"
COMPARED: Final = (
    "unzip", "zipfile.extractall", "bucketsum tmp",
    "unzip to /dev/null", "zipfile to /dev/null", "bucketsum stream",
)  # fmt: skip
"""The first three write to disk, the others do not; the article's are those of `unzip`."""


def table(archives: Sequence[Archive], turns: int) -> Table:
    """Every installed variant on two cores, with and without the archives in memory."""
    paths = [archive.path for archive in archives]
    mb = sum(archive.archive_bytes for archive in archives) / 1e6
    rows = []
    for variant in (name for name in COMPARED if name in available()):
        output.note(f"{len(paths)} archives: {variant}")
        for place, prepare in (("in memory", Path.read_bytes), ("on disk", _drop)):
            seconds: dict[int, list[float]] = {1: [], 2: []}
            for processes, runs in seconds.items():
                for _ in range(turns):
                    for path in paths:
                        prepare(path)
                    runs.append(_seconds(variant, paths, processes))
            serial, parallel = map(Spread.of, seconds.values())
            speeds = mb / serial.median, mb / parallel.median
            rows.append((variant, place, serial, parallel, *speeds, speeds[1] / speeds[0]))
    columns = (
        Column("mode", "mode"),
        Column("archives", "archives"),
        *numbers("serial s", "parallel s", decimals=2),
        *numbers("serial MB/s", "parallel MB/s", decimals=0),
        *numbers("gain", decimals=2),
    )
    return Table(
        "unzip",
        columns,
        tuple(rows),
        "As in elsotanillo (2020): twelve archives, serial and parallel, with and without disk",
        "The first three modes write the extracted files, the others do not.",
    )


def _seconds(variant: str, paths: Sequence[Path], processes: int) -> float:
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        arguments = [variant, str(processes), folder, *map(str, paths)]
        return float(output_of(MODULE, arguments, cores=2))


def _drop(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def main(variant: str, processes: int, folder: Path, paths: Sequence[Path]) -> None:
    """Unzip all *paths* and print the seconds; the processes start before the clock does."""
    with ProcessPoolExecutor(processes) as pool:
        list(pool.map(time.sleep, [0.05] * processes))
        started = time.perf_counter()
        runs = [pool.submit(VARIANTS[variant], path, folder / path.stem) for path in paths]
        for run in runs:
            run.result()
        print(json.dumps(time.perf_counter() - started))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), [Path(path) for path in sys.argv[4:]])
