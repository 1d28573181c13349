"""The whole function on small objects: ``python -m bench function``.

Each run is a new process in the benchmark sandbox. It initialises with a full CPU, as in Lambda,
and then handles batches of messages with its CPU share. S3 is nginx with TLS at S3's speed. The
fake DynamoDB answers PutItem after 5 ms, which is an assumption. Every digest is compared.
"""

import statistics
import sys
from collections import defaultdict
from dataclasses import asdict, replace
from typing import Any, Final

import click

from bench.function import artefacts, small_objects
from bench.function.runs import WRITE_DELAY_S, FunctionSample, Variant, measure
from bench.sandbox.requirements import sandboxes
from bench.sandbox.server import PROJECT
from bench.tables import options
from bench.tables.document import write_json, write_tables
from bench.tables.machine import machine
from bench.tables.table import Columns, Spread, Table, numbers, show
from bucketsum_cli.terminal import output

DOCUMENT: Final = PROJECT / "bench" / "measured" / "function.md"
MEASURED: Final = PROJECT / "bench" / "measured" / "function.json"

BASELINE: Final = Variant("baseline", 10)
TENS: Final = Variant("hasher", 10)
HUNDRED: Final = Variant("hasher", 100)
VARIANTS: Final = (BASELINE, Variant("hasher", 1), TENS, replace(TENS, compares=False), HUNDRED)
TARGETS: Final = {512: {TENS.name: 2.5, HUNDRED.name: 2.8}, 256: {TENS.name: 2.2}}
"""Objects per second ÷ the baseline's, of the usual sizes, by memory size in MB and variant."""


def summaries(samples: list[FunctionSample]) -> list[dict[str, Any]]:
    """Return a summary of each variant, in the order of their first samples."""
    by_variant: dict[str, list[FunctionSample]] = defaultdict(list)
    for sample in samples:
        by_variant[sample.variant].append(sample)
    return [_summary(name, runs) for name, runs in by_variant.items()]


def _summary(name: str, runs: list[FunctionSample]) -> dict[str, Any]:
    rate = Spread.of(small_objects.COUNT / run.seconds for run in runs)
    cpu_seconds = statistics.median(run.cpu_seconds for run in runs)
    return {
        "variant": name,
        "objects_per_s": round(rate.median, 2),
        "from": round(rate.low, 2),
        "to": round(rate.high, 2),
        "cpu_ms_per_object": round(cpu_seconds * 1000 / small_objects.COUNT, 2),
        "peak_mb": round(max(run.peak_bytes for run in runs) / 1e6, 1),
        "gets": runs[0].gets,
        "writes": runs[0].writes,
    }


@click.command("function")
@options.runs(5)
@click.option(
    "--memory",
    "memory_mb",
    type=click.IntRange(128, 10_240),
    multiple=True,
    default=tuple(TARGETS),
    show_default=True,
    metavar="MB",
    help="Memory size; may be repeated.",
)
@options.write_docs("bench/measured")
def function(runs: int, memory_mb: tuple[int, ...], *, write_docs: bool) -> None:
    """Compare the hasher and the baseline function on small objects.

    docs/measurements.md explains the baseline function (Bryson, 2021) and the targets. Each run is
    a new process in the benchmark sandbox. Needs root. Exits with 1 if a target is missed, and with
    2 if the sandbox cannot be created.
    """
    shapes: list[dict[str, Any]] = []
    with sandboxes():
        output.note("sam build, and an interpreter like Lambda's")
        built = artefacts.build()
        for size_mb in memory_mb:
            samples = measure(built, size_mb, VARIANTS, runs)
            listed = [asdict(sample) for sample in samples]
            shapes.append({"memory_mb": size_mb, "variants": summaries(samples), "samples": listed})
    origin = {"runtime": built.runtime, "machine": machine(), "runs": runs}
    document = origin | {"write_delay_ms": WRITE_DELAY_S * 1000, "shapes": shapes}
    show([table(document)], **origin)
    if write_docs:
        write_json(MEASURED, document)
        write_tables(DOCUMENT, [table(document)])
    sys.exit(0 if all(map(_met, shapes)) else 1)


def _met(shape: dict[str, Any]) -> bool:
    targets = TARGETS.get(shape["memory_mb"], {})
    return all(
        _ratio(variant, shape) >= targets.get(variant["variant"], 0)
        for variant in shape["variants"]
    )


def _ratio(variant: dict[str, Any], shape: dict[str, Any]) -> float:
    """Objects per second ÷ the baseline's."""
    return float(variant["objects_per_s"] / shape["variants"][0]["objects_per_s"])


def table(document: dict[str, Any]) -> Table:
    """One row per memory size and variant."""
    columns: Columns = (
        "memory (MB)",
        "function",
        *numbers("objects/s", "from", "to", decimals=1),
        *numbers("of the baseline", decimals=2),
        *numbers("CPU ms per object", decimals=1),
        *numbers("peak MB", decimals=0),
    )
    rows = (
        (shape["memory_mb"], variant["variant"], variant["objects_per_s"], variant["from"],
         variant["to"], _ratio(variant, shape), variant["cpu_ms_per_object"], variant["peak_mb"])
        for shape in document["shapes"]
        for variant in shape["variants"]
    )  # fmt: skip
    return Table("function", columns, tuple(rows))
