"""Cold starts of the hasher and of the baseline function: ``python -m bench cold-start``.

Each start is a new process that imports the handler, which also creates its clients, in an
interpreter like Lambda's. The variants take turns. CPU times are compared, because other work on
the machine hardly affects them. Lambda gives this phase a full CPU, whatever the memory size.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from bench.box.server import PROJECT
from bench.function import artefacts
from bench.tables.document import write_tables
from bench.tables.machine import machine
from bench.tables.spread import Spread
from bench.tables.table import Column, Table
from bucketsum_cli import output

if TYPE_CHECKING:
    from pathlib import Path

    from bench.function.artefacts import Artefacts

TARGET: Final = 0.6
"""CPU time ÷ the baseline's, both as built."""

RUNS: Final = 15
DOCUMENT: Final = PROJECT / "docs" / "benchmarking.md"
MEASURED: Final = PROJECT / "bench" / "measured" / "cold_start.json"
_SHOWN: Final = 12

_START: Final = """
import sys, time
sys.path[:0] = sys.argv[1:]
cpu, wall = time.process_time(), time.perf_counter()
import app
print(time.process_time() - cpu, time.perf_counter() - wall, len(sys.modules))
"""


@dataclass(frozen=True, slots=True)
class Start:
    """One cold start.

    Attributes:
        cpu_seconds: CPU time.
        seconds: Wall time.
        modules: Loaded modules, those of the interpreter's start included.
    """

    cpu_seconds: float
    seconds: float
    modules: int


@dataclass(frozen=True, slots=True)
class ColdStart:
    """Several cold starts of one variant.

    Attributes:
        name: Name of the variant.
        cpu_ms: Median CPU time.
        cpu_ms_range: Its minimum and maximum.
        wall_ms: Median wall time.
        modules: Loaded modules.
    """

    name: str
    cpu_ms: float
    cpu_ms_range: tuple[float, float]
    wall_ms: float
    modules: int

    @classmethod
    def of(cls, name: str, starts: list[Start]) -> ColdStart:
        """The medians of *starts*."""
        cpu = Spread.of(start.cpu_seconds * 1000 for start in starts)
        wall = Spread.of(start.seconds * 1000 for start in starts)
        limits = round(cpu.low, 1), round(cpu.high, 1)
        return cls(name, round(cpu.median, 1), limits, round(wall.median, 1), starts[0].modules)


@dataclass(frozen=True, slots=True)
class Imported:
    """The share of one package in a cold start.

    Attributes:
        package: Name of the top-level package, or ``creating clients and the rest``.
        milliseconds: Time of its modules' own code, without nested imports.
        modules: Number of its loaded modules.
    """

    package: str
    milliseconds: float
    modules: int


def start_once(built: Artefacts, function: str, layer: Path) -> Start:
    """One cold start.

    Raises:
        subprocess.CalledProcessError: The function could not be imported.
    """
    cpu, wall, modules = _python(
        built, ["-c", _START], built.search(function, layer)
    ).stdout.split()
    return Start(float(cpu), float(wall), int(modules))


def _python(
    built: Artefacts, program: list[str], search: list[str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - the new interpreter
        [built.python, "-B", "-s", *program, *search],
        capture_output=True,
        text=True,
        check=True,
        env=artefacts.VARIABLES,
    )


def measure(built: Artefacts, runs: int) -> list[ColdStart]:
    """Every variant, in turns."""
    variants = {
        "baseline, as `sam build` leaves it": ("baseline", built.uncompiled),
        "baseline, layer compiled": ("baseline", built.layer),
        "hasher, layer not compiled": ("hasher", built.uncompiled),
        "hasher, as `sam build` leaves it": ("hasher", built.layer),
    }
    starts: dict[str, list[Start]] = defaultdict(list)
    with output.progress() as progress:
        task = progress.add_task("starting", total=runs * len(variants))
        for _ in range(runs):
            for name, (function, layer) in variants.items():
                starts[name].append(start_once(built, function, layer))
                progress.advance(task)
    return [ColdStart.of(*variant) for variant in starts.items()]


def imports(built: Artefacts) -> list[Imported]:
    """The hasher's imports by package, the slowest first, by `-X importtime`.

    The measurement makes imports about a third slower, so compare these only with each other.
    """
    search = built.search("hasher", built.layer)
    program = ["-X", "importtime", "-c", "import sys; sys.path[:0] = sys.argv[1:]; import app"]
    own: dict[str, list[int]] = defaultdict(list)
    for line in _python(built, program, search).stderr.splitlines():
        own_us, _, name = line.removeprefix("import time:").split("|")
        if own_us.strip().isdigit():  # not the heading
            own[_package_of(name.strip())].append(int(own_us))
    packages = [Imported(name, round(sum(us) / 1000, 1), len(us)) for name, us in own.items()]
    return sorted(packages, key=lambda package: package.milliseconds, reverse=True)


def _package_of(module: str) -> str:
    top = module.partition(".")[0]
    if top == "app":
        return "creating clients and the rest"
    return "the standard library" if top in sys.stdlib_module_names else top


@click.command("cold-start")
@click.option(
    "--runs", type=click.IntRange(1), default=RUNS, show_default=True, help="Starts per variant."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--write-docs", is_flag=True, help=f"Write {MEASURED.name} to {DOCUMENT.name} instead."
)
def cold_start(runs: int, *, as_json: bool, write_docs: bool) -> None:
    """Measure cold starts of the built hasher and of the baseline function.

    Exits with 1 if the target is missed.
    """
    if write_docs:
        write_tables(DOCUMENT, [table(json.loads(MEASURED.read_text("utf-8")))])
        return
    output.note("sam build, and an interpreter like Lambda's")
    built = artefacts.build()
    starts = measure(built, runs)
    ratio = starts[-1].cpu_ms / starts[0].cpu_ms
    document: dict[str, Any] = {
        "runtime": built.runtime,
        "machine": machine(),
        "runs": runs,
        "starts": [asdict(start) for start in starts],
        "ratio": round(ratio, 3),
        "target": TARGET,
        "imports": [asdict(package) for package in imports(built)],
    }
    (output.print_json if as_json else _print)(document)
    sys.exit(0 if ratio <= TARGET else 1)


def table(document: dict[str, Any]) -> Table:
    """One row per variant."""
    baseline = document["starts"][0]["cpu_ms"]
    columns = (
        Column("cold start", "name"),
        *(Column(title, title, "{:.0f}".format) for title in ("CPU ms", "from", "to")),
        Column("of the baseline", "ratio", "{:.0%}".format),
        Column("wall ms", "wall_ms", "{:.0f}".format),
        Column("modules", "modules"),
    )
    rows = (
        (start["name"], start["cpu_ms"], *start["cpu_ms_range"], start["cpu_ms"] / baseline,
         start["wall_ms"], start["modules"])
        for start in document["starts"]
    )  # fmt: skip
    return Table("cold-start", columns, tuple(rows))


def _print(document: dict[str, Any]) -> None:
    table(document).show()
    columns = (
        Column("the hasher's imports", "package"),
        Column("ms", "milliseconds", "{:.1f}".format),
        Column("modules", "modules"),
    )
    rows = (tuple(package.values()) for package in document["imports"][:_SHOWN])
    Table("imports", columns, tuple(rows)).show()
    result = "met" if document["ratio"] <= TARGET else "missed"
    output.say(f"{document['ratio']:.0%} of the baseline's CPU time; target {TARGET:.0%}: {result}")
    output.say(f"{document['runtime']}, {document['runs']} starts of each, {document['machine']}")
