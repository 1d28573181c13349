"""The tables of docs/cost.md, from measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bench.cost.alternatives import ARTICLE_SPEEDS, alternatives, article_usd_per_tb
from bench.cost.measured import SMALL_BYTES
from bench.cost.model import Cost, Handling, cost_of, usd_per_tb
from bench.cost.prices import ARCHITECTURES, PRICES, REGION
from bench.tables.table import Head, Table
from bucketsum.sweep.prices import prices_in
from bucketsum_cli.output import size_text

if TYPE_CHECKING:
    from bench.cost.measured import Measured, Speed

OVERHEAD_SECONDS: Final = 0.05
"""Assumed of a small object besides its bytes, as in `bench.scaling.tables`: requests, the row."""

SIZES: Final = (SMALL_BYTES, 10_000)
"""The average of the files of the article on transfers, and next to nothing."""

BATCHES: Final = (1, 10)

_COLD_MEMORIES_MB: Final = (128, 256, 512, 1769)
_COLD_STARTS: Final = 1000


def usd_text(usd: float) -> str:
    """Dollars with three digits."""
    return f"{usd:.2f}" if usd >= 1 else f"{usd:.3g}"


def _usd(title: str, name: str) -> Head:
    return Head(title, name, usd_text)


def _of_object(speed: Speed, architecture: str) -> Cost:
    seconds = speed.object_bytes / 1e6 / speed.mb_per_s
    return cost_of(
        Handling(speed.memory_mb, architecture, speed.object_bytes, seconds, gets=speed.gets)
    )


def per_tb(measured: Measured) -> Table:
    """Every shape's fastest reader of ours beside the article's."""
    rows = []
    for speed in measured.ours():
        article = measured.articles(speed)
        for one in (speed, *([article] if article else [])):
            costs = [_of_object(one, name) for name in ARCHITECTURES]
            arm, x86 = (usd_per_tb(cost.total, one.object_bytes) for cost in costs)
            link = f"{one.link_mbit_per_s:,}{' after a burst' if one.burst else ''}"
            requests = usd_per_tb(costs[0].requests, one.object_bytes)
            rows.append(
                (one.memory_mb, link, one.object_bytes, one.reader, one.mb_per_s, arm, x86,
                 requests)
            )  # fmt: skip
    heads = (
        Head("memory (MB)", "memory_mb"),
        Head("link (Mbit/s)", "link"),
        Head("object", "object_bytes", size_text),
        Head("reader", "reader"),
        Head("MB/s", "mb_per_s", "{:.1f}".format),
        _usd("USD per TB, arm64", "usd_per_tb_arm64"),
        _usd("USD per TB, x86_64", "usd_per_tb_x86_64"),
        _usd("of it requests", "requests_usd_per_tb"),
    )
    return Table("cost-tb", heads, tuple(rows))


def article_table() -> Table:
    """The article's own settings and speeds at today's prices."""
    rows = tuple(
        (memory, chunk, speed, *(article_usd_per_tb(memory, speed, name) for name in ARCHITECTURES))
        for memory, chunk, speed in ARTICLE_SPEEDS
    )
    heads = (
        Head("memory (MB)", "memory_mb"),
        Head("chunk (MB)", "chunk_mb"),
        Head("MB/s of 1 GB, Lambda, 2021", "mb_per_s", "{:.1f}".format),
        _usd("USD per TB, arm64", "usd_per_tb_arm64"),
        _usd("USD per TB, x86_64", "usd_per_tb_x86_64"),
    )
    return Table("cost-article", heads, rows)


def small_objects(measured: Measured) -> Table:
    """A million small objects, item by item."""
    known = {
        (one.memory_mb, one.object_bytes, one.batch_size): one.seconds_per_object
        for one in measured.smalls
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
    heads = (
        Head("object", "object_bytes", size_text),
        Head("memory (MB)", "memory_mb"),
        Head("batch", "batch_size"),
        Head("ms each", "milliseconds", "{:.0f}".format),
        Head("time is", "basis"),
        _usd("Lambda's time", "lambda_time_usd"),
        _usd("invocations", "lambda_requests_usd"),
        _usd("SQS", "sqs_usd"),
        _usd("S3", "s3_usd"),
        _usd("DynamoDB", "dynamodb_usd"),
        _usd("logs, traces", "logs_usd"),
        _usd("all, arm64", "usd_per_million_arm64"),
        _usd("all, x86_64", "usd_per_million_x86_64"),
    )
    return Table("cost-small", heads, tuple(rows))


def _speeds_by_memory(measured: Measured) -> dict[int, float]:
    """MB/s of ours; where the same memory was measured with several links, the least."""
    speeds: dict[int, float] = {}
    for one in measured.ours():
        speeds[one.memory_mb] = min(one.mb_per_s, speeds.get(one.memory_mb, one.mb_per_s))
    return speeds


def _assumed_handlings(measured: Measured) -> list[tuple[int, int, int]]:
    """Every memory size, small size and batch that a speed is known for."""
    return [
        (memory_mb, object_bytes, batch)
        for memory_mb in _speeds_by_memory(measured)
        for object_bytes in SIZES
        for batch in BATCHES
    ]


def cold_starts(measured: Measured) -> Table:
    """A thousand new environments, for the memory sizes that people use."""
    rows = tuple(
        (start.name, start.seconds * 1000, *(
            _COLD_STARTS * start.seconds * memory_mb / 1024 * prices_in(REGION, "arm64").gb_second
            for memory_mb in _COLD_MEMORIES_MB
        ))
        for start in measured.cold_starts
    )  # fmt: skip
    heads = (
        Head("cold start", "name"),
        Head("ms", "milliseconds", "{:.0f}".format),
        *(_usd(f"{memory} MB", f"usd_per_1000_at_{memory}_mb") for memory in _COLD_MEMORIES_MB),
    )
    return Table("cost-cold", heads, rows)


def alternatives_table() -> Table:
    """What else a terabyte's SHA-1 can be had for."""
    rows = tuple((one.way, one.usd_per_tb, one.note, one.source) for one in alternatives())
    heads = (
        Head("way", "way"),
        _usd("USD per TB", "usd_per_tb"),
        Head("what to know", "note"),
        Head("source", "source"),
    )
    return Table("cost-alternatives", heads, rows)


def prices_table() -> Table:
    """Every price that is used."""
    rows = tuple((one.what, one.usd, one.per, one.source, one.read) for one in PRICES)
    heads = (
        Head("what", "what"),
        Head("USD", "usd", lambda usd: f"{usd:.10f}".rstrip("0").rstrip(".")),
        Head("per", "per", "{:,}".format),
        Head("AWS's page", "source"),
        Head("read from", "read"),
    )
    return Table("cost-prices", heads, rows)


def tables(measured: Measured) -> tuple[Table, ...]:
    """All that docs/cost.md holds."""
    return (
        per_tb(measured),
        article_table(),
        small_objects(measured),
        cold_starts(measured),
        alternatives_table(),
        prices_table(),
    )
