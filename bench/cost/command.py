"""Cost of hashing: ``python -m bench cost``."""

from dataclasses import astuple, replace
from itertools import chain, product
from pathlib import Path
from typing import Final

import click

from bench.cost.alternatives import alternatives
from bench.cost.measured import SMALL_BYTES, MeasuredHandling, measured_in
from bench.cost.model import BYTES_PER_TB, Cost, Handling, cost_of
from bench.tables import options
from bench.tables.document import with_tables, write, written_between
from bench.tables.table import Columns, SpreadColumn, Table, dollars, numbers, show
from bucketsum.hashing.ending import Purpose
from bucketsum.memory import MEMORY_MB_PER_CPU
from bucketsum.prices import (
    ARCHITECTURES,
    ATHENA_BYTE,
    DEFAULT_REGION,
    EXPORTED_BYTE,
    METADATA_OBJECT,
    PRICE_DATE,
    PRICES,
    READ_UNIT,
    prices_in,
)
from bucketsum_cli.backfill.alternatives import Service
from bucketsum_cli.backfill.alternatives import alternatives as prices_of
from bucketsum_cli.backfill.archive_price import VerificationPlan, price_of
from bucketsum_cli.backfill.estimate import Group, Setup, estimate_of
from bucketsum_cli.backfill.work import Work
from bucketsum_cli.terminal.formatting import size_text

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "explanation" / "cost.md"
README: Final = DOCUMENT.parents[2] / "README.md"
VERIFY: Final = DOCUMENT.parents[1] / "how-to" / "verify.md"
DETAILS: Final = Path(__file__).parents[1] / "measured" / "cost.md"

_SIZES: Final = (SMALL_BYTES, 10_000)
"""The average of the small objects that are measured, and a very small one."""

_OVERHEAD_SECONDS: Final = 0.05
"""Assumed for every object: a GET's first byte at its best (30 ms), and a conditional write."""

_BATCHES: Final = (1, 10)
_DEFAULT_MEMORY_MB: Final = 256
_COLD_MEMORIES_MB: Final = (128, 256, 512, 1769)

_MEMORY: Final = "memory (MB)"
_OBJECT: Final = SpreadColumn("object", size_text)
_PER_TB: Final = dollars(*(f"USD per TB, {name}" for name in ARCHITECTURES))


def per_tb(measured: MeasuredHandling) -> Table:
    """Bucketsum's reader and the baseline in each configuration."""
    rows = []
    for speed in measured.speeds:
        usd = _usd_per_tb(speed.memory_mb, speed.object_bytes, speed.mb_per_s, speed.gets)
        place = speed.memory_mb, speed.link, speed.object_bytes
        rows.append((*place, speed.reader, speed.mb_per_s, *usd))
    columns: Columns = (
        _MEMORY,
        "network (Mbit/s)",
        _OBJECT,
        "reader",
        *numbers("MB/s", decimals=1),
        *_PER_TB,
        *dollars("of which requests"),
    )
    return Table("cost-tb", columns, tuple(rows))


def _usd_per_tb(
    memory_mb: int, object_bytes: int, mb_per_s: float, gets: int = 1
) -> tuple[float, float, float]:
    """Cost per TB on arm64 and on x86_64, and its part without compute time."""
    seconds = object_bytes / 1e6 / mb_per_s
    arm, x86 = _costs(Handling(memory_mb, "", object_bytes, seconds, gets=gets))
    tb = BYTES_PER_TB / object_bytes
    return arm.total * tb, x86.total * tb, arm.requests * tb


def _costs(handling: Handling) -> list[Cost]:
    """Of *handling* on each of `ARCHITECTURES`."""
    return [cost_of(replace(handling, architecture=name)) for name in ARCHITECTURES]


_SHOWN_BYTES: Final = (100_000_000, 3_000_000)
"""A photo archive's masters, and its files for the web."""


