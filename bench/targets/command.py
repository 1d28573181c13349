"""Measures everything and prints one table; exits with 1 where a promise is not kept."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING

from bench.targets import burst, large_object, row_latency
from bucketsum_cli import emulator, output
from bucketsum_cli.local import launcher
from bucketsum_cli.local.deploy import bring_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.targets.result import Result
    from bucketsum_cli.emulator import LocalProject


def results(project: LocalProject) -> Iterator[Result]:
    """Each measurement as it is done."""
    stack = bring_up(project, {})
    yield row_latency.measure(stack)
    yield burst.measure(stack)
    stack = bring_up(project, {"MemorySize": str(large_object.MEMORY_MB)})
    yield large_object.measure(project, stack)


def main() -> int:
    """Measure on a local emulator of its own, and stop it."""
    project = emulator.local_project().separate("bench-stack")
    launcher.stop(project)
    measured = []
    try:
        for result in results(project):
            output.note(f"{result.what}: {result.value:.1f} {result.unit}")
            measured.append(result)
    finally:
        launcher.stop(project)
    output.print_table(
        [
            output.Column("measured on the embedded AWS of this machine"),
            output.Column("value", 9, right=True),
            output.Column("promised", 9, right=True),
            output.Column("detail", 50),
        ],
        (
            [
                one.what,
                output.Cell(f"{one.value:.1f} {one.unit}", "green" if one.kept else "red"),
                f"{one.promised:g} {one.unit}",
                one.detail,
            ]
            for one in measured
        ),
    )
    output.say(f"{platform.platform()}, {platform.processor() or platform.machine()}")
    file = project.folder / emulator.FOLDER / "bench.json"
    file.write_text(json.dumps([one.as_json() for one in measured], indent=2))
    output.note(f"the same as JSON: {file}")
    return 0 if all(one.kept for one in measured) else 1
