"""Small objects through the whole function, beside a naive one: ``python -m bench function``.

Each run is a fresh process in a box of Lambda's shape: it initialises with a whole processor, as
Lambda lets it, and then handles batches of messages with its share. S3 is nginx with TLS behind
S3's pace; DynamoDB is a stand-in with TLS that answers PutItem after 5 ms, which is an assumption.
Every digest that was written is compared.
"""

from __future__ import annotations

import platform
import statistics
import sys
from collections import defaultdict
from dataclasses import asdict
from typing import Any, Final

import click

from bench.box.requirements import CannotMakeBoxError
from bench.function import artefacts as built
from bench.function import small_objects
from bench.function.runs import WRITE_DELAY_S, Sample, Way, measure
from bucketsum_cli import output

TARGET: Final = 3.0
"""Times the naive function's objects per second, at `TARGET_MEMORY_MB`."""

TARGET_MEMORY_MB: Final = 512

NAIVE: Final = Way("naive", 10)
OURS: Final = Way("hasher", 10)
WAYS: Final = (NAIVE, Way("hasher", 1), OURS)
BATCHES: Final = tuple(Way("hasher", size) for size in (1, 5, 10, 20, 50, 100))
THREADS: Final = tuple(Way("hasher", 10, count) for count in (1, 2, 4, 8))


SPLIT: Final = (Way("hasher", 10), Way("hasher", 10, split=True))


def summed_up(samples: list[Sample]) -> list[dict[str, Any]]:
    """A line of the table for each way, in the order of their first samples."""
    taken: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        taken[sample.way].append(sample)
    count = small_objects.COUNT
    lines = []
    for name, runs in taken.items():
        rates = sorted(count / one.seconds for one in runs)
        lines.append(
            {
                "way": name,
                "objects_per_s": round(statistics.median(rates), 2),
                "from": round(rates[0], 2),
                "to": round(rates[-1], 2),
                "cpu_ms_per_object": round(
                    statistics.median(one.cpu_seconds for one in runs) * 1000 / count, 2
                ),
                "peak_mb": round(max(one.peak_bytes for one in runs) / 1e6, 1),
                "gets": runs[0].gets,
                "writes": runs[0].writes,
                "cpu_ms_by_part": {
                    part: round(
                        statistics.median(one.parts[part] for one in runs) * 1000 / count, 2
                    )
                    for part in runs[0].parts
                },
            }
        )
    return lines


COMPARED: Final = {"threads": THREADS, "batches": BATCHES, "split": SPLIT}


@click.command("function")
@click.option("--runs", type=click.IntRange(1), default=5, show_default=True, help="Of each way.")
@click.option(
    "--memory",
    "memory_mb",
    type=click.IntRange(128, 10_240),
    multiple=True,
    default=(TARGET_MEMORY_MB,),
    show_default=True,
    help="Memory size in MB; can be given more than once.",
)
@click.option(
    "--compare",
    type=click.Choice(list(COMPARED)),
    help="Numbers of threads; sizes of batches; the processor time of the hasher's parts.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def main(runs: int, memory_mb: tuple[int, ...], compare: str | None, *, as_json: bool) -> None:
    """Hash small objects with the whole function, beside a naive one.

    Each run is a fresh process in a box of Lambda's shape. Needs root. Exits with 1 where the
    promise is missed, with 2 where the box cannot be made.
    """
    ways = (NAIVE, *COMPARED[compare]) if compare else WAYS
    output.note("sam build, and an interpreter as Lambda has it")
    artefacts = built.make()
    document: dict[str, Any] = {
        "runtime": artefacts.runtime,
        "machine": f"{platform.platform()}, {platform.processor() or platform.machine()}",
        "runs": runs,
        "write_delay_ms": WRITE_DELAY_S * 1000,
        "shapes": [],
    }
    try:
        for size_mb in memory_mb:
            samples = measure(artefacts, size_mb, ways, runs)
            shape = {"memory_mb": size_mb, "ways": summed_up(samples)}
            document["shapes"].append(shape | {"samples": [asdict(one) for one in samples]})
    except CannotMakeBoxError as error:
        output.note(str(error))
        sys.exit(2)
    (output.print_json if as_json else _print)(document)
    sys.exit(0 if all(map(_kept, document["shapes"])) else 1)


def _ratio(shape: dict[str, Any]) -> float:
    """Objects per second of the best of ours to the naive function's."""
    naive, *ours = (float(way["objects_per_s"]) for way in shape["ways"])
    return max(ours) / naive


def _kept(shape: dict[str, Any]) -> bool:
    return shape["memory_mb"] != TARGET_MEMORY_MB or _ratio(shape) >= TARGET


def _print(document: dict[str, Any]) -> None:
    titles = [
        ("objects/s", 9),
        ("from", 6),
        ("to", 6),
        ("CPU ms", 7),
        ("peak MB", 7),
        ("GETs", 5),
        ("writes", 6),
    ]
    for shape in document["shapes"]:
        output.print_table(
            [
                output.Column(f"{shape['memory_mb']} MB", 40),
                *(output.Column(title, width, right=True) for title, width in titles),
            ],
            (
                [way["way"], *(f"{value:g}" for value in list(way.values())[1:8])]
                for way in shape["ways"]
            ),
        )
        for way in shape["ways"]:
            if parts := way["cpu_ms_by_part"]:
                told = ", ".join(f"{part} {spent:g}" for part, spent in parts.items())
                output.say(f"CPU ms per object, of {way['cpu_ms_per_object']:g}: {told}")
        output.say(f"the best is {_ratio(shape):.1f} times the naive function's objects per second")
    output.say(f"{document['runtime']}, {document['runs']} runs of each, {document['machine']}")
