"""Overdue: a bucket without a verification in the time that the schedule promises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bucketsum.backfill.backfill_records import SCHEDULE, Backfill, BackfillStatus
from bucketsum.backfill.rest import days_ago
from bucketsum.hashing.ending import Purpose

_RATE: Final = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_CRON: Final = re.compile(r"cron\((.+)\)")
_DAYS: Final = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1}
_MONTHS: Final = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()  # noqa: SIM905 - short
_MONTH_DAYS: Final = 31
_ANY: Final = ("*", "?")


def period_days(schedule: str) -> float:
    """Longest time in days between two times of *schedule*: exact for a rate, at most for a cron.

    A cron expression that names a year, or is not understood, has a period of a year.
    """
    if rate := _RATE.fullmatch(schedule.strip()):
        return int(rate[1]) * _DAYS[rate[2]]
    fields = match[1].split() if (match := _CRON.fullmatch(schedule.strip())) else []
    if len(fields) != 6 or fields[5] != "*":  # noqa: PLR2004 - minutes to years
        return 366
    _, _, days, months, weekdays, _ = fields
    if months not in _ANY:
        return _month_gap(months) * _MONTH_DAYS
    if days not in _ANY:
        return _MONTH_DAYS
    if weekdays not in _ANY:
        return _MONTH_DAYS if "#" in weekdays or "L" in weekdays else 7
    return 1


def _month_gap(field: str) -> int:
    """The longest gap in months between the months of *field*."""
    chosen = sorted({month for part in field.split(",") for month in _months(part)})
    if not chosen:
        return 12
    pairs = zip(chosen, [*chosen[1:], chosen[0] + 12], strict=True)
    return max(later - earlier for earlier, later in pairs)


def _months(part: str) -> Iterable[int]:
    span, _, step = part.partition("/")
    first, _, last = span.partition("-")
    begin = 1 if first in _ANY else _month(first)
    end = _month(last) if last else 12 if step or first in _ANY else begin
    return range(begin, end + 1, int(step or 1))


def _month(text: str) -> int:
    return _MONTHS.index(text.upper()) + 1 if text.upper() in _MONTHS else int(text)


def overdue(
    buckets: Iterable[str],
    runs: Sequence[Backfill],
    schedule: str,
    older_than_days: int,
    first_seen: Mapping[str, str],
) -> dict[str, str]:
    """Buckets whose verification is overdue, and why.

    *runs* are all that are recorded; *first_seen* says since when each bucket is watched.
    A bucket is overdue if its newest verification failed, or none ended in time. A run by hand
    counts if it leaves nothing out.
    """
    allowed = period_days(schedule) + older_than_days
    limit = days_ago(allowed)
    late: dict[str, str] = {}
    for bucket in buckets:
        mine = [run for run in runs if run.bucket == bucket and _keeps_promise(run)]
        newest = max(mine, key=lambda run: run.started_at, default=None)
        ended = max((run.rested_at or "" for run in mine), default="")
        if newest and newest.status is BackfillStatus.FAILED:
            late[bucket] = f"{newest.backfill_id} failed: {newest.failure}"
        elif max(ended, first_seen.get(bucket, "")) < limit:
            when = f"the last verification ended at {ended}" if ended else "it was never verified"
            late[bucket] = f"{when}; VerifySchedule promises one in {allowed:g} days"
    return late


def _keeps_promise(run: Backfill) -> bool:
    """Whether it verifies what the schedule does: a part of a bucket delays no alarm."""
    leaves_out = run.is_partial or run.older_than or run.storage_classes or not run.all_versions
    return run.purpose is Purpose.VERIFY and (run.started_by == SCHEDULE or not leaves_out)
