"""The tables of docs/cost.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bench.cost.alternatives import BASELINE_SPEEDS, alternatives, baseline_usd_per_tb
from bench.cost.measured import SMALL_BYTES
from bench.cost.model import Cost, Handling, cost_of, usd_per_tb
from bench.cost.prices import ARCHITECTURES, PRICES, REGION
from bench.scaling.tables import OVERHEAD_SECONDS
from bench.tables.table import Column, Table
from bucketsum.settings import MEMORY_MB_PER_CPU
from bucketsum.sweep.prices import prices_in
from bucketsum_cli.output import size_text

if TYPE_CHECKING:
    from bench.cost.measured import Measured, Speed

SIZES: Final = (SMALL_BYTES, 10_000)
"""The average of the small objects that are measured, and a very small one."""

BATCHES: Final = (1, 10)

_COLD_MEMORIES_MB: Final = (128, 256, 512, 1769)
_COLD_STARTS: Final = 1000


def usd_text(usd: float) -> str:
    """Dollars with three digits."""
    return f"{usd:.2f}" if usd >= 1 else f"{usd:.3g}"


def _usd(title: str, name: str) -> Column:
    return Column(title, name, usd_text)


def _of_object(speed: Speed, architecture: str) -> Cost:
    seconds = speed.object_bytes / 1e6 / speed.mb_per_s
    return cost_of(
        Handling(speed.memory_mb, architecture, speed.object_bytes, seconds, gets=speed.gets)
    )


def per_tb(measured: Measured) -> Table:
    """Bucketsum's reader and the baseline in each configuration."""
    rows = []
    for speed in measured.ours():
        baseline = measured.baseline(speed)
        for read in (speed, *([baseline] if baseline else [])):
            costs = [_of_object(read, name) for name in ARCHITECTURES]
            arm, x86 = (usd_per_tb(cost.total, read.object_bytes) for cost in costs)
            link = f"{read.link_mbit_per_s:,}{' with a burst' if read.burst else ''}"
            requests = usd_per_tb(costs[0].requests, read.object_bytes)
            rows.append(
                (read.memory_mb, link, read.object_bytes, read.reader, read.mb_per_s, arm, x86,
                 requests)
            )  # fmt: skip
    columns = (
        Column("memory (MB)", "memory_mb"),
        Column("network (Mbit/s)", "link"),
        Column("object", "object_bytes", size_text),
        Column("reader", "reader"),
        Column("MB/s", "mb_per_s", "{:.1f}".format),
        _usd("USD per TB, arm64", "usd_per_tb_arm64"),
        _usd("USD per TB, x86_64", "usd_per_tb_x86_64"),
        _usd("requests in it", "requests_usd_per_tb"),
    )
    return Table("cost-tb", columns, tuple(rows))


def baseline_table() -> Table:
    """The baseline's own settings and speeds of 2021 at today's prices."""
    rows = tuple(
        (
            memory,
            chunk,
            speed,
            *(baseline_usd_per_tb(memory, speed, name) for name in ARCHITECTURES),
        )
        for memory, chunk, speed in BASELINE_SPEEDS
    )
    columns = (
        Column("memory (MB)", "memory_mb"),
        Column("chunk (MB)", "chunk_mb"),
        Column("MB/s of 1 GB, Lambda, 2021", "mb_per_s", "{:.1f}".format),
        _usd("USD per TB, arm64", "usd_per_tb_arm64"),
        _usd("USD per TB, x86_64", "usd_per_tb_x86_64"),
    )
    return Table("cost-baseline", columns, rows)


