"""Targets for the whole system, on a local emulator: ``python -m bench targets``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import click

from bench.sandbox.server import PROJECT
from bench.tables import options
from bench.tables.document import write_json, write_tables
from bench.tables.machine import machine
from bench.tables.table import Table, show
from bench.targets.measurements import LARGE_MEMORY_MB, burst, peak_memory, row_latency
from bucketsum_cli.emulator import emulator_state
from bucketsum_cli.emulator.deploy import bring_up, locked, stop
from bucketsum_cli.terminal import output

if TYPE_CHECKING:
    from bench.targets.measurements import TargetResult
    from bucketsum_cli.emulator.emulator_state import LocalProject

DOCUMENT: Final = PROJECT / "bench" / "measured" / "function.md"
_HOME: Final = "bench-stack"


@click.command()
@options.write_docs("bench/measured/function.md")
def targets(*, write_docs: bool) -> None:
    """Compare speed and memory of the whole system with its targets.

    Runs on a separate local emulator in .bucketsum/bench-stack; that of `bucketsum local up` is not
    touched. Exits with 1 if a target is missed.
    """
    project = emulator_state.local_project().separate(_HOME)
    results = []
    with locked(project):
        stop(project)  # of a run that was killed
        try:
            for result in measurements(project):
                output.note(f"{result.name}: {result.value:.1f} {result.unit}")
                results.append(result)
        finally:
            stop(project)
    show([table(results)], machine=machine())
    file = project.folder / emulator_state.FOLDER / "bench.json"
    write_json(file, [asdict(result) | {"met": result.met} for result in results])
    if write_docs:
        write_tables(DOCUMENT, [table(results)])
    sys.exit(0 if all(result.met for result in results) else 1)


def measurements(project: LocalProject) -> Iterator[TargetResult]:
    """Measure one target after the other, and yield each result."""
    stack = bring_up(project, {})
    yield row_latency(stack)
    yield burst(stack)
    yield peak_memory(project, bring_up(project, {"MemorySize": str(LARGE_MEMORY_MB)}))


def table(results: Iterable[TargetResult]) -> Table:
    """One row per target."""
    rows = (
        (result.name, f"{result.value:.1f} {result.unit}", f"{result.target:g} {result.unit}",
         "met" if result.met else "missed", result.detail)
        for result in results
    )  # fmt: skip
    return Table("targets", ("measured", "value", "target", "result", "detail"), tuple(rows))
