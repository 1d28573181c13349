"""Unzip article 2: twelve archives, one after the other or two in parallel, to disk or not.

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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.tables.spread import Spread
from bench.unzip.turns import available, output_of
from bench.unzip.variants import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MODULE: Final = "bench.unzip.side_by_side"
COMPARED: Final = (
    "unzip", "zipfile.extractall", "bucketsum tmp",
    "unzip to /dev/null", "zipfile to /dev/null", "bucketsum stream",
)  # fmt: skip
"""The first three write to disk, the others do not; the article's are those of `unzip`."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All archives with one variant.

    Attributes:
        variant: Name of the variant.
        cached: Whether the archives were in memory.
        serial: Wall seconds, one after the other.
        parallel: Wall seconds, two in parallel.
    """

    variant: str
    cached: bool
    serial: Spread
    parallel: Spread


def side_by_side(
    paths: Sequence[Path], scratch: Path, turns: int, step: Callable[[], object]
) -> Iterator[SideBySide]:
    """Every installed variant on two cores, with and without the archives in memory."""
    for variant in COMPARED:
        if variant not in available():
            continue
        for cached in (True, False):
            seconds: dict[int, list[float]] = {1: [], 2: []}
            for processes, runs in seconds.items():
                for _ in range(turns):
                    for path in paths:
                        _cache(path) if cached else _drop(path)
                    runs.append(_seconds(variant, paths, scratch, processes))
                    step()
            yield SideBySide(variant, cached, Spread.of(seconds[1]), Spread.of(seconds[2]))


def _seconds(variant: str, paths: Sequence[Path], scratch: Path, processes: int) -> float:
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        arguments = [variant, str(processes), folder, *map(str, paths)]
        return float(output_of(MODULE, arguments, cores=2))


def _cache(path: Path) -> None:
    path.read_bytes()


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
