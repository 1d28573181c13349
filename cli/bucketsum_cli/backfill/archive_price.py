"""The price of an archive: hashing it, keeping the rows, reading it again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Annotated, Final

from bucketsum.backfill.selection import ARCHIVED
from bucketsum.hashing.ending import Purpose
from bucketsum.prices import Prices
from bucketsum_cli.backfill.alternatives import alternatives
from bucketsum_cli.backfill.estimate import Estimate, Group, Setup, estimate_of
from bucketsum_cli.backfill.work import Work

_DAYS_PER_YEAR: Final = 365
_MONTHS: Final = 12


@dataclass(frozen=True, slots=True)
class VerificationPlan:
    """Verifications after which no object was read longer ago than *days*."""

    days: Annotated[int, "Every object is read again within so many days."]

    @property
    def interval_days(self) -> int:
        """Days between two runs: the shorter, the later an object is due."""
        return 7 if self.days >= 14 else 1  # noqa: PLR2004 - two weeks

    @property
    def older_than_days(self) -> int:
        """Age below which a run leaves objects out."""
        return self.days - self.interval_days

    @property
    def readings_per_year(self) -> float:
        """Number of times that an object is read."""
        runs = max(1, ceil(self.older_than_days / self.interval_days))
        return _DAYS_PER_YEAR / (runs * self.interval_days)

    @property
    def parameters(self) -> str:
        """The template's, as `sam deploy --parameter-overrides` takes them."""
        unit = "day" if self.interval_days == 1 else "days"
        return (
            f"VerifySchedule='rate({self.interval_days} {unit})' "
            f"VerifyOlderThanDays={self.older_than_days}"
        )


@dataclass(frozen=True, slots=True)
class PriceLine:
    """A service, or a part of one, and its price."""

    service: Annotated[str, "bucketsum, or an alternative to it."]
    item: Annotated[str, "The part; `sum` for all of it."]
    usd_once: Annotated[float, "US dollars for the first reading."]
    usd_per_year: Annotated[float, "US dollars for a year."]


@dataclass(frozen=True, slots=True)
class ArchivePrice:
    """Prices of an archive, as `estimate` computes them."""

    lines: Annotated[tuple[PriceLine, ...], "Parts of bucketsum, their sum, the alternatives."]
    first: Annotated[Estimate, "The first reading."]


def work_of(shares: Mapping[str, float], objects: int, mean_size: int, *, archived: bool) -> Work:
    """Return the objects of classes that must be restored first, or those of the others."""
    chosen = {name: part for name, part in shares.items() if (name in ARCHIVED) is archived}
    sizes = {name: round(part * objects * mean_size) for name, part in chosen.items()}
    return Work(round(objects * sum(chosen.values())), sum(sizes.values()), sizes)


def price_of(
    work: Work, setup: Setup, prices: Prices, schedule: VerificationPlan | None
) -> ArchivePrice:
    """The price of *work*, of which nothing is recorded yet, and of a year of *schedule*."""
    first = estimate_of(work, setup, prices)
    readings = schedule.readings_per_year if schedule else 0.0
    retrieval = first.usd_of(Group.RETRIEVAL)
    own = [
        ("reading and hashing", _work_usd(first), _verifications(work, setup, prices, schedule)),
        ("S3's retrieval", retrieval, retrieval * readings),
        ("rows in DynamoDB, with recovery", 0.0, first.rows_usd_per_month * _MONTHS),
    ]
    own.append(("sum", sum(usd for _, usd, _ in own), sum(usd for *_, usd in own)))
    lines = [PriceLine("bucketsum", *line) for line in own]
    others = (
        PriceLine(service.value, "sum", usd, usd * readings)
        for service, usd in alternatives(work, 1 + len(setup.algorithms)).items()
    )
    return ArchivePrice((*lines, *others), first)


def _work_usd(estimate: Estimate) -> float:
    return estimate.usd - estimate.usd_of(Group.RETRIEVAL)


def _verifications(
    work: Work, setup: Setup, prices: Prices, schedule: VerificationPlan | None
) -> float:
    """A year's runs: each lists everything, looks up every row, and reads what is due."""
    if schedule is None:
        return 0.0
    runs = _DAYS_PER_YEAR / schedule.interval_days
    share = schedule.readings_per_year / runs
    due = round(work.object_count * share)
    size_bytes, passed_over = round(work.size_bytes * share), work.object_count - due
    part = replace(work, object_count=due, size_bytes=size_bytes, passed_over=passed_over)
    return runs * _work_usd(estimate_of(part, setup, prices, Purpose.VERIFY))
