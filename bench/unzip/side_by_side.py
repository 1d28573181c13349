"""The second article: twelve archives, one after the other or two at a time, to disk or not.

Each once with the archives in memory, and once with the system asked to forget them. Where the
disk is, everything is; nothing is synchronised, as in the article.
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

from bench.unzip.turns import Spread, available, output_of
from bench.unzip.ways import WAYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_TO_DISK: Final = ("unzip", "zipfile.extractall", "bucketsum tmp")
_PAST_IT: Final = ("unzip to /dev/null", "zipfile to /dev/null", "bucketsum stream")
SIDE_BY_SIDE: Final = (*_TO_DISK, *_PAST_IT)
"""The article's is `unzip`, first to disk, then with nothing written."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All archives in one way.

    Attributes:
        way: Which.
        cached: Whether the archives were in memory.
        serial: Wall seconds of one after the other.
        parallel: The same, two at a time.
    """

    way: str
    cached: bool
    serial: Spread
    parallel: Spread


def side_by_side(
    paths: Sequence[Path], scratch: Path, turns: int, step: Callable[[], object]
) -> Iterator[SideBySide]:
    """Every way on two cores, with and without the archives in memory."""
    for way in SIDE_BY_SIDE:
        if way not in available():
            continue
        for cached in (True, False):
            serial, parallel = (
                [
                    _seconds(way, paths, scratch, at_a_time, cached=cached, step=step)
                    for _ in range(turns)
                ]
                for at_a_time in (1, 2)
            )
            yield SideBySide(way, cached, Spread.of(serial), Spread.of(parallel))


def _seconds(
    way: str,
    paths: Sequence[Path],
    scratch: Path,
    at_a_time: int,
    *,
    cached: bool,
    step: Callable[[], object],
) -> float:
    for path in paths:
        _remember(path) if cached else _forget(path)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        arguments = ["-m", "bench.unzip.side_by_side", way, str(at_a_time), folder]
        told = output_of([*arguments, *map(str, paths)], cores=2)
    step()
    return float(json.loads(told))


def _remember(path: Path) -> None:
    path.read_bytes()


def _forget(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def main(way: str, at_a_time: int, folder: Path, paths: Sequence[Path]) -> None:
    """Unzip all of *paths* and print the seconds; processes are there before the clock starts."""
    with ProcessPoolExecutor(at_a_time) as pool:
        list(pool.map(time.sleep, [0.05] * at_a_time))
        started = time.perf_counter()
        done = [pool.submit(WAYS[way], path, folder / path.stem) for path in paths]
        for one in done:
            one.result()
        print(json.dumps(time.perf_counter() - started))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), [Path(one) for one in sys.argv[4:]])
