"""Figures of a snapshot: the answers of the page's queries, and what follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, islice
from typing import Any, Final, TypeAlias

from bucketsum import prices
from bucketsum_cli.backfill.estimate import LOG_BYTES_PER_OBJECT, Group, Setup, estimate_of
from bucketsum_cli.backfill.work import Work
from bucketsum_cli.snapshots.database import Database
from bucketsum_cli.snapshots.folder import Snapshot

Record: TypeAlias = Mapping[str, Any]

COST_DAYS: Final = 30

_DAYS: Final = 60
_GROUPS: Final = 10
_COPIES: Final = 4
"""Of each group of duplicates; the first is to stay."""
_MEMORY_MB: Final = 256
_ARCHITECTURE: Final = "arm64"
_MESSAGE_REQUESTS: Final = 1.2
"""SQS's for each object, which S3 sends, and the hasher receives and deletes in batches of ten."""
_IDLE_REQUESTS: Final = 1_900_000
"""SQS's in a month in which nothing arrives; docs/explanation/cost.md has this."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that a page shows.

    Attributes:
        is_listed: Whether the snapshot has a listing of every bucket that is known.
        totals: By bucket, storage class, state and whether the objects are present.
        duplicates: Of the groups that waste most, the first copies; one of each group is to stay.
        arrivals: Each of the last days, the newest first.
        costs: Item → USD per month.
    """

    is_listed: bool
    totals: Sequence[Record]
    problems: Sequence[Record]
    verification: Sequence[Record]
    duplicates: Sequence[Sequence[Record]]
    arrivals: Sequence[Record]
    named: Sequence[Record]
    costs: Mapping[str, float]

    @property
    def stored(self) -> list[Record]:
        """The totals of the objects that exist."""
        return [row for row in self.totals if row["present"]]

    @property
    def states(self) -> dict[str, int]:
        """State → objects, those without problems too."""
        return summed(self.totals, "state")

    def list_of(self, name: str) -> list[Record]:
        """The ``largest``, ``newest`` or ``gone`` objects."""
        return [row for row in self.named if row["list"] == name]

    def buckets(self) -> list[Record]:
        """The totals of each bucket, the largest first."""
        ordered = sorted(self.totals, key=lambda row: str(row["bucket"]))
        grouped = (
            (bucket, [*rows]) for bucket, rows in groupby(ordered, lambda row: row["bucket"])
        )
        return sorted(
            (_bucket(bucket, rows) for bucket, rows in grouped),
            key=lambda row: (-row["size_bytes"], row["bucket"]),
        )


def total(rows: Iterable[Record], column: str = "objects") -> Any:  # noqa: ANN401 - int or float
    """The sum of a *column* of *rows*."""
    return sum(row[column] for row in rows)


def summed(rows: Iterable[Record], name: str, column: str = "objects") -> dict[str, int]:
    """Value of the column *name* → sum of a *column*, the largest first."""
    sums: Counter[str] = Counter()
    for row in rows:
        sums[row[name]] += row[column]
    return dict(sums.most_common())


def figures_of(database: Database, snapshot: Snapshot) -> Figures:
    """Ask the *database* of *snapshot* everything; it has the table of storage prices."""

    def ask(query: str, **question: str | int | bool) -> list[Record]:
        return list(database.ask(query, **question).records())

    last = datetime.fromisoformat(snapshot.ended_at).date()
    days = [str(last - timedelta(days=age)) for age in range(_DAYS)]
    arrived = {row["day"]: row for row in ask("arrivals", since=days[-1])}
    nothing = {"objects": 0, "size_bytes": 0}
    arrivals = [{**arrived.get(day, nothing), "day": day} for day in days]
    totals = ask("totals")
    whole = {keys.bucket for keys in snapshot.listed if not keys.prefix}
    return Figures(
        is_listed=bool(whole) and whole >= {row["bucket"] for row in totals if row["present"]},
        totals=totals,
        problems=ask("problems", reasons=10),
        verification=ask("verification", day=str(last)),
        duplicates=[*_duplicates(database)],
        arrivals=arrivals,
        named=ask("named"),
        costs=_costs(snapshot, arrivals[:COST_DAYS]),
    )


def _duplicates(database: Database) -> Iterator[list[Record]]:
    answer = database.ask(
        "duplicates", bucket="", prefix="", least_bytes=1, with_members=False, groups=_GROUPS
    )
    for _, copies in groupby(answer.records(), key=lambda copy: copy["place"]):
        yield [*islice(copies, _COPIES)]


def _bucket(bucket: str, rows: Sequence[Record]) -> Record:
    stored = [row for row in rows if row["present"]]
    names = ("objects", "size_bytes", "usd_per_month")
    return {
        "bucket": bucket,
        **{name: total(stored, name) for name in names},
        "classes": summed(stored, "storage_class", "size_bytes"),
        "states": summed(rows, "state"),
    }


def _costs(snapshot: Snapshot, days: Sequence[Record]) -> dict[str, float]:
    """The price of the stack in a month, if as much arrives as on *days*."""
    count, setup = total(days), Setup(_MEMORY_MB, 1, 1)
    listed = prices.prices_in(snapshot.region, _ARCHITECTURE)
    hashing = estimate_of(Work(count, total(days, "size_bytes")), setup, listed)
    logs = LOG_BYTES_PER_OBJECT * prices.LOG_BYTE.each
    message = _MESSAGE_REQUESTS * prices.SQS_REQUEST.each + logs
    rows = estimate_of(Work(snapshot.rows, 0), setup, listed).rows_usd_per_month
    return {
        f"hashing as in the last {COST_DAYS} days": hashing.usd_of(Group.HASHING) + count * message,
        f"{snapshot.rows:,} rows in DynamoDB, with recovery": rows,
        "queues, while nothing arrives": _IDLE_REQUESTS * prices.SQS_REQUEST.each,
    }
