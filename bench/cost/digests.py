"""CPU time of each digest: ``python -m bench digests``."""

import time
from typing import Final

import click

from bench.tables.table import Columns, Table, numbers, show
from bucketsum.algorithms import ALGORITHMS, Algorithm
from bucketsum_cli.backfill.estimate import EXTRA_NS_PER_BYTE, Setup

_CHUNK: Final = bytes(range(256)) * 4096
_CHUNKS: Final = 48
_RUNS: Final = 7


@click.command()
def digests() -> None:
    """Measure each digest's CPU time, beside the one that estimates assume.

    The last column is what an estimate promises for SHA-1 and this digest with 256 MB.
    """
    rows = ((name, *_measured(algorithm)) for name, algorithm in ALGORITHMS.items())
    columns: Columns = (
        "digest",
        *numbers("ns per byte", "ns per byte, estimate", decimals=2),
        *numbers("MB/s with 256 MB", decimals=0),
    )
    show((Table("digests", columns, tuple(rows)),))


def _measured(algorithm: Algorithm) -> tuple[float, float | None, float]:
    nanoseconds = min(_nanoseconds_per_byte(algorithm) for _ in range(_RUNS))
    extra = (algorithm.name,) if algorithm.name in EXTRA_NS_PER_BYTE else ()
    promised = Setup(256, 10, 10, algorithms=extra).bytes_per_second / 1e6
    return nanoseconds, EXTRA_NS_PER_BYTE.get(algorithm.name), promised


def _nanoseconds_per_byte(algorithm: Algorithm) -> float:
    digest, started = algorithm.new(), time.process_time_ns()
    for _ in range(_CHUNKS):
        digest.update(_CHUNK)
    return (time.process_time_ns() - started) / _CHUNKS / len(_CHUNK)
