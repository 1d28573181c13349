"""Figures of a snapshot: the answers of the page's queries, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from bucketsum import prices
from bucketsum_cli.backfill.estimate import LOG_BYTES_PER_OBJECT, Group, Setup, Work, estimate_of

if TYPE_CHECKING:
    from bucketsum_cli.snapshots.database import Database
    from bucketsum_cli.snapshots.folder import Snapshot

Record: TypeAlias = Mapping[str, Any]
Figures: TypeAlias = Mapping[str, Sequence[Record]]
"""Section of the page → its rows."""

COST_DAYS: Final = 30

_DAYS: Final = 60
_MEMORY_MB: Final = 256
_ARCHITECTURE: Final = "arm64"
_MESSAGE_REQUESTS: Final = 1.2
"""SQS's for each object, which S3 sends, and the hasher receives and deletes in batches of ten."""
_IDLE_REQUESTS: Final = 1_900_000
"""SQS's in a month in which nothing arrives; docs/explanation/cost.md has this."""


def total(rows: Iterable[Record], column: str = "objects") -> Any:  # noqa: ANN401 - int or float
    """The sum of a *column* of *rows*."""
    return sum(row[column] for row in rows)


def is_listed(snapshot: Snapshot, figures: Figures) -> bool:
    """Whether *snapshot* has a listing of every bucket that is known."""
    whole = {keys.bucket for keys in snapshot.listed if not keys.prefix}
    return bool(whole) and whole >= {row["bucket"] for row in figures["stored"]}


def figures_of(database: Database, snapshot: Snapshot) -> Figures:
    """Ask the *database* of *snapshot* everything; it has the table of storage prices.

    Duplicates are the first copy in each of the groups that waste most; arrivals have each of the
    last days, the newest first.
    """

    def ask(query: str, **question: str | int | bool) -> list[Record]:
        return list(database.ask(query, **question).records())

    last = datetime.fromisoformat(snapshot.ended_at).date()
    days = [str(last - timedelta(days=age)) for age in range(_DAYS)]
    arrived = {row["day"]: row for row in ask("arrivals", since=days[-1])}
    nothing = {"objects": 0, "size_bytes": 0}
    arrivals = [{**arrived.get(day, nothing), "day": day} for day in days]
    copies = database.ask(
        "duplicates", bucket="", prefix="", least_bytes=1, with_members=False, groups=10
    ).records()
    duplicates = [next(rows) for _, rows in groupby(copies, key=lambda copy: copy["place"])]
    lists = ask("largest_and_newest")
    return {
        "stored": ask("totals"),
        "problems": ask("problems", reasons=10),
        "verification": ask("verification", day=str(last)),
        "duplicates": duplicates,
        "arrivals": arrivals,
        "largest": [row for row in lists if row["list"] == "largest"],
        "newest": [row for row in lists if row["list"] == "newest"],
        "costs": _costs(snapshot, arrivals[:COST_DAYS]),
        "settings": ask("last_sweep"),
    }


def _costs(snapshot: Snapshot, days: Sequence[Record]) -> list[Record]:
    """The price of the stack in a month, if as much arrives as on *days*."""
    count, setup = total(days), Setup(_MEMORY_MB, 1, 1)
    listed = prices.prices_in(snapshot.region, _ARCHITECTURE)
    hashing = estimate_of(Work(count, total(days, "size_bytes")), setup, listed)
    logs = LOG_BYTES_PER_OBJECT * prices.LOG_BYTE.each
    message = _MESSAGE_REQUESTS * prices.SQS_REQUEST.each + logs
    rows = estimate_of(Work(snapshot.rows, 0), setup, listed).rows_usd_per_month
    items = {
        f"hashing as in the last {COST_DAYS} days": hashing.usd_of(Group.HASHING) + count * message,
        f"{snapshot.rows:,} rows in DynamoDB, with recovery": rows,
        "queues, while nothing arrives": _IDLE_REQUESTS * prices.SQS_REQUEST.each,
    }
    items["the stack, together"] = sum(items.values())
    return [{"item": item, "usd_per_month": usd} for item, usd in items.items()]
