"""What a cold start costs, beside a naive function's: ``python -m bench cold-start``.

A cold start is what a function does before its first event: imports, and clients made. Each is a
process of its own, of the interpreter that the embedded AWS runs its functions with; the variants
take turns. Processor time is what is compared: little of it depends on what else the machine does.
Lambda gives this phase a whole processor whatever the function's memory.
"""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from bench.function import artefacts as built
from bucketsum_cli import output

if TYPE_CHECKING:
    from pathlib import Path

    from bench.function.artefacts import Artefacts

TARGET: Final = 0.6
"""Of the naive function's processor time, both as `sam build` leaves them."""

RUNS: Final = 15
_SHOWN: Final = 12

_START: Final = """
import sys, time
sys.path[:0] = sys.argv[1:]
cpu, wall = time.process_time(), time.perf_counter()
import app
print(time.process_time() - cpu, time.perf_counter() - wall, len(sys.modules))
"""


@dataclass(frozen=True, slots=True)
class ColdStart:
    """Several cold starts of one variant.

    Attributes:
        name: The variant.
        cpu_ms: Processor time of the median one.
        cpu_ms_range: Of the fastest and of the slowest.
        wall_ms: Wall time of the median one.
        modules: How many modules are loaded then, those of the interpreter's start included.
    """

    name: str
    cpu_ms: float
    cpu_ms_range: tuple[float, float]
    wall_ms: float
    modules: int


@dataclass(frozen=True, slots=True)
class Imported:
    """What one package takes of a cold start.

    Attributes:
        package: Name of the top-level package, or ``making clients and the rest``.
        milliseconds: Of its modules' own code, imports in it not counted.
        modules: How many of its modules are loaded.
    """

    package: str
    milliseconds: float
    modules: int


def start_once(artefacts: Artefacts, function: str, layer: Path) -> tuple[float, float, int]:
    """One cold start: seconds of processor, of wall, and the number of modules.

    Raises:
        subprocess.CalledProcessError: The function could not be imported.
    """
    told = _python(artefacts, ["-c", _START], artefacts.search(function, layer)).stdout.split()
    return float(told[0]), float(told[1]), int(told[2])


def _python(
    artefacts: Artefacts, program: list[str], search: list[str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - the interpreter that was made
        [artefacts.python, "-B", "-s", *program, *search],
        capture_output=True,
        text=True,
        check=True,
        env=built.VARIABLES,
    )


def measure(artefacts: Artefacts, runs: int) -> list[ColdStart]:
    """Every variant, in turns."""
    variants = {
        "naive, as `sam build` leaves it": ("naive", artefacts.uncompiled),
        "naive, layer compiled": ("naive", artefacts.layer),
        "hasher, layer not compiled": ("hasher", artefacts.uncompiled),
        "hasher, as `sam build` leaves it": ("hasher", artefacts.layer),
    }
    taken: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    with output.progress() as progress:
        task = progress.add_task("starting", total=runs * len(variants))
        for _ in range(runs):
            for name, (function, layer) in variants.items():
                taken[name].append(start_once(artefacts, function, layer))
                progress.advance(task)
    return [_summed_up(name, starts) for name, starts in taken.items()]


def _summed_up(name: str, starts: list[tuple[float, float, int]]) -> ColdStart:
    cpu_ms = sorted(cpu * 1000 for cpu, _, _ in starts)
    return ColdStart(
        name=name,
        cpu_ms=round(statistics.median(cpu_ms), 1),
        cpu_ms_range=(round(cpu_ms[0], 1), round(cpu_ms[-1], 1)),
        wall_ms=round(statistics.median(wall * 1000 for _, wall, _ in starts), 1),
        modules=starts[0][2],
    )


def imports(artefacts: Artefacts) -> list[Imported]:
    """What the hasher imports, by package, the costliest first; by `-X importtime`.

    Measuring makes importing slower by a third or so, so these are for comparing with each other.
    """
    search = artefacts.search("hasher", artefacts.layer)
    program = ["-X", "importtime", "-c", "import sys; sys.path[:0] = sys.argv[1:]; import app"]
    own: dict[str, list[int]] = defaultdict(list)
    for line in _python(artefacts, program, search).stderr.splitlines():
        own_us, _, name = line.removeprefix("import time:").split("|")
        if own_us.strip().isdigit():  # not the heading
            own[_package_of(name.strip())].append(int(own_us))
    found = [Imported(name, round(sum(us) / 1000, 1), len(us)) for name, us in own.items()]
    return sorted(found, key=lambda one: one.milliseconds, reverse=True)


def _package_of(module: str) -> str:
    top = module.partition(".")[0]
    if top == "app":
        return "making clients and the rest"
    return "the standard library" if top in sys.stdlib_module_names else top


def ratio_of(starts: list[ColdStart]) -> float:
    """The hasher's processor time to the naive function's, both as built."""
    return starts[-1].cpu_ms / starts[0].cpu_ms


@click.command("cold-start")
@click.option(
    "--runs", type=click.IntRange(1), default=RUNS, show_default=True, help="Of each variant."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def main(runs: int, *, as_json: bool) -> None:
    """Start the built hasher anew, and a naive function beside it.

    Exits with 1 where the promise is missed.
    """
    output.note("sam build, and an interpreter as Lambda has it")
    artefacts = built.make()
    starts = measure(artefacts, runs)
    document: dict[str, Any] = {
        "runtime": artefacts.runtime,
        "machine": f"{platform.platform()}, {platform.processor() or platform.machine()}",
        "runs": runs,
        "starts": [asdict(one) for one in starts],
        "ratio": round(ratio_of(starts), 3),
        "target": TARGET,
        "imports": [asdict(one) for one in imports(artefacts)],
    }
    (output.print_json if as_json else _print)(document)
    sys.exit(0 if ratio_of(starts) <= TARGET else 1)


def _print(document: dict[str, Any]) -> None:
    numbers = [
        ("CPU ms", 7),
        ("from", 6),
        ("to", 6),
        ("of naive", 8),
        ("wall ms", 7),
        ("modules", 7),
    ]
    naive = document["starts"][0]["cpu_ms"]
    output.print_table(
        [output.Column("cold start", 36), *(output.Column(n, w, right=True) for n, w in numbers)],
        (
            [
                one["name"],
                f"{one['cpu_ms']:.0f}",
                *(f"{limit:.0f}" for limit in one["cpu_ms_range"]),
                f"{one['cpu_ms'] / naive:.0%}",
                f"{one['wall_ms']:.0f}",
                str(one["modules"]),
            ]
            for one in document["starts"]
        ),
    )
    output.print_table(
        [
            output.Column("what the hasher loads", 36),
            output.Column("ms", 7, right=True),
            output.Column("modules", 7, right=True),
        ],
        (
            [one["package"], f"{one['milliseconds']:.1f}", str(one["modules"])]
            for one in document["imports"][:_SHOWN]
        ),
    )
    kept = "kept" if document["ratio"] <= TARGET else "missed"
    output.say(f"{document['ratio']:.0%} of the naive function's; promised {TARGET:.0%}: {kept}")
    output.say(f"{document['runtime']}, {document['runs']} starts of each, {document['machine']}")
