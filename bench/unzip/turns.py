"""Variants in turns, each in a process of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.tables.table import Spread
from bench.unzip import variants
from bucketsum_cli.terminal import output

OURS: Final = "bucketsum stream"


@dataclass(frozen=True, slots=True)
class TurnTiming:
    """Wall time, CPU time with child processes, and peak memory of one run."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


Turns = dict[str, list[TurnTiming]]
"""Timings by variant, one per turn."""


_GO_SOURCE: Final = Path(__file__).with_name("unzip.go")


def missing_programs() -> dict[str, str]:
    """Beginnings of the variants that cannot run here, and remedies; compiles the program in Go."""
    missing = {} if shutil.which("unzip") else {"unzip": "apt-get install unzip"}
    if go := shutil.which("go"):
        variants.FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run([go, "build", "-o", variants.GO, _GO_SOURCE], check=True)  # noqa: S603 - the project's own source
    else:
        missing["Go"] = "https://go.dev/dl"
    return missing


def measured(archive: Path, turns: int, names: Iterable[str]) -> Turns:
    """Each of *names* once per turn, so that other work on the machine affects all of them.

    The archive is read into the page cache first, as in both articles.
    """
    archive.read_bytes()
    missing = missing_programs()
    timings: Turns = {name: [] for name in names if name.split()[0] not in missing}
    for number in range(turns):
        output.note(f"{archive.stem}: run {number + 1} of {turns}")
        for name, runs in timings.items():
            threads = re.search(r"(\d+) threads", name)
            program = [sys.executable, "-m", variants.__name__, name, str(archive)]
            with tempfile.TemporaryDirectory(dir=variants.FOLDER) as folder:
                printed = run_on(int(threads[1]) if threads else 1, [*program, f"{folder}/out"])
            runs.append(TurnTiming(**json.loads(printed)))
    return timings


def run_on(cores: int, command: Sequence[str]) -> str:
    """Run *command* on *cores* cores; returns what it prints."""
    allowed = sorted(os.sched_getaffinity(0))[-cores:]
    return subprocess.run(  # noqa: S603 - commands of the benchmarks
        command,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
    ).stdout


def slowdown(turns: Turns, variant: str) -> Spread:
    """CPU time ÷ that of `OURS`, turn by turn."""
    pairs = zip(turns[variant], turns[OURS], strict=True)
    return Spread.of(run.cpu_seconds / ours.cpu_seconds for run, ours in pairs)
