"""The whole function on small objects: ``python -m bench function``.

Each run is a new process in the benchmark sandbox. It initialises with a full CPU, as in Lambda,
and then handles batches of messages with its CPU share. S3 is nginx with TLS at S3's speed. The
fake DynamoDB answers PutItem after 5 ms, which is an assumption. Every digest is compared.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import click

from bench.box.requirements import CannotMakeBoxError
from bench.box.server import PROJECT
from bench.function import artefacts, small_objects
from bench.function.runs import WRITE_DELAY_S, Sample, Variant, measure
from bench.tables.document import write_tables
from bench.tables.machine import machine
from bench.tables.spread import Spread
from bench.tables.table import Column, Table
from bucketsum_cli import output

if TYPE_CHECKING:
    from collections.abc import Iterable

TARGET: Final = 3.0
"""Objects per second ÷ the baseline's, at `TARGET_MEMORY_MB`."""

TARGET_MEMORY_MB: Final = 512
DOCUMENT: Final = PROJECT / "docs" / "benchmarking.md"
MEASURED: Final = PROJECT / "bench" / "measured" / "function.json"

BASELINE: Final = Variant("baseline", 10)
VARIANTS: Final = (BASELINE, Variant("hasher", 1), Variant("hasher", 10))
COMPARED: Final = {
    "threads": tuple(Variant("hasher", 10, count) for count in (1, 2, 4, 8)),
    "batches": tuple(Variant("hasher", size) for size in (1, 5, 10, 20, 50, 100)),
    "split": (Variant("hasher", 10), Variant("hasher", 10, split=True)),
}


def summaries(samples: list[Sample]) -> list[dict[str, Any]]:
    """One object per variant, in the order of their first samples."""
    by_variant: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_variant[sample.variant].append(sample)
    return [_summary(name, runs) for name, runs in by_variant.items()]


def _summary(name: str, runs: list[Sample]) -> dict[str, Any]:
    rate = Spread.of(small_objects.COUNT / run.seconds for run in runs)
    parts = {part: _per_object_ms(run.parts[part] for run in runs) for part in runs[0].parts}
    return {
        "variant": name,
        "objects_per_s": round(rate.median, 2),
        "from": round(rate.low, 2),
        "to": round(rate.high, 2),
        "cpu_ms_per_object": _per_object_ms(run.cpu_seconds for run in runs),
        "peak_mb": round(max(run.peak_bytes for run in runs) / 1e6, 1),
        "gets": runs[0].gets,
        "writes": runs[0].writes,
        "cpu_ms_by_part": parts,
    }


def _per_object_ms(seconds: Iterable[float]) -> float:
    return round(statistics.median(seconds) * 1000 / small_objects.COUNT, 2)


@click.command("function")
@click.option(
    "--runs", type=click.IntRange(1), default=5, show_default=True, help="Runs of each variant."
)
@click.option(
    "--memory",
    "memory_mb",
    type=click.IntRange(128, 10_240),
    multiple=True,
    default=(TARGET_MEMORY_MB,),
    show_default=True,
    help="Memory size in MB; may be repeated.",
)
@click.option(
    "--compare",
    type=click.Choice(list(COMPARED)),
    help="Compare numbers of threads, batch sizes, or the CPU time of the hasher's parts.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--write-docs", is_flag=True, help=f"Write {MEASURED.name} to {DOCUMENT.name} instead."
)
def function(
    runs: int, memory_mb: tuple[int, ...], compare: str | None, *, as_json: bool, write_docs: bool
) -> None:
    """Hash small objects with the whole function and with the baseline function.

    Each run is a fresh process in the benchmark sandbox. Needs root. Exits with 1 if the target is
    missed, and with 2 if the sandbox cannot be created.
    """
    if write_docs:
        write_tables(DOCUMENT, [table(json.loads(MEASURED.read_text("utf-8")))])
        return
    variants = (BASELINE, *COMPARED[compare]) if compare else VARIANTS
    output.note("sam build, and an interpreter like Lambda's")
    built = artefacts.build()
    document: dict[str, Any] = {
        "runtime": built.runtime,
        "machine": machine(),
        "runs": runs,
        "write_delay_ms": WRITE_DELAY_S * 1000,
        "shapes": [],
    }
    try:
        for size_mb in memory_mb:
            samples = measure(built, size_mb, variants, runs)
            shape = {"memory_mb": size_mb, "variants": summaries(samples)}
            document["shapes"].append(shape | {"samples": [asdict(sample) for sample in samples]})
    except CannotMakeBoxError as error:
        output.note(str(error))
        sys.exit(2)
    (output.print_json if as_json else _print)(document)
    sys.exit(0 if all(map(_met, document["shapes"])) else 1)


def _ratio(shape: dict[str, Any]) -> float:
    """Objects per second of the hasher's best variant ÷ the baseline's."""
    baseline, *hashers = (float(variant["objects_per_s"]) for variant in shape["variants"])
    return max(hashers) / baseline


def _met(shape: dict[str, Any]) -> bool:
    return shape["memory_mb"] != TARGET_MEMORY_MB or _ratio(shape) >= TARGET


def table(document: dict[str, Any]) -> Table:
    """One row per memory size and variant."""
    columns = (
        Column("memory (MB)", "memory_mb"),
        Column("function", "variant"),
        Column("objects/s", "objects_per_s", "{:.1f}".format),
        Column("from", "from", "{:.1f}".format),
        Column("to", "to", "{:.1f}".format),
        Column("CPU ms per object", "cpu_ms_per_object", "{:.1f}".format),
        Column("peak MB", "peak_mb", "{:.0f}".format),
        Column("GETs", "gets"),
        Column("writes", "writes"),
    )
    names = [column.name for column in columns]
    rows = (
        tuple((shape | variant)[name] for name in names)
        for shape in document["shapes"]
        for variant in shape["variants"]
    )
    return Table("function", columns, tuple(rows))


def _print(document: dict[str, Any]) -> None:
    table(document).show()
    for shape in document["shapes"]:
        for variant in shape["variants"]:
            if parts := variant["cpu_ms_by_part"]:
                listed = ", ".join(f"{part} {spent:g}" for part, spent in parts.items())
                output.say(f"CPU ms per object, of {variant['cpu_ms_per_object']:g}: {listed}")
        output.say(
            f"{shape['memory_mb']} MB: the best variant hashes {_ratio(shape):.1f} times as many "
            "objects per second as the baseline"
        )
    output.say(f"{document['runtime']}, {document['runs']} runs of each, {document['machine']}")
