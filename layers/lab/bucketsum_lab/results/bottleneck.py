"""The bottleneck of a cell: the limit at which its samples spent most of their time.

An interval is at a limit if at least 90 % of it is used. Lambda's network is known: 625 Mbit/s
after a burst of about 300 MB, and about 90 MB/s for a connection. Elsewhere, the network has a
limit only if more connections were not faster although the CPU was not at its limit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum_lab.protocol.run_records import Bottleneck
from bucketsum_lab.protocol.use import Limit, Use, UseCurve

if TYPE_CHECKING:
    from bucketsum_lab.protocol.run_records import CellRow
    from bucketsum_lab.protocol.samples import Sample

AT_LIMIT: Final = 0.9
SUSTAINED_BYTES_PER_S: Final = 78_125_000
BURST_BYTES: Final = 300_000_000
CONNECTION_BYTES_PER_S: Final = 90_000_000

_IN_FORCE: Final = 1.15
"""A rate above this multiple shows that the limit is not in force, as in an emulator without it."""

_THROTTLED_SHARES: Final = (0.25, 0.02)
"""Share of an interval in which a process was throttled, below its quota and at it: one thread may
use a quota of one CPU without being throttled."""

_WAIT_SHARE: Final = 0.5
"""Share of the time without CPU in which a CPU waits for the disk."""

_WAIT_SHARE_MIN: Final = 0.25
"""Share of the whole time; less is no limit of a process that is busy."""
_EXCLUDED_SHARE_MAX: Final = 0.1
_PLATEAU: Final = 0.9
_RATE_SECONDS_MIN: Final = 0.2
"""The rate of a shorter interval says little."""


@dataclass(frozen=True, slots=True)
class LambdaNetwork:
    """The network of one execution environment."""

    connections: int = 1

    def is_at_limit(self, use: Use, before_bytes: int) -> bool:
        """Whether *use* is, after *before_bytes* have passed."""
        of_connections = CONNECTION_BYTES_PER_S * self.connections
        in_burst = before_bytes + (use.network_bytes or 0) <= BURST_BYTES
        limit = of_connections if in_burst else min(of_connections, SUSTAINED_BYTES_PER_S)
        return AT_LIMIT <= (use.network_bytes or 0) / use.seconds / limit <= _IN_FORCE


@dataclass(frozen=True, slots=True)
class MeasuredNetwork:
    """The network of a machine; `bytes_per_s` is None if its limit was not reached."""

    bytes_per_s: float | None = None

    def is_at_limit(self, use: Use, before_bytes: int) -> bool:
        """Whether *use* is; *before_bytes* do not matter, as there is no burst."""
        del before_bytes
        limit = self.bytes_per_s
        return limit is not None and (use.network_bytes or 0) / use.seconds >= AT_LIMIT * limit


def bottlenecks_of(
    cells: Iterable[CellRow], samples: Mapping[str, Sequence[Sample]], *, is_lambda: bool
) -> dict[str, Bottleneck]:
    """The bottleneck of each of *cells* whose *samples* have curves, by the cell's id."""
    curves = [(cell, [*_curves(samples.get(cell.cell_id, ()))]) for cell in cells]
    measured = MeasuredNetwork() if is_lambda else _plateau(curves)
    bottlenecks = {}
    for cell, of_cell in curves:
        streams = cell.setting.streams
        of_lambda = LambdaNetwork(streams if isinstance(streams, int) else 1)
        bottleneck = bottleneck_of(of_cell, of_lambda if is_lambda else measured)
        if bottleneck:
            bottlenecks[cell.cell_id] = bottleneck
    return bottlenecks


def bottleneck_of(
    curves: Iterable[UseCurve], network: LambdaNetwork | MeasuredNetwork
) -> Bottleneck | None:
    """The limits at which *curves* are for the longest time; None if they tell no CPU time."""
    seconds: defaultdict[Limit, float] = defaultdict(float)
    total = 0.0
    for curve in curves:
        before_bytes = 0
        for use in curve.uses:
            if use.cpu is None or use.seconds <= 0:
                continue
            at_limit = [*_limits(use, curve)]
            at_limit += [Limit.NETWORK] * network.is_at_limit(use, before_bytes)
            for limit in at_limit or [Limit.WAITING]:
                seconds[limit] += use.seconds
            total += use.seconds
            before_bytes += use.network_bytes or 0
    if not total:
        return None
    longest = max(seconds.values())
    named = [limit for limit in Limit if seconds[limit] >= AT_LIMIT * longest]
    return Bottleneck(", ".join(named), round(longest / total, 3))


def _limits(use: Use, curve: UseCurve) -> Iterator[Limit]:
    """The limits of CPU and disk that *use* is at."""
    cpu, seconds = use.cpu or 0.0, use.seconds
    quota = curve.quota if curve.quota is not None and curve.quota < curve.cores else None
    is_at_quota = quota is not None and cpu >= AT_LIMIT * quota * seconds
    throttled = None if use.throttled is None else use.throttled / seconds
    if is_at_quota if throttled is None else throttled >= _THROTTLED_SHARES[is_at_quota]:
        yield Limit.CPU_SHARE
    elif max(use.busiest or 0.0, cpu / curve.cores) >= AT_LIMIT * seconds:
        yield Limit.CPU
    off_cpu = max(seconds - (use.busiest or 0.0), 0.0)
    least = max(_WAIT_SHARE * off_cpu, _WAIT_SHARE_MIN * seconds)
    if use.disk_bytes and use.wait is not None and use.wait >= least:
        yield Limit.DISK


def _curves(samples: Iterable[Sample]) -> Iterator[UseCurve]:
    """Curves of warm samples; not of those whose preparations would be judged with them."""
    for sample in samples:
        if sample.use is None or sample.warm_reading is None or sample.repetition < 1:
            continue
        seconds = sum(use.seconds for use in sample.use.uses)
        excluded_ms = sample.billing.excluded_ms if sample.billing else None
        if (excluded_ms or 0) / 1000 <= _EXCLUDED_SHARE_MAX * seconds:
            yield sample.use


def _plateau(curves: Iterable[tuple[CellRow, Sequence[UseCurve]]]) -> MeasuredNetwork:
    """The limit that cells with different numbers of connections share; else none."""
    fastest: defaultdict[int, float] = defaultdict(float)
    for cell, of_cell in curves:
        streams = cell.setting.streams
        if isinstance(streams, int):
            rates = (
                (use.network_bytes or 0) / use.seconds
                for curve in of_cell
                for use in curve.uses
                if use.seconds >= _RATE_SECONDS_MIN and not any(_limits(use, curve))
            )
            fastest[streams] = max(fastest[streams], *rates, 0.0)
    *_, first, second = sorted([0.0, 0.0, *fastest.values()])
    return MeasuredNetwork(second if first and first >= _PLATEAU * second else None)