def in_short(measured: MeasuredHandling) -> Table:
    """A terabyte in large and in small objects, one for each invocation, by default."""
    speed = measured.deployed()[_DEFAULT_MEMORY_MB]
    rows: list[tuple[object, ...]] = []
    for object_bytes in _SHOWN_BYTES:
        seconds = _OVERHEAD_SECONDS + object_bytes / 1e6 / speed
        usd = cost_of(Handling(_DEFAULT_MEMORY_MB, "arm64", object_bytes, seconds)).total
        work = Work(BYTES_PER_TB // object_bytes, BYTES_PER_TB)
        checksums = prices_of(work)[Service.CHECKSUM]
        rows.append((object_bytes, f"${usd * work.object_count:.2f}", f"${checksums:.2f}"))
    columns: Columns = (
        SpreadColumn("1 TB in objects of", lambda size: size_text(size).replace(".0 ", " ")),
        "bucketsum",
        "S3 Batch Operations, compute checksum",
    )
    return Table("cost-short", columns, tuple(rows))


def small_objects(measured: MeasuredHandling) -> Table:
    """Cost of a million small objects, item by item, for memory sizes below one vCPU."""
    rows: list[tuple[object, ...]] = []
    deployed = sorted(measured.deployed().items())
    for object_bytes, (memory_mb, speed), batch in product(_SIZES, deployed, _BATCHES):
        if memory_mb >= MEMORY_MB_PER_CPU:
            continue
        known = measured.smalls.get((memory_mb, batch)) if object_bytes == SMALL_BYTES else None
        assumed = _OVERHEAD_SECONDS + object_bytes / 1e6 / speed
        seconds, basis = (assumed, "assumed") if known is None else (known, "measured")
        arm, x86 = _costs(Handling(memory_mb, "", object_bytes, seconds, batch))
        usd = (1e6 * amount for amount in (*astuple(arm), arm.total, x86.total))
        rows.append((object_bytes, memory_mb, batch, seconds * 1000, basis, *usd))
    titles = ("compute time", "invocations", "SQS", "S3", "DynamoDB", "logs")
    columns: Columns = (
        _OBJECT,
        _MEMORY,
        "batch",
        *numbers("ms per object", decimals=0),
        "source of time",
        *dollars(*titles, *(f"total, {name}" for name in ARCHITECTURES)),
    )
    return Table("cost-small", columns, tuple(rows))


def small_by_default(measured: MeasuredHandling) -> Table:
    """Cost of a million objects of the average size, with the template's memory."""
    every = small_objects(measured)
    rows = tuple(row for row in every.rows if row[:2] == (SMALL_BYTES, _DEFAULT_MEMORY_MB))
    return replace(every, name="cost-small-default", rows=rows)


def lean(measured: MeasuredHandling) -> Table:
    """Cost of a million objects in batches of ten without the index, the log lines, or both."""
    batch = max(_BATCHES)
    seconds = measured.smalls[_DEFAULT_MEMORY_MB, batch]
    handling = Handling(_DEFAULT_MEMORY_MB, "", SMALL_BYTES, seconds, batch)
    rows: list[tuple[object, ...]] = []
    for is_indexed, is_logged in product((True, False), repeat=2):
        arm, x86 = _costs(replace(handling, is_indexed=is_indexed, is_logged=is_logged))
        settings = "yes" if is_indexed else "no", "all" if is_logged else "problems"
        rows.append((*settings, 1e6 * arm.total, 1e6 * x86.total))
    columns: Columns = ("`Sha1Index`", "`LogObjects`", *dollars(*ARCHITECTURES))
    return Table("cost-lean", columns, tuple(rows))


def cold_starts(measured: MeasuredHandling) -> Table:
    """Cost of a thousand cold starts."""
    gb_second = prices_in(DEFAULT_REGION, "arm64").gb_second
    rows = (
        (name, ms, *(ms * memory_mb / 1024 * gb_second for memory_mb in _COLD_MEMORIES_MB))
        for name, ms in measured.starts.items()
    )
    by_memory = dollars(*(f"{memory_mb} MB" for memory_mb in _COLD_MEMORIES_MB))
    columns: Columns = ("cold start", *numbers("ms", decimals=0), *by_memory)
    return Table("cost-cold", columns, tuple(rows))


def prices() -> Table:
    """All prices that the tables use."""
    rows = ((price.what, price.usd, price.per, price.source, price.read) for price in PRICES)
    columns: Columns = (
        "unit",
        SpreadColumn("USD", lambda usd: f"{usd:.10f}".rstrip("0").rstrip(".")),
        SpreadColumn("per", "{:,}".format),
        "AWS's page",
        "read from",
    )
    return Table("cost-prices", columns, tuple(rows))


_BACKFILL: Final = Work(10**9, 10**9 * 100_000)
_SLOW_LANE: Final = Setup(memory_mb=_DEFAULT_MEMORY_MB, concurrency=10, batch_size=10)


def backfill() -> Table:
    """The estimate of a backfill of 10⁹ objects of 100 kB with the template's defaults."""
    estimate = estimate_of(_BACKFILL, _SLOW_LANE, prices_in(DEFAULT_REGION, "arm64"))
    rows: list[tuple[object, ...]] = [
        (item.group.value, item.name, item.requests, item.usd) for item in estimate.items
    ]
    rows += [(group.value, "sum", None, estimate.usd_of(group)) for group in Group]
    columns: Columns = ("part", "item", SpreadColumn("number", "{:,.0f}".format), *dollars("USD"))
    return Table("cost-backfill", columns, tuple(rows))


_ROWS: Final = 10**9
_ROW_BYTES: Final = {"table": 555, "export": 100, "Parquet": 50}
"""Of a row: measured in the table; assumed in gzip, and in the columns that are read."""


def questions() -> Table:
    """Prices of the steps of a question to Athena about 10⁹ rows, at most."""
    rows: list[tuple[object, ...]] = []
    for step, form, reads, price in (
        ("DynamoDB's export", "table", 1, EXPORTED_BYTE),
        ("the table `items`, once", "export", 1, ATHENA_BYTE),
        ("the table `versions`, once", "Parquet", 5, ATHENA_BYTE),
        ("`duplicates`", "Parquet", 2, ATHENA_BYTE),
    ):
        scanned = _ROWS * _ROW_BYTES[form] * reads
        rows.append((step, scanned, scanned * price.each))
    rows.append(("a live inventory table, filled once", None, _ROWS * METADATA_OBJECT.each))
    size_bytes = _ROWS * _ROW_BYTES["table"]
    rows.append(("a scan in place of the export", size_bytes, size_bytes / 8192 * READ_UNIT.each))
    columns: Columns = ("step", SpreadColumn("bytes", size_text), *dollars("USD"))
    return Table("cost-questions", columns, tuple(rows))


_VERIFIED_TB: Final = 40
_VERIFIED_BYTES: Final = (100_000_000, 1_000_000)


def verification() -> Table:
    """The estimate of one verification of 40 TB, beside AWS's fixity solution."""
    arm64 = prices_in(DEFAULT_REGION, "arm64")
    rows: list[tuple[object, ...]] = []
    for object_bytes in _VERIFIED_BYTES:
        work = Work(_VERIFIED_TB * BYTES_PER_TB // object_bytes, _VERIFIED_TB * BYTES_PER_TB)
        usd = estimate_of(work, _SLOW_LANE, arm64, Purpose.VERIFY).usd
        rows.append((object_bytes, work.object_count, usd, prices_of(work)[Service.FIXITY]))
    columns: Columns = (
        _OBJECT,
        SpreadColumn("objects", "{:,}".format),
        *dollars("USD", "USD, AWS's fixity solution"),
    )
    return Table("cost-verify", columns, tuple(rows))


_VERIFIED_DAYS: Final = (30, 90, 365)


def schedules() -> Table:
    """A year of verifications of a million objects of 1 MB; reports are a part of the sum."""
    work = Work(1_000_000, 1_000_000 * 1_000_000)
    arm64 = prices_in(DEFAULT_REGION, "arm64")
    rows: list[tuple[object, ...]] = []
    for plan in map(VerificationPlan, _VERIFIED_DAYS):
        runs = 365 / plan.interval_days
        counted = estimate_of(work, _SLOW_LANE, arm64, Purpose.VERIFY).usd_of(Group.REPORT)
        usd = price_of(work, _SLOW_LANE, arm64, plan).lines[0].usd_per_year
        rows.append((plan.days, f"`{plan.parameters}`", usd, runs * counted))
    columns: Columns = "within days", "parameters", *dollars("USD per year", "of which reports")
    return Table("cost-schedules", columns, tuple(rows))


def tables(measured: MeasuredHandling) -> dict[Path, tuple[Table, ...]]:
    """All tables, by the document that has them."""
    return {
        README: (in_short(measured),),
        DOCUMENT: (
            per_tb(measured),
            small_by_default(measured),
            lean(measured),
            schedules(),
            alternatives(),
        ),
        VERIFY: (verification(),),
        DETAILS: (
            small_objects(measured),
            cold_starts(measured),
            backfill(),
            questions(),
            prices(),
        ),
    }


@click.command()
@options.write_docs(
    "README.md", "docs/explanation/cost.md", "docs/how-to/verify.md", "bench/measured/cost.md"
)
def cost(*, write_docs: bool) -> None:
    """Compute US dollars per terabyte and per million small objects.

    Nothing is measured: the speeds are those in bench/measured. Prices are the list prices of
    us-east-1, without the free tier.
    """
    measured = measured_in()
    every = chain.from_iterable(tables(measured).values())
    show(every, origins=measured.origins, prices=PRICE_DATE)
    if write_docs:
        for path, text in documents(measured).items():
            write(path, text)


def documents(measured: MeasuredHandling) -> dict[Path, str]:
    """Each document with its tables, computed from *measured*.

    Raises:
        ValueError: A marker is missing.
    """
    texts = {
        path: with_tables(path.read_text("utf-8"), own) for path, own in tables(measured).items()
    }
    origins = "\n".join(f"> - {origin}" for origin in measured.origins)
    return texts | {DOCUMENT: written_between(texts[DOCUMENT], "cost-origin", origins)}
