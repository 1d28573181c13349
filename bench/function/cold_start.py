"""Cold starts of the hasher and of the baseline function: ``python -m bench cold-start``.

Each start is a new process that imports the handler, which also wires the function, in an
interpreter like Lambda's. The variants take turns. CPU times are compared, because other work on
the machine hardly affects them. Lambda gives this phase a full CPU, whatever the memory size.
"""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import click

from bench.function import artefacts
from bench.function.artefacts import Artefacts
from bench.sandbox.server import PROJECT
from bench.tables import options
from bench.tables.document import write_json, write_tables
from bench.tables.machine import machine
from bench.tables.table import Columns, Spread, SpreadColumn, Table, numbers, show
from bucketsum_cli.terminal import output

TARGET: Final = 0.34
"""CPU time ÷ the baseline's, both as built."""

DOCUMENT: Final = PROJECT / "bench" / "measured" / "function.md"
MEASURED: Final = PROJECT / "bench" / "measured" / "cold_start.json"

_START: Final = """
import sys, time
sys.path[:0] = sys.argv[1:]
cpu, wall = time.process_time(), time.perf_counter()
import app
print(time.process_time() - cpu, time.perf_counter() - wall, len(sys.modules))
"""


def start_once(
    built: Artefacts, function: str, layer: Path, compares: str = "yes"
) -> tuple[float, float, int]:
    """CPU and wall seconds of one cold start, and the number of loaded modules.

    Raises:
        subprocess.CalledProcessError: The function could not be imported.
    """
    completed = subprocess.run(  # noqa: S603 - the new interpreter
        [built.python, "-B", "-s", "-c", _START, *built.search(function, layer)],
        capture_output=True,
        text=True,
        check=True,
        env=artefacts.VARIABLES | {"COMPARE_CHECKSUMS": compares},
    )
    cpu, wall, modules = completed.stdout.splitlines()[-1].split()  # its log comes first
    return float(cpu), float(wall), int(modules)


def measure(built: Artefacts, runs: int) -> list[dict[str, Any]]:
    """The medians of each variant; the variants run in turns."""
    variants: dict[str, tuple[Any, ...]] = {
        "baseline, as `sam build` leaves it": ("baseline", built.uncompiled),
        "baseline, layer compiled": ("baseline", built.compiled),
        "hasher, layer not compiled": ("hasher", built.uncompiled),
        "hasher, CompareChecksums=no": ("hasher", built.layer, "no"),
        "hasher, as `sam build` leaves it": ("hasher", built.layer),
    }
    starts: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    for number in range(runs):
        output.note(f"start {number + 1} of {runs}")
        for name, variant in variants.items():
            starts[name].append(start_once(built, *variant))
    return [_summary(name, timed) for name, timed in starts.items()]


def _summary(name: str, starts: list[tuple[float, float, int]]) -> dict[str, Any]:
    cpu, wall, modules = zip(*starts, strict=True)
    cpu_ms = Spread.of(seconds * 1000 for seconds in cpu)
    return {
        "name": name,
        "cpu_ms": round(cpu_ms.median, 1),
        "cpu_ms_range": [round(cpu_ms.low, 1), round(cpu_ms.high, 1)],
        "wall_ms": round(Spread.of(wall).median * 1000, 1),
        "modules": modules[0],
    }


@click.command("cold-start")
@options.runs(15)
@options.write_docs("bench/measured")
def cold_start(runs: int, *, write_docs: bool) -> None:
    """Measure cold starts of the hasher and the baseline function.

    docs/measurements.md explains the baseline function (Bryson, 2021) and the target. Exits with 1
    if the target is missed.
    """
    output.note("sam build, and an interpreter like Lambda's")
    built = artefacts.build()
    starts = measure(built, runs)
    ratio = round(starts[-1]["cpu_ms"] / starts[0]["cpu_ms"], 3)
    origin: dict[str, Any] = {
        "runtime": built.runtime,
        "machine": machine(),
        "runs": runs,
        "ratio": ratio,
        "target": TARGET,
    }
    document = origin | {"starts": starts}
    show([table(document)], **origin)
    if write_docs:
        write_json(MEASURED, document)
        write_tables(DOCUMENT, [table(document)])
    sys.exit(0 if ratio <= TARGET else 1)


def table(document: dict[str, Any]) -> Table:
    """One row per variant."""
    baseline = document["starts"][0]["cpu_ms"]
    columns: Columns = (
        "cold start",
        *numbers("CPU ms", "from", "to", decimals=0),
        SpreadColumn("of the baseline", "{:.0%}".format),
        *numbers("wall ms", decimals=0),
        "modules",
    )
    rows = (
        (start["name"], start["cpu_ms"], *start["cpu_ms_range"], start["cpu_ms"] / baseline,
         start["wall_ms"], start["modules"])
        for start in document["starts"]
    )  # fmt: skip
    return Table("cold-start", columns, tuple(rows))
