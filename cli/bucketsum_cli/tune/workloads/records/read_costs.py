"""Price and crossovers of random reads, from the statistics of cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from statistics import median
from typing import Final

from bucketsum.measure import BYTES_PER_MB
from bucketsum.prices import S3_GET
from bucketsum_lab.protocol.measuring import BYTES_PER_GB
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.workloads.records.layouts import SINGLE_READS
from bucketsum_lab.workloads.records.workload import RecordsStatistics

_MS: Final = 1000


def usd_per_second(cell: CellRow) -> float | None:
    """Lambda's price of the time of *cell*; None without a measurement, or without a price."""
    stats = cell.stats
    if stats is None or stats.usd_per_gb is None:
        return None
    return stats.usd_per_gb * cell.object_bytes / BYTES_PER_GB / stats.billed_ms * _MS


def read_usd(cell: CellRow) -> float | None:
    """Lambda's time and the requests of all reads; None as of `usd_per_second`."""
    own, per_second = RecordsStatistics.of(cell), usd_per_second(cell)
    if own is None or per_second is None:
        return None
    return own.total_seconds * per_second + own.request_usd


def build_usd(cell: CellRow) -> float | None:
    """The requests that store the data, and Lambda's time if the reader builds the layout."""
    own, per_second = RecordsStatistics.of(cell), usd_per_second(cell)
    if own is None or per_second is None:
        return None
    return own.build_usd + own.build_seconds * per_second


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
        Crossover(whole * connections / latency, whole, *_names(connections))
        for connections, latency, whole in _scans(cells)
    ]


def equal_prices(cells: Sequence[CellRow]) -> list[Crossover]:
    """Reads that cost as much as the whole object, by Lambda's time and S3's price of a GET."""
    prices = [price for cell in cells if (price := usd_per_second(cell)) is not None]
    if not prices:  # as on a machine whose price is not known
        return []
    crossovers = []
    for connections, latency, whole in _scans(cells):
        usd = whole * median(prices)
        usd_per_read = latency / connections * median(prices) + S3_GET.each
        crossovers.append(Crossover(usd / usd_per_read, usd, *_names(connections)))
    return crossovers


def _scans(cells: Sequence[CellRow]) -> list[tuple[int, float, float]]:
    """Each number of connections; the seconds of a GET's latency, and of the whole object."""
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
    whole = latency + measured[0][0].object_bytes / BYTES_PER_MB / mb_per_s
    return [(count, latency, whole) for count in sorted(connections)]


def _names(connections: int) -> tuple[str, str]:
    return f"single reads over {connections} connections", "the whole object"
