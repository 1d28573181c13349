"""Computed requests, US dollars and hours of a backfill; requests at the prices of us-east-1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log
from typing import Annotated, Final

from bucketsum import prices as listed
from bucketsum.backfill.enqueue import PAUSE_SECONDS
from bucketsum.backfill.listed_versions import SHARE_PAGES, SHARES_MAX
from bucketsum.backfill.messages import OBJECTS_MAX, TOTAL_BYTES_MAX
from bucketsum.backfill.plan import enqueuers_for
from bucketsum.backfill.rest import PAUSE_GROWTH
from bucketsum.hashing.ending import Purpose
from bucketsum.memory import MEMORY_MB_PER_CPU
from bucketsum.prices import Prices
from bucketsum.s3.read_plan import ReadPolicy
from bucketsum_cli.backfill.work import Work

CPU_SECONDS_PER_OBJECT: Final = 0.0022
"""CPU time besides reading, for requests and the row; from `python -m bench function`."""

READ_BYTES_PER_SECOND: Final = 75_000_000
"""Reading and hashing at the link's speed, by `python -m bench readers`."""

_CPU_NS_PER_BYTE: Final = 1.5
"""Reading and SHA-1 at 128 MB, where the CPU is the limit, by `python -m bench readers`."""

EXTRA_NS_PER_BYTE: Final[Mapping[str, float]] = {
    "sha256": 0.77, "sha512": 1.73, "md5": 1.76, "crc32": 0.25,
}  # fmt: skip
"""CPU time of each other digest, with SHA extensions, by `python -m bench digests`.

Of the machines that were measured, the slowest: an Intel Xeon. An AMD EPYC takes 0.60, 1.50, 1.50.
"""

TABLE_WRITES_PER_SECOND: Final = 4000
"""A new table's, and its index's; more is throttled until the table has grown."""

GETS_PER_SECOND: Final = 5500
"""S3 allows this many in each prefix."""

LISTED_PER_SECOND: Final = 2500
"""Objects that one enqueuer lists and queues."""

ENQUEUER_MB: Final = 256
ROUND_SECONDS: Final = 870
"""Longest invocation of an enqueuer."""

LOG_BYTES_PER_INVOCATION: Final = 1100
"""The metrics, 394 bytes on the local emulator, and about 700 of Lambda's own lines."""

LOG_BYTES_PER_OBJECT: Final = 710
"""The line ``object``, counted on the local emulator; a longer key makes it longer."""

ROW_WRITE_UNITS: Final = {Purpose.RECORD: 2, Purpose.VERIFY: 1}
"""The row of up to 1 KB, and its entry in the index by-sha1, which no verification changes."""

_ROW_BYTES: Final = 555
_INDEX_BYTES: Final = 274
"""A row and its index entry, each with the 100 bytes that DynamoDB adds."""

_SCANNED_BYTES: Final = 8192
"""[A] An eventually consistent Scan reads so many in a read unit."""
_WRITTEN_BYTES: Final = 1024
_KEPT_BYTES: Final = 8
"""Of each listed version, until the rows are counted."""
_TRANSITIONS_PER_ROUND: Final = 3
_TRANSITIONS_PER_CHILD: Final = 2
_LIST_OBJECTS: Final = 1000
_SQS_BATCH: Final = 10


class Group(StrEnum):
    """A part of an estimate."""

    RETRIEVAL = "retrieval"
    """What S3 adds for reading objects of cheap storage classes."""
    ORCHESTRATION = "orchestration"
    """Finding the objects, and passing them to the hasher."""
    HASHING = "hashing"
    """The hasher's own work, as for new objects."""
    REPORT = "report"
    """Waiting for the last object, and counting the rows."""


class Limit(StrEnum):
    """The reason why a backfill takes so long."""

    CONCURRENCY = "BackfillConcurrency"
    REQUESTS = "S3's 5,500 GETs per second and prefix"
    LISTING = "listing"
    TABLE = "a new table's 4,000 writes per second"


