"""A sweep that runs, cell by cell, as its samples come."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, Self

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bucketsum.sweep.measurements_table import Run, RunStatus, SampleStatus
from bucketsum_cli.output import note, notes, printable, size_text
from bucketsum_cli.tune.formatting import speed_text
from bucketsum_cli.tune.labels import Naming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.progress import TaskID

    from bucketsum.sweep.cells import Cell
    from bucketsum.sweep.measurements_table import Sample
    from bucketsum.sweep.plan import Plan
    from bucketsum_cli.tune.sweeper import Execution, Sweeper

SETTLING_SECONDS: Final = 90.0
"""How long a stopped run may take to be cleaned up and judged."""

_PAUSE_SECONDS: Final = 2.0
_SAMPLES_PER_SECOND: Final = 100  # reading a thousand every other second would cost more than them
_FRAME_LINES: Final = 4


class Display:
    """A bar for the sweep and one for each cell that is at work; lines where nobody looks."""

    def __init__(self, plan: Plan) -> None:
        self._console = notes()
        self._expected = {
            cell.cell_id: plan.sweep.runs * cell.concurrency
            for cell in plan.cells
            if not cell.refused
        }
        naming = Naming(plan.sweep.settings)
        self._names = {cell.cell_id: _name_of(cell, naming) for cell in plan.cells}
        self._bars = Progress(
            TextColumn("{task.description:<28}", markup=False),
            BarColumn(20),
            TextColumn("{task.completed:.0f} of {task.total:.0f}"),
            TextColumn("{task.fields[said]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
        )
        self._all = self._bars.add_task("all samples", total=plan.samples, said="")
        self._tasks: dict[str, TaskID] = {}
        self._done: list[str] = []

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._bars.stop()

    def show(self, samples: Sequence[Sample]) -> None:
        """Bring it up to date with all *samples* that there are."""
        by_cell: dict[str, list[Sample]] = defaultdict(list)
        for sample in samples:
            if sample.run > 0 and sample.cell_id in self._expected:
                by_cell[sample.cell_id].append(sample)
        self._bars.update(self._all, completed=len(samples))
        for cell_id, some in by_cell.items():
            self._show_cell(cell_id, some)

    def _show_cell(self, cell_id: str, samples: Sequence[Sample]) -> None:
        if cell_id in self._done:
            return
        expected, said = self._expected[cell_id], _said_of(samples)
        if cell_id not in self._tasks:
            name = self._names[cell_id]
            self._tasks[cell_id] = self._bars.add_task(name, total=expected, said="")
        self._bars.update(self._tasks[cell_id], completed=len(samples), said=said)
        if len(samples) >= expected:
            self._bars.stop_task(self._tasks[cell_id])
            self._done.append(cell_id)
            self._make_room()
            if not self._console.is_terminal:
                note(f"{self._names[cell_id]}: {len(samples)} of {expected}, {said}")

    def _make_room(self) -> None:
        """Keep those in sight that fit on the screen and are at work, or were last."""
        shown = [self._tasks[cell_id] for cell_id in self._done]
        room = max(self._console.height - _FRAME_LINES - (len(self._tasks) - len(shown)), 1)
        for task in shown[:-room]:
            self._bars.update(task, visible=False)


def follow(
    sweeper: Sweeper,
    arn: str,
    run_id: str,
    plan: Plan,
    pause: Callable[[float], None] = time.sleep,
) -> Execution:
    """Show the execution's progress on stderr until it is over.

    Raises:
        BotoCoreError: AWS cannot be reached.
        ClientError: AWS refused.
    """
    with Display(plan) as display:
        while True:
            execution = sweeper.execution(arn)  # before its samples, so that none is missed
            samples = sweeper.measurements.samples(run_id)
            display.show(samples)
            if execution.is_over:
                return execution
            pause(_PAUSE_SECONDS + len(samples) / _SAMPLES_PER_SECOND)


def settled(
    sweeper: Sweeper,
    run_id: str,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Run | None:
    """The run once it is judged, which comes a little after its execution has been broken off.

    None where nothing is recorded of it; RUNNING where it was not judged in time.
    """
    deadline = clock() + SETTLING_SECONDS
    while True:
        run = sweeper.measurements.run(run_id)
        if run is None or run.status is not RunStatus.RUNNING or clock() >= deadline:
            return run
        pause(_PAUSE_SECONDS)


def _name_of(cell: Cell, naming: Naming) -> str:
    name = f"{naming.short(cell.setting)} / {size_text(cell.object.size_bytes)}"
    return printable(name if cell.concurrency == 1 else f"{name} × {cell.concurrency}")


def _said_of(samples: Iterable[Sample]) -> str:
    speeds: list[float] = []
    failed = 0
    for sample in samples:
        if sample.status is SampleStatus.FAILED:
            failed += 1
        elif sample.mb_per_s is not None:
            speeds.append(sample.mb_per_s)
    said: list[Any] = [f"{speed_text(sum(speeds) / len(speeds))} MB/s"] if speeds else []
    if failed:
        said.append(f"{failed} failed")
    return ", ".join(said)
