"""The tables of docs/scaling.md: the article's napkin, bursts under today's limits, what gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from bench.scaling.limits import (
    ACCOUNT_CONCURRENCY,
    MAPPING_PER_MINUTE_2021,
    Setting,
    tightest,
    uses,
)
from bench.scaling.model import Burst, Run, simulate
from bench.tables.table import Head, Table

if TYPE_CHECKING:
    from bench.scaling.limits import Use

MB_PER_S: Final = 75.0
"""What one environment reads on AWS's default network of 625 Mbit/s, about."""

OVERHEAD_SECONDS: Final = 0.05
"""Assumed of every object: a GET's first byte at its best (30 ms) and a conditional write."""

ARTICLE_BURST: Final = Burst(objects=20_000, seconds_per_object=10.0)
"""1 GB at 100 MB/s, one file per invocation; more files than three minutes are enough for."""

ARTICLE_SETTING: Final = Setting(
    "the article, 2021",
    account_concurrency=ACCOUNT_CONCURRENCY,
    ramp_per_minute=MAPPING_PER_MINUTE_2021,
)


def burst_of(
    objects: int,
    size_bytes: int,
    mb_per_s: float = MB_PER_S,
    overhead_seconds: float = OVERHEAD_SECONDS,
    batch_size: int = 1,
    at_once: int = 1,
) -> Burst:
    """Objects of *size_bytes* that are read at *mb_per_s*, with a fixed time besides."""
    seconds = overhead_seconds + size_bytes / mb_per_s / 1e6
    return Burst(objects, seconds, batch_size, at_once)


def run_of(burst: Burst, setting: Setting) -> Run:
    """*burst* under the tightest limits of *setting*."""
    return simulate(
        burst,
        setting.ramp(),
        tightest(setting.concurrency_limits()),
        tightest(setting.rate_limits(burst.batch_size)),
    )


DEFAULT: Final = Setting("the template's default", maximum_concurrency=50)
RAISED: Final = Setting("`MaximumConcurrency` 1000", maximum_concurrency=1000)
EVENLY: Final = replace(RAISED, name="the same, scaling evenly", ramp_step_seconds=1)
POLLERS: Final = Setting("100 provisioned pollers", pollers=(100, 100))
QUOTA: Final = Setting("1,000 pollers, quota of 10,000", None, (200, 1000), 10_000)

GB: Final = ("1 GB", 1_000_000_000)
SMALL: Final = ("1.56 MB", 1_562_048)
TINY: Final = ("10 kB", 10_000)


def duration_text(seconds: float) -> str:
    """Seconds, minutes or hours, with two or three digits."""
    if seconds < 100:  # noqa: PLR2004 - until here seconds say more
        return f"{seconds:.0f} s"
    if seconds < 6000:  # noqa: PLR2004 - until here minutes do
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits


def _binding(run: Run) -> str:
    """What binds, in the order in which it does."""
    return ", then ".join(dict.fromkeys(one.bound_by for one in run.minutes if one.bound_by))


def napkin() -> Table:
    """The article's minutes 1, 2 and 3, and the same today."""
    at_75 = burst_of(ARTICLE_BURST.objects, GB[1])
    cases = (
        ("the article: 100 MB/s, +60 a minute", ARTICLE_BURST, ARTICLE_SETTING),
        ("75 MB/s, +60 a minute", at_75, ARTICLE_SETTING),
        ("75 MB/s, the template's default", at_75, DEFAULT),
        ("75 MB/s, `MaximumConcurrency` 1000", at_75, RAISED),
        ("75 MB/s, the same, scaling evenly", at_75, EVENLY),
        ("75 MB/s, 100 provisioned pollers", at_75, POLLERS),
    )
    rows = []
    for name, burst, setting in cases:
        first = run_of(burst, setting).minutes[:3]
        counts = [minute.finished for minute in first]
        at_a_time = " → ".join(f"{minute.concurrency:,}" for minute in first)
        rows.append((name, at_a_time, *counts, sum(counts)))
    heads = (
        Head("assumptions", "assumptions"),
        Head("invocations at a time", "concurrency"),
        *(Head(f"minute {number}", f"minute_{number}", _number) for number in (1, 2, 3)),
        Head("in 3 minutes", "three_minutes", _number),
    )
    return Table("napkin", heads, tuple(rows))