def small_objects(measured: Measured) -> Table:
    """Cost of a million small objects, item by item."""
    known = {
        (small.memory_mb, small.object_bytes, small.batch_size): small.seconds_per_object
        for small in measured.smalls
    }
    wanted = dict.fromkeys(known) | dict.fromkeys(_assumed_handlings(measured))
    speeds = _speeds_by_memory(measured)
    rows: list[tuple[Any, ...]] = []
    for memory_mb, object_bytes, batch in sorted(wanted, key=lambda key: (-key[1], key[0], key[2])):
        seconds = known.get((memory_mb, object_bytes, batch))
        basis = "measured"
        if seconds is None:
            basis = "assumed"
            seconds = OVERHEAD_SECONDS + object_bytes / 1e6 / speeds[memory_mb]
        costs = [
            cost_of(Handling(memory_mb, name, object_bytes, seconds, batch))
            for name in ARCHITECTURES
        ]
        items = costs[0]
        rows.append(
            (object_bytes, memory_mb, batch, seconds * 1000, basis,
             *(1e6 * usd for usd in (items.lambda_time, items.lambda_requests, items.sqs, items.s3,
                                     items.dynamodb, items.logs, items.total, costs[1].total)))
        )  # fmt: skip
    columns = (
        Column("object", "object_bytes", size_text),
        Column("memory (MB)", "memory_mb"),
        Column("batch", "batch_size"),
        Column("ms per object", "milliseconds", "{:.0f}".format),
        Column("time is", "basis"),
        _usd("compute time", "lambda_time_usd"),
        _usd("invocations", "lambda_requests_usd"),
        _usd("SQS", "sqs_usd"),
        _usd("S3", "s3_usd"),
        _usd("DynamoDB", "dynamodb_usd"),
        _usd("logs, traces", "logs_usd"),
        _usd("total, arm64", "usd_per_million_arm64"),
        _usd("total, x86_64", "usd_per_million_x86_64"),
    )
    return Table("cost-small", columns, tuple(rows))


def _speeds_by_memory(measured: Measured) -> dict[int, float]:
    """Bucketsum's MB/s by memory size; the lowest if it was measured with several networks."""
    speeds: dict[int, float] = {}
    for speed in measured.ours():
        known = speeds.get(speed.memory_mb, speed.mb_per_s)
        speeds[speed.memory_mb] = min(speed.mb_per_s, known)
    return speeds


def _assumed_handlings(measured: Measured) -> list[tuple[int, int, int]]:
    """Memory, object and batch size for memory with a known speed, below one vCPU."""
    return [
        (memory_mb, object_bytes, batch)
        for memory_mb in _speeds_by_memory(measured)
        for object_bytes in SIZES
        for batch in BATCHES
        if memory_mb < MEMORY_MB_PER_CPU
    ]


def cold_starts(measured: Measured) -> Table:
    """Cost of a thousand cold starts."""
    rows = tuple(
        (start.name, start.seconds * 1000, *(
            _COLD_STARTS * start.seconds * memory_mb / 1024 * prices_in(REGION, "arm64").gb_second
            for memory_mb in _COLD_MEMORIES_MB
        ))
        for start in measured.cold_starts
    )  # fmt: skip
    columns = (
        Column("cold start", "name"),
        Column("ms", "milliseconds", "{:.0f}".format),
        *(_usd(f"{memory} MB", f"usd_per_1000_at_{memory}_mb") for memory in _COLD_MEMORIES_MB),
    )
    return Table("cost-cold", columns, rows)


def alternatives_table() -> Table:
    """Other services, by cost per terabyte."""
    rows = tuple(
        (other.name, other.usd_per_tb, other.note, other.source) for other in alternatives()
    )
    columns = (
        Column("service", "service"),
        _usd("USD per TB", "usd_per_tb"),
        Column("notes", "note"),
        Column("source", "source"),
    )
    return Table("cost-alternatives", columns, rows)


def prices_table() -> Table:
    """All prices."""
    rows = tuple((price.what, price.usd, price.per, price.source, price.read) for price in PRICES)
    columns = (
        Column("unit", "unit"),
        Column("USD", "usd", lambda usd: f"{usd:.10f}".rstrip("0").rstrip(".")),
        Column("per", "per", "{:,}".format),
        Column("AWS's page", "source"),
        Column("read from", "read"),
    )
    return Table("cost-prices", columns, rows)


def tables(measured: Measured) -> tuple[Table, ...]:
    """All tables of docs/cost.md."""
    return (
        per_tb(measured),
        baseline_table(),
        small_objects(measured),
        cold_starts(measured),
        alternatives_table(),
        prices_table(),
    )
