"""Progress of a running sweep, and the wait for its end."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Self

from bucketsum_cli.aws.executions import Execution
from bucketsum_cli.terminal.errors import INTERRUPTED, CannotDoError
from bucketsum_cli.terminal.formatting import size_text, speed_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import notes
from bucketsum_cli.terminal.output import note, printable
from bucketsum_cli.tune.results import Results, results_of
from bucketsum_cli.tune.setting_labels import SettingLabels
from bucketsum_lab.protocol.run_records import Run, RunStatus
from bucketsum_lab.protocol.samples import Sample, SampleStatus
from bucketsum_lab.workloads import WORKLOADS

if TYPE_CHECKING:
    from rich.progress import TaskID

    from bucketsum_cli.tune.sweeper import Sweeper
    from bucketsum_lab.plan.cells import PlannedCell
    from bucketsum_lab.plan.plan import Plan

SETTLING_SECONDS: Final = 90.0
"""Maximum wait for the clean-up and the summary of a stopped run."""

_PAUSE_SECONDS: Final = 2.0
_SAMPLES_PER_SECOND: Final = 100  # reading 1,000 every 2 s would cost more than the samples
_FRAME_LINES: Final = 4


class ProgressBars:
    """A bar for the sweep and one per running cell; plain lines if stderr is not a terminal."""

    def __init__(self, plan: Plan) -> None:
        self._console = notes()
        self._expected = {
            cell.cell_id: plan.sweep.repetitions * cell.concurrency
            for cell in plan.cells
            if not cell.refused
        }
        has_chunks = WORKLOADS[plan.sweep.workload].chunk_bytes is None
        labels = SettingLabels(plan.sweep.settings, has_chunks=has_chunks)
        self._names = {cell.cell_id: _name_of(cell, labels) for cell in plan.cells}
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - takes a tenth of a second

        self._bars = Progress(
            TextColumn("{task.description:<28}", markup=False),
            BarColumn(20),
            TextColumn("{task.completed:.0f} of {task.total:.0f}"),
            TextColumn("{task.fields[outcome]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
        )
        self._all = self._bars.add_task("all samples", total=plan.samples, outcome="")
        self._tasks: dict[str, TaskID] = {}
        self._done: list[str] = []

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._bars.stop()

    def update(self, samples: Sequence[Sample]) -> None:
        """Show the state after all *samples* so far; a failed warm-up counts as failed."""
        by_cell: dict[str, list[Sample]] = defaultdict(list)
        for sample in samples:
            if sample.repetition > 0 and sample.cell_id in self._expected:
                by_cell[sample.cell_id].append(sample)
        failed = _failed_text(samples)
        self._bars.update(self._all, completed=len(samples), outcome=failed)
        for cell_id, cell_samples in by_cell.items():
            self._update_cell(cell_id, cell_samples)

    def _update_cell(self, cell_id: str, samples: Sequence[Sample]) -> None:
        if cell_id in self._done:
            return
        expected, outcome = self._expected[cell_id], _outcome_of(samples)
        if cell_id not in self._tasks:
            name = self._names[cell_id]
            self._tasks[cell_id] = self._bars.add_task(name, total=expected, outcome="")
        self._bars.update(self._tasks[cell_id], completed=len(samples), outcome=outcome)
        if len(samples) >= expected:
            self._bars.stop_task(self._tasks[cell_id])
            self._done.append(cell_id)
            self._hide_oldest()
            if not self._console.is_terminal:
                note(f"{self._names[cell_id]}: {len(samples)} of {expected}, {outcome}")

    def _hide_oldest(self) -> None:
        """Keep as many finished cells as fit on the screen next to the running ones."""
        finished = [self._tasks[cell_id] for cell_id in self._done]
        running = len(self._tasks) - len(finished)
        room = max(self._console.height - _FRAME_LINES - running, 1)
        for task in finished[:-room]:
            self._bars.update(task, visible=False)


def ended_execution(sweeper: Sweeper, run_id: str, plan: Plan) -> Execution:
    """Follow the execution to its end; Ctrl-C stops it and ends the command."""
    try:
        return _follow(sweeper, run_id, plan)
    except KeyboardInterrupt:
        note("stopping; press Ctrl-C again to stop waiting; the stack finishes the clean-up itself")
        sweeper.state_machine.stop(run_id, "Interrupted", "Ctrl-C in `bucketsum tune run`")
        note(
            "the stack now removes the versions that this run published and restores the prober's "
            "memory; samples and objects are kept"
        )
        _wait_for_clean_up(sweeper, run_id)
        raise SystemExit(INTERRUPTED) from None


def _follow(sweeper: Sweeper, run_id: str, plan: Plan) -> Execution:
    with ProgressBars(plan) as bars:
        while True:
            # Before its samples, so that none is missed; describing lags behind starting.
            execution = sweeper.state_machine.execution(run_id) or Execution()
            samples = sweeper.measurements.samples(run_id)
            bars.update(samples)
            if execution.is_over:
                return execution
            time.sleep(_PAUSE_SECONDS + len(samples) / _SAMPLES_PER_SECOND)


def _wait_for_clean_up(sweeper: Sweeper, run_id: str) -> None:
    run, show = settled_run(sweeper, run_id), command_line("tune", "show", run_id)
    if run is None:
        note("it had not recorded anything yet")
    elif run.status is RunStatus.RUNNING:
        note(f"the clean-up is not confirmed yet; check with `{show}`")
    else:
        note(f"{run.status}; `{show}` shows the samples taken so far")


def settled_run(sweeper: Sweeper, run_id: str) -> Run | None:
    """Wait until the run has its summary, written after the execution, and return the run.

    None if nothing is recorded for it; status RUNNING if the summary did not come in time.
    """
    deadline = time.monotonic() + SETTLING_SECONDS
    while True:
        run = sweeper.measurements.run(run_id)
        if run is None or run.status is not RunStatus.RUNNING or time.monotonic() >= deadline:
            return run
        time.sleep(_PAUSE_SECONDS)


def recorded_results(sweeper: Sweeper, run_id: str, execution: Execution) -> Results:
    """Everything that is recorded for a run whose *execution* has ended.

    Raises:
        CannotDoError: Nothing is.
    """
    if settled_run(sweeper, run_id) is None:
        raise CannotDoError(
            f"the sweep ended before it recorded anything: {execution.status} {execution.cause}"
        )
    return results_of(sweeper.measurements, run_id)


def _name_of(cell: PlannedCell, labels: SettingLabels) -> str:
    name = f"{labels.short(cell.setting)} / {size_text(cell.object.size_bytes)}"
    return printable(name if cell.concurrency == 1 else f"{name} × {cell.concurrency}")


def _outcome_of(samples: Sequence[Sample]) -> str:
    speeds = [
        sample.reading.mb_per_s
        for sample in samples
        if sample.status is not SampleStatus.FAILED and sample.reading
    ]
    mean = f"{speed_text(sum(speeds) / len(speeds))} MB/s (mean)" if speeds else ""
    return ", ".join(filter(None, [mean, _failed_text(samples)]))


def _failed_text(samples: Iterable[Sample]) -> str:
    failed = sum(sample.status is SampleStatus.FAILED for sample in samples)
    return f"{failed} failed" if failed else ""
