"""The bottleneck of a cell: the limit at which its samples spent most of their time.

An interval is at a limit if at least 90 % of it is used. Lambda's network and CPU share are
published. Elsewhere, the network has a limit only if more connections were not faster although the
CPU was not at its limit. If bytes were read that no counter has seen, as of a short connection to
the own machine, an interval without a limit is unknown, and not `waiting`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from bucketsum.memory import MEMORY_MB_PER_CPU
from bucketsum_lab.protocol.run_records import Bottleneck, CellRow
from bucketsum_lab.protocol.samples import Reading, Sample
from bucketsum_lab.protocol.use import Use, UseCurve, UseLimit
from bucketsum_lab.results.network import (
    AT_LIMIT,
    IN_FORCE,
    SampleKey,
    burst_after,
    bursts,
    is_at_lambdas_limit,
    is_at_measured_limit,
    key_of,
)

_THROTTLED_SHARES: Final = (0.25, 0.02)
"""Share of an interval in which a process was throttled, below its quota and at it: one thread may
use a quota of one CPU without being throttled."""

_WAIT_SHARE: Final = 0.5
"""Share of the time without CPU in which a CPU waits for the disk."""

_WAIT_SHARE_MIN: Final = 0.25
"""Share of the whole time; a process with less is not limited by it."""
_EXCLUDED_SHARE_MAX: Final = 0.1
_PLATEAU: Final = 0.9
_SEEN_SHARE_MIN: Final = 0.9
_RATE_SECONDS_MIN: Final = 0.2
"""The rate of a shorter interval says little."""


def bottlenecks_of(
    cells: Iterable[CellRow], samples: Mapping[str, Sequence[Sample]], *, is_lambda: bool
) -> dict[str, Bottleneck]:
    """The bottleneck of each of *cells* whose *samples* have curves, by the cell's id."""
    left = bursts(sample for own in samples.values() for sample in own) if is_lambda else {}
    curves = [(cell, [*_curves(cell, samples.get(cell.cell_id, ()), left)]) for cell in cells]
    of_machine = partial(is_at_measured_limit, None if is_lambda else _plateau(curves))
    bottlenecks = {}
    for cell, of_cell in curves:
        streams = cell.setting.streams
        of_lambda = partial(is_at_lambdas_limit, streams if isinstance(streams, int) else 1)
        bottleneck = bottleneck_of(of_cell, of_lambda if is_lambda else of_machine)
        if bottleneck:
            bottlenecks[cell.cell_id] = bottleneck
    return bottlenecks


def bottleneck_of(
    curves: Iterable[tuple[UseCurve, float]], is_at_limit: Callable[[Use, float], bool]
) -> Bottleneck | None:
    """The limits at which *curves* are for the longest time; None if that is not known.

    Each curve has the bytes of the burst that are left at its start. *is_at_limit* takes a use and
    the bytes that are left at its start, and judges the network.
    """
    seconds: defaultdict[UseLimit | None, float] = defaultdict(float)
    total = 0.0
    for curve, burst_bytes in curves:
        left = burst_bytes
        for use in curve.uses:
            if use.cpu is None or use.seconds <= 0:
                continue
            at_limit: list[UseLimit | None] = [*_limits(use, curve)]
            at_limit += [UseLimit.NETWORK] * is_at_limit(use, left)
            for limit in at_limit or [UseLimit.WAITING if use.network_bytes is not None else None]:
                seconds[limit] += use.seconds
            total += use.seconds
            left = burst_after(use, left)
    longest = max(seconds.values(), default=0.0)
    if not total or seconds[None] == longest:
        return None
    named = [limit for limit in UseLimit if seconds[limit] >= AT_LIMIT * longest]
    return Bottleneck(", ".join(named), round(longest / total, 3))


def _limits(use: Use, curve: UseCurve) -> Iterator[UseLimit]:
    """The limits of CPU and disk that *use* is at."""
    cpu, seconds = use.cpu or 0.0, use.seconds
    quota = curve.quota if curve.quota is not None and curve.quota < curve.cores else None
    share = cpu / (quota * seconds) if quota else 0.0
    throttled = None if use.throttled is None else use.throttled / seconds
    if (
        AT_LIMIT <= share <= IN_FORCE
        if throttled is None
        else throttled >= _THROTTLED_SHARES[share >= AT_LIMIT]
    ):
        yield UseLimit.CPU_SHARE
    elif max(use.busiest or 0.0, cpu / curve.cores) >= AT_LIMIT * seconds:
        yield UseLimit.CPU
    off_cpu = max(seconds - (use.busiest or 0.0), 0.0)
    least = max(_WAIT_SHARE * off_cpu, _WAIT_SHARE_MIN * seconds)
    if use.disk_bytes and use.wait is not None and use.wait >= least:
        yield UseLimit.DISK


def _curves(
    cell: CellRow, samples: Iterable[Sample], bursts_left: Mapping[SampleKey, float]
) -> Iterator[tuple[UseCurve, float]]:
    """Curves of warm samples, except those with too large a share of preparations.

    On Lambda, where each has its burst, the CPU share follows from the memory if no group tells it.
    """
    for sample in samples:
        curve, reading = sample.use, sample.warm_reading
        if curve is None or reading is None or sample.repetition < 1:
            continue
        seconds = sum(use.seconds for use in curve.uses)
        excluded_ms = sample.billing.excluded_ms if sample.billing else None
        if (excluded_ms or 0) / 1000 > _EXCLUDED_SHARE_MAX * seconds:
            continue
        burst_bytes = bursts_left.get(key_of(sample))
        if burst_bytes is not None and curve.quota is None:
            curve = replace(curve, quota=cell.setting.memory_mb / MEMORY_MB_PER_CPU)
        yield _without_missed(curve, reading), burst_bytes or 0.0


def _without_missed(curve: UseCurve, reading: Reading) -> UseCurve:
    """Remove the network bytes from *curve* if it misses too many of the bytes of *reading*."""
    seen = sum((use.network_bytes or 0) + (use.read_bytes or 0) for use in curve.uses)
    if seen >= _SEEN_SHARE_MIN * reading.size_bytes:
        return curve
    uses = (replace(use, received_bytes=None, sent_bytes=None) for use in curve.uses)
    return replace(curve, uses=tuple(uses))


def _plateau(curves: Iterable[tuple[CellRow, Sequence[tuple[UseCurve, float]]]]) -> float | None:
    """Bytes per second that cells with different numbers of connections share; else None."""
    fastest: defaultdict[int, float] = defaultdict(float)
    for cell, of_cell in curves:
        streams = cell.setting.streams
        if isinstance(streams, int):
            rates = (
                (use.network_bytes or 0) / use.seconds
                for curve, _ in of_cell
                for use in curve.uses
                if use.seconds >= _RATE_SECONDS_MIN and not any(_limits(use, curve))
            )
            fastest[streams] = max(fastest[streams], *rates, 0.0)
    *_, first, second = sorted([0.0, 0.0, *fastest.values()])
    return second if first and first >= _PLATEAU * second else None