@dataclass(frozen=True, slots=True)
class Setup:
    """The deployed hasher, and its concurrency for backfills."""

    memory_mb: int
    concurrency: int
    batch_size: int
    chunk_bytes: int = 1024 * 1024
    is_indexed: bool = True
    algorithms: tuple[str, ...] = ()

    @property
    def cpu_share(self) -> float:
        """CPU share of an execution environment; more than one CPU is not used."""
        return min(1, self.memory_mb / MEMORY_MB_PER_CPU)

    @property
    def bytes_per_second(self) -> float:
        """Speed of an execution environment: the slower of its network and its CPU."""
        nanoseconds = _CPU_NS_PER_BYTE + sum(EXTRA_NS_PER_BYTE[name] for name in self.algorithms)
        return min(READ_BYTES_PER_SECOND, self.cpu_share * 1e9 / nanoseconds)


@dataclass(frozen=True, slots=True)
class Item:
    """A line of an estimate."""

    group: Annotated[Group, "Part of the backfill."]
    name: Annotated[str, "Item of the estimate."]
    requests: Annotated[float, "Number of requests or other units."]
    usd: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost and the time of a backfill."""

    items: Annotated[tuple[Item, ...], "Lines of the estimate."]
    hours: Annotated[float, "Estimated time until the last object is hashed."]
    limited_by: Annotated[Limit, "The limit that determines the time."]
    rows_usd_per_month: Annotated[float, "Storage of new rows, with point-in-time recovery."]
    checksum_usd: Annotated[
        float, "Price of the same checksums by S3 Batch Operations, in a report."
    ]
    memory_mb: Annotated[int, "Memory of the hasher."]
    algorithms: Annotated[tuple[str, ...], "Digests in addition to SHA-1."]
    mb_per_s: Annotated[float, "Speed of one invocation, limited by its network or its CPU."]

    @property
    def usd(self) -> float:
        """The sum of all lines."""
        return sum(item.usd for item in self.items)

    @property
    def checksum_is_cheaper(self) -> bool:
        """Whether S3's Compute checksum costs less, as it does below some 0.2 MB per object."""
        return self.checksum_usd < self.usd - self.usd_of(Group.RETRIEVAL)

    def usd_of(self, group: Group) -> float:
        """The sum of the lines of *group*."""
        return sum(item.usd for item in self.items if item.group is group)


def estimate_of(
    work: Work, setup: Setup, prices: Prices, purpose: Purpose = Purpose.RECORD
) -> Estimate:
    """Estimate a run that reads each object of *work*, without a free tier or a retry."""
    seconds, limit = _duration(work, setup)
    writes = ROW_WRITE_UNITS[purpose] - (purpose is Purpose.RECORD and not setup.is_indexed)
    items = _orchestration(work, setup, prices, seconds) + _hashing(work, setup, prices, writes)
    items += _report(work, seconds)
    stored = (_ROW_BYTES + _INDEX_BYTES * setup.is_indexed) * listed.TABLE_BYTE_MONTH.each
    rows = work.object_count * (stored + _ROW_BYTES * listed.BACKUP_BYTE_MONTH.each)
    rows *= purpose is Purpose.RECORD
    return Estimate(
        retrieval_items(work) + items,
        seconds / 3600,
        limit,
        rows,
        checksum_usd(work) * (1 + len(setup.algorithms)),
        setup.memory_mb,
        setup.algorithms,
        setup.bytes_per_second / 1e6,
    )


def checksum_usd(work: Work) -> float:
    """Price of one checksum of each object by S3 Batch Operations."""
    objects = work.object_count * listed.BATCH_OBJECT.each + listed.BATCH_JOB.each
    return objects + work.size_bytes * listed.CHECKSUM_BYTE.each


def retrieval_items(work: Work) -> tuple[Item, ...]:
    """A line for each class that costs more to read than STANDARD."""
    lines = (
        (f"bytes from {name}", work.bytes_by_class.get(name, 0), price.each)
        for name, price in listed.RETRIEVED_BYTE.items()
    )
    return _items(Group.RETRIEVAL, *(line for line in lines if line[1]))


def _object_seconds(work: Work, setup: Setup) -> float:
    """Seconds that an execution environment needs for an object."""
    own = CPU_SECONDS_PER_OBJECT / setup.cpu_share
    return own + work.mean_bytes / setup.bytes_per_second