@dataclass(frozen=True, slots=True)
class _Case:
    objects: int
    size: tuple[str, int]
    batch_size: int
    setting: Setting


_BURSTS: Final = (
    *(_Case(10_000, GB, 1, setting) for setting in (DEFAULT, RAISED, EVENLY, POLLERS, QUOTA)),
    *(_Case(100_000, SMALL, 1, setting) for setting in (DEFAULT, RAISED, POLLERS, QUOTA)),
    _Case(100_000, SMALL, 10, DEFAULT),
    *(_Case(100_000, TINY, 1, setting) for setting in (DEFAULT, RAISED, POLLERS, QUOTA)),
    _Case(100_000, TINY, 10, POLLERS),
)


def bursts() -> Table:
    """Uploads at one moment: files in the first minutes, and when all are done."""
    rows = []
    for case in _BURSTS:
        burst = burst_of(case.objects, case.size[1], batch_size=case.batch_size)
        run = run_of(burst, case.setting)
        counts = [minute.finished for minute in run.minutes[:3]]
        counts += [0] * (3 - len(counts))
        uploads = f"{case.objects:,} × {case.size[0]}"
        rows.append(
            (uploads, case.setting.name, case.batch_size, *counts, run.seconds, _binding(run))
        )
    heads = (
        Head("uploads", "uploads"),
        Head("setting", "setting"),
        Head("batch", "batch_size", _number),
        *(Head(f"minute {number}", f"minute_{number}", _number) for number in (1, 2, 3)),
        Head("all done", "seconds", duration_text),
        Head("what binds", "bound_by"),
    )
    return Table("bursts", heads, tuple(rows))


BASE_LOADS: Final = ((GB, 1000 / 3600), (SMALL, 10.0), (TINY, 10.0))
"""Objects per second, all day long: 1,000 large ones an hour; ten small ones a second."""

TIMES: Final = (1, 10, 100, 1000)


def _over(found: tuple[Use, ...]) -> str:
    """The limits that a load exceeds, each with how many times; or the closest one."""
    over = [f"{use.limit.name} ({use.share:,.1f}×)" for use in found if use.share > 1]
    closest = found[0]
    return ", ".join(over) or f"nothing; {closest.limit.name} is used to {closest.share:.0%}"


def _changes(found: tuple[Use, ...]) -> str:
    changes = dict.fromkeys(use.limit.change for use in found if use.share > 1)
    return "; ".join(changes)


def saturation(setting: Setting = DEFAULT) -> Table:
    """A steady load and its multiples: what it needs, what that exceeds, what to change."""
    rows: list[tuple[Any, ...]] = []
    for (name, size_bytes), base in BASE_LOADS:
        burst = burst_of(1, size_bytes)
        for times in TIMES:
            load = base * times
            found = uses(load, burst, setting)
            at_a_time = load / burst.objects_per_second
            gb_per_s = load * size_bytes / 1e9
            rows.append(
                (f"{name}, {times:,}×", load, at_a_time, gb_per_s, _over(found), _changes(found))
            )
    heads = (
        Head("load", "load"),
        Head("objects/s", "objects_per_second", _three_digits),
        Head("invocations at a time", "concurrency", _three_digits),
        Head("GB/s", "gb_per_second", _three_digits),
        Head("over its limit, worst first", "over"),
        Head("what to change", "change"),
    )
    return Table("saturation", heads, tuple(rows))


def tables() -> tuple[Table, ...]:
    """All that docs/scaling.md holds."""
    return napkin(), bursts(), saturation()
