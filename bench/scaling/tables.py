"""The tables of bench/measured/scaling.md."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, Final

from bench.scaling.limits import MAPPING_PER_MINUTE_2021, Setting
from bench.scaling.model import Burst, estimate, uses
from bench.tables.table import Column, Table

MB_PER_S: Final = 75.0
"""Speed of one execution environment on AWS's default network of 625 Mbit/s, about."""

OVERHEAD_SECONDS: Final = 0.05
"""Assumed for every object: a GET's first byte at its best (30 ms), and a conditional write."""

BASELINE_BURST: Final = Burst(objects=20_000, seconds_per_object=10.0)
"""1 GB at 100 MB/s, one file per invocation; more files than three minutes are enough for."""

BASELINE_SETTING: Final = Setting("the baseline, 2021", per_minute=MAPPING_PER_MINUTE_2021)
DEFAULT: Final = Setting("the template's default", maximum_concurrency=50)
RAISED: Final = Setting("`MaximumConcurrency` 1000", maximum_concurrency=1000)
EVENLY: Final = replace(RAISED, name="the same, scaling evenly", evenly=True)

GB: Final = ("1 GB", 1_000_000_000)
SMALL: Final = ("1.56 MB", 1_562_048)

BASE_LOADS: Final = ((GB, 1000 / 3600), (SMALL, 10.0))
"""Objects per second at 1×: 1,000 large ones per hour; ten small ones per second."""

TIMES: Final = (10, 100, 1000)

_BURSTS: Final = (
    *((10_000, GB, setting) for setting in (DEFAULT, RAISED)),
    *((100_000, SMALL, setting) for setting in (DEFAULT, RAISED)),
)
_MINUTES: Final = 3


def burst_of(objects: int, size_bytes: int) -> Burst:
    """Objects of *size_bytes* at `MB_PER_S` and `OVERHEAD_SECONDS`."""
    return Burst(objects, OVERHEAD_SECONDS + size_bytes / MB_PER_S / 1e6)


def duration_text(seconds: float) -> str:
    """Seconds, minutes or hours, with two or three digits."""
    if seconds < 100:  # noqa: PLR2004 - up to here seconds are more exact
        return f"{seconds:.0f} s"
    if seconds < 6000:  # noqa: PLR2004 - up to here minutes are
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits


_MINUTE_COLUMNS: Final = tuple(
    Column(f"minute {number}", f"minute_{number}", _number) for number in range(1, _MINUTES + 1)
)


def baseline_estimate() -> Table:
    """The baseline article's minutes 1, 2 and 3, and the estimate with today's limits."""
    at_75 = burst_of(BASELINE_BURST.objects, GB[1])
    cases = (
        ("the baseline: 100 MB/s, +60 a minute", BASELINE_BURST, BASELINE_SETTING),
        ("75 MB/s, +60 a minute", at_75, BASELINE_SETTING),
        *((f"75 MB/s, {each.name}", at_75, each) for each in (DEFAULT, RAISED, EVENLY)),
    )
    rows = []
    for name, burst, setting in cases:
        result = estimate(burst, setting)
        minutes = result.minutes[:_MINUTES]
        finished = [minute.finished for minute in minutes]
        concurrency = " → ".join(f"{minute.concurrency:,}" for minute in minutes)
        rows.append((name, concurrency, *finished, sum(finished)))
    columns = (
        Column("assumptions", "assumptions"),
        Column("concurrent invocations", "concurrency"),
        *_MINUTE_COLUMNS,
        Column("in 3 minutes", "three_minutes", _number),
    )
    return Table("baseline-estimate", columns, tuple(rows))


def bursts() -> Table:
    """Time until all files of a burst are finished, and the limits on the way."""
    rows = []
    for objects, (size, size_bytes), setting in _BURSTS:
        result = estimate(burst_of(objects, size_bytes), setting)
        limits = ", then ".join(dict.fromkeys(minute.limit for minute in result.minutes))
        uploads = f"{objects:,} × {size}"
        rows.append((uploads, setting.name, result.seconds, limits))
    columns = (
        Column("uploads", "uploads"),
        Column("setting", "setting"),
        Column("all done", "seconds", duration_text),
        Column("limit reached", "limit"),
    )
    return Table("bursts", columns, tuple(rows))


def saturation() -> Table:
    """A constant load and multiples of it: their needs, exceeded limits, and how to raise these."""
    rows: list[tuple[Any, ...]] = []
    for ((name, size_bytes), base), times in product(BASE_LOADS, TIMES):
        burst = burst_of(1, size_bytes)
        rate = base * times
        load = uses(rate, burst, DEFAULT)
        exceeded = [(share, limit) for share, limit in load if share > 1]
        share, closest = load[0]
        listed = ", ".join(f"{limit.name} ({share:,.1f}×)" for share, limit in exceeded)
        needs = rate, rate * burst.seconds_per_object, rate * size_bytes / 1e9
        changes = "; ".join(dict.fromkeys(limit.change for _, limit in exceeded))
        unlimited = f"none; {closest.name} is used to {share:.0%}"
        rows.append((f"{name}, {times:,}×", *needs, listed or unlimited, changes))
    columns = (
        Column("load", "load"),
        Column("objects/s", "objects_per_second", _three_digits),
        Column("concurrent invocations", "concurrency", _three_digits),
        Column("GB/s", "gb_per_second", _three_digits),
        Column("limits exceeded, worst first", "exceeded"),
        Column("change", "change"),
    )
    return Table("saturation", columns, tuple(rows))


def tables() -> tuple[Table, ...]:
    """All tables of bench/measured/scaling.md."""
    return baseline_estimate(), bursts(), saturation()
