"""Price and crossovers of random reads, from the statistics of cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from statistics import median
from typing import TYPE_CHECKING, Final

from bucketsum.measure import BYTES_PER_MB
from bucketsum.prices import S3_GET
from bucketsum_lab.protocol.measuring import BYTES_PER_GB
from bucketsum_lab.workloads.records.layouts import SINGLE_READS
from bucketsum_lab.workloads.records.workload import RecordsStatistics

if TYPE_CHECKING:
    from bucketsum_lab.protocol.run_records import CellRow

_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class ReadCost:
    """A cell's seconds and US dollars for all its reads, scaled up if only some were measured."""

    reads: int
    seconds: float
    build_seconds: float
    request_usd: float
    build_request_usd: float
    lambda_usd_per_second: float

    @property
    def usd(self) -> float:
        """Lambda's time and the requests."""
        return self.seconds * self.lambda_usd_per_second + self.request_usd

    @property
    def build_usd(self) -> float:
        """The requests that store the data, and Lambda's time if the reader builds the layout."""
        return self.build_request_usd + self.build_seconds * self.lambda_usd_per_second


def read_cost(cell: CellRow) -> ReadCost | None:
    """The cost of *cell*; None without a measurement, or without a price."""
    stats, own = cell.stats, RecordsStatistics.of(cell)
    if own is None or stats is None or stats.usd_per_gb is None:
        return None
    invocation_usd = stats.usd_per_gb * cell.object_bytes / BYTES_PER_GB
    return ReadCost(
        reads=int(cell.setting.own["reads"]),
        seconds=own.total_seconds,
        build_seconds=own.build_seconds,
        request_usd=own.request_usd,
        build_request_usd=own.build_usd,
        lambda_usd_per_second=invocation_usd / stats.billed_ms * _MS,
    )


Line = tuple[tuple[int, float], ...]
"""Numbers of reads and a value for each, ascending; both are above 0."""


@dataclass(frozen=True, slots=True)
class Crossover:
    """The number of reads from which another line of the plot is the lowest."""

    reads: float
    value: float
    before: str
    after: str


def measured_crossovers(lines: Mapping[str, Line]) -> list[Crossover]:
    """The places where the lowest of *lines* changes, by label.

    A place between two measured points is interpolated on logarithmic scales.
    """
    values: dict[int, dict[str, float]] = defaultdict(dict)
    for label, line in lines.items():
        for reads, value in line:
            values[reads][label] = value
    crossovers = (_crossover(few, many, values) for few, many in pairwise(sorted(values)))
    return [crossover for crossover in crossovers if crossover]


def _crossover(few: int, many: int, values: Mapping[int, Mapping[str, float]]) -> Crossover | None:
    both = values[few].keys() & values[many].keys()
    if not both:
        return None
    before, after = (min(sorted(both), key=values[reads].__getitem__) for reads in (few, many))
    if before == after:
        return None
    at_few, at_many = (log(values[reads][after] / values[reads][before]) for reads in (few, many))
    share = at_few / (at_few - at_many)
    reads = few * (many / few) ** share
    value = values[few][before] * (values[many][before] / values[few][before]) ** share
    return Crossover(reads, value, before, after)


def equal_times(cells: Sequence[CellRow]) -> list[Crossover]:
    """Number of reads whose latencies take as long as reading the whole object, by connections.

    Arithmetic, from the latency and bandwidth that the *cells* measured: size / bandwidth ×
    connections / latency.
    """
    return [
        Crossover(
            scan.seconds * connections / scan.latency_seconds, scan.seconds, *_names(connections)
        )
        for connections, scan in _scans(cells)
    ]


def equal_prices(cells: Sequence[CellRow]) -> list[Crossover]:
    """Reads that cost as much as the whole object, by Lambda's time and S3's price of a GET."""
    prices = [cost.lambda_usd_per_second for cell in cells if (cost := read_cost(cell))]
    if not prices:  # as on a machine whose price is not known
        return []
    crossovers = []
    for connections, scan in _scans(cells):
        usd_per_second = median(prices)
        usd = scan.seconds * usd_per_second
        usd_per_read = scan.latency_seconds / connections * usd_per_second + S3_GET.each
        crossovers.append(Crossover(usd / usd_per_read, usd, *_names(connections)))
    return crossovers


@dataclass(frozen=True, slots=True)
class _Scan:
    latency_seconds: float
    seconds: float
    """To read the whole object."""


def _scans(cells: Sequence[CellRow]) -> list[tuple[int, _Scan]]:
    """For each number of connections, the scan with which single reads are compared."""
    measured = [(cell, own) for cell in cells if cell.stats and (own := RecordsStatistics.of(cell))]
    connections = {
        int(cell.setting.own["connections"])
        for cell, _ in measured
        if cell.setting.own["layout"] in SINGLE_READS
    }
    if not connections:
        return []
    latency = median(own.latency_ms for _, own in measured) / _MS
    mb_per_s = median(own.link_mb_per_s for _, own in measured)
    scan = _Scan(latency, latency + measured[0][0].object_bytes / BYTES_PER_MB / mb_per_s)
    return [(count, scan) for count in sorted(connections)]


def _names(connections: int) -> tuple[str, str]:
    return f"single reads over {connections} connections", "the whole object"