def _gets_per_object(work: Work, setup: Setup) -> int:
    policy = ReadPolicy(None, setup.chunk_bytes, setup.memory_mb)
    return policy.plan_for(work.mean_bytes).requests(work.mean_bytes)


def _duration(work: Work, setup: Setup) -> tuple[float, Limit]:
    gets = work.object_count * _gets_per_object(work, setup)
    listers = enqueuers_for(setup.concurrency)
    return max(
        (work.object_count * _object_seconds(work, setup) / setup.concurrency, Limit.CONCURRENCY),
        (gets / GETS_PER_SECOND, Limit.REQUESTS),
        (work.listed_count / LISTED_PER_SECOND / listers, Limit.LISTING),
        (work.object_count / TABLE_WRITES_PER_SECOND, Limit.TABLE),
    )


def _messages(work: Work) -> int:
    in_message = max(1, min(OBJECTS_MAX, TOTAL_BYTES_MAX // max(1, work.mean_bytes)))
    return ceil(work.object_count / in_message)


def _orchestration(work: Work, setup: Setup, prices: Prices, seconds: float) -> tuple[Item, ...]:
    messages = _messages(work)
    invocations = messages / setup.batch_size
    pages = work.listed_count / _LIST_OBJECTS
    listers = enqueuers_for(setup.concurrency)
    rounds = ceil(seconds / ROUND_SECONDS)
    transitions = rounds * (_TRANSITIONS_PER_ROUND + listers * _TRANSITIONS_PER_CHILD)
    listing_second = prices.invocation_usd(ROUND_SECONDS * 1000, ENQUEUER_MB) / ROUND_SECONDS
    looks = pages + seconds / PAUSE_SECONDS * listers  # at the length of the queue
    sqs = messages / _SQS_BATCH + 2 * invocations + looks
    positions = pages * 2  # a position is written; the state is read
    return _items(
        Group.ORCHESTRATION,
        ("S3 lists", pages, listed.S3_LIST.each),
        ("enqueuer, Lambda seconds", seconds * listers, listing_second),
        ("state transitions", transitions, listed.STATE_TRANSITION.each),
        ("SQS requests", sqs, listed.SQS_REQUEST.each),
        ("look-ups of rows", work.listed_count, listed.READ_UNIT.each / 2),
        ("positions and counts", positions + invocations, listed.WRITE_UNIT.each),
    )


def _report(work: Work, seconds: float) -> tuple[Item, ...]:
    """The wait for the end of the run, and the balance of its rows."""
    looks = _TRANSITIONS_PER_ROUND * log(1 + seconds / PAUSE_SECONDS, PAUSE_GROWTH)
    shares = 1 + work.listed_count // _LIST_OBJECTS // SHARE_PAGES
    rows = work.listed_count * (shares if shares <= SHARES_MAX else 1)
    return _items(
        Group.REPORT,
        ("state transitions", looks, listed.STATE_TRANSITION.each),
        ("versions kept", work.listed_count, _KEPT_BYTES / _WRITTEN_BYTES * listed.WRITE_UNIT.each),
        ("rows counted", rows, _ROW_BYTES / _SCANNED_BYTES * listed.READ_UNIT.each),
    )


def _hashing(work: Work, setup: Setup, prices: Prices, writes: int) -> tuple[Item, ...]:
    invocations = _messages(work) / setup.batch_size
    gets = work.object_count * _gets_per_object(work, setup)
    seconds = work.object_count * _object_seconds(work, setup)
    compute = prices.invocation_usd(1000, setup.memory_mb) - prices.request
    logs = invocations * LOG_BYTES_PER_INVOCATION
    return _items(
        Group.HASHING,
        ("S3 GETs", gets, listed.S3_GET.each),
        ("rows written", work.object_count, writes * listed.WRITE_UNIT.each),
        ("hasher, Lambda requests", invocations, prices.request),
        ("hasher, Lambda seconds", seconds, compute),
        ("log bytes", logs, listed.LOG_BYTE.each),
    )


def _items(group: Group, *lines: tuple[str, float, float]) -> tuple[Item, ...]:
    """The lines of *group*, from names, counts and unit prices."""
    return tuple(Item(group, name, count, count * usd) for name, count, usd in lines)
