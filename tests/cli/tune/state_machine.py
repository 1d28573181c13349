"""A state machine that plans with the product's planner and measures by a formula."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

from tests.cli.permissions import as_fake
from tests.cli.tune.sweeps import PRICES, a_sample, failed_samples
from tests.support.sweeps import DEPLOYED

from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import plan_of
from bucketsum_lab.protocol.run_records import CellRow, Run, RunStatus
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.results.measurements_table import MeasurementsTable
from bucketsum_lab.results.summary import ExecutionEnd, summarize

_POSITIONS_PER_QUESTION: Final = 4


class MissingExecution(Exception):
    """The error of Step Functions if an execution was started a moment ago."""


class StateMachine:
    """Step Functions' client as far as the command knows it; it records some samples a question.

    Attributes:
        inputs: The inputs of the executions that were started.
        stopped: Whether the execution was stopped.
        refuses: Why an execution fails at once; empty where it does not.
        judges: Whether the stack judges a run whose execution was stopped.
        fails: Which samples fail, by memory; all others are good.
        on_question: Called when somebody asks how the execution stands.
    """

    exceptions: Final = SimpleNamespace(ExecutionDoesNotExist=MissingExecution)

    def __init__(self, measurements: MeasurementsTable) -> None:
        self.measurements = measurements
        self.inputs: list[dict[str, Any]] = []
        self.stopped = False
        self.refuses = ""
        self.judges = True
        self.fails: Callable[[CellRow], bool] = lambda _cell: False
        self.on_question: Callable[[], None] = lambda: None
        self._run: Run | None = None
        self._rounds: Iterator[None] = iter(())

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> dict[str, str]:  # noqa: A002, N803 - as boto3 has it
        """Begin; the first questions find nothing recorded yet."""
        assert stateMachineArn == "SweepStateMachineArn"
        self.inputs.append(json.loads(input))
        self._rounds = self._sweep(name, self.inputs[-1])
        return {"executionArn": f"{stateMachineArn}:{name}"}

    def describe_execution(self, *, executionArn: str) -> dict[str, str]:  # noqa: N803 - as boto3 has it
        """Go on a little, and say how it stands."""
        assert executionArn.startswith("SweepStateMachineArn:")
        self.on_question()
        if self.stopped:
            return {"status": "ABORTED"}
        try:
            with as_fake():
                next(self._rounds)
        except StopIteration:
            if self.refuses:
                return {"status": "FAILED", "error": "BadSweep", "cause": self.refuses}
            return {"status": "SUCCEEDED"}
        return {"status": "RUNNING"}

    def stop_execution(self, *, executionArn: str, error: str, cause: str) -> None:  # noqa: N803 - as boto3 has it
        """End, and be judged as the stack does it after a while."""
        assert executionArn.startswith("SweepStateMachineArn:")
        assert error
        assert cause
        self.stopped = True
        if self.judges:
            self._end(ExecutionEnd(RunStatus.STOPPED, "the execution is ABORTED"))

    def _sweep(self, run_id: str, sweep_input: dict[str, Any]) -> Iterator[None]:
        if self.refuses:
            return
        yield
        plan = plan_of(SweepInput.from_json(sweep_input).with_deployed(DEPLOYED))
        cells = [cell.row for cell in plan.cells]
        for cell in cells:
            self.measurements.record_cell(run_id, cell)
        self._run = plan.recorded_in(
            Run(
                run_id,
                RunStatus.RUNNING,
                "2026-11-21T04:15:00.123Z",
                region="us-east-1",
                architecture="arm64",
                label="aws",
                input=sweep_input,
            )
        )
        self.measurements.record_run(self._run)
        positions = [position for rounds in plan.rounds.values() for position in rounds]
        for done, (number, run) in enumerate(positions, start=1):
            for sample in self._samples(cells[number], run):
                self.measurements.record_sample(run_id, sample)
            if done % _POSITIONS_PER_QUESTION == 0:
                yield
        self._end(ExecutionEnd())

    def _samples(self, cell: CellRow, run: int) -> list[Sample]:
        if self.fails(cell):
            return [replace(failed_samples(cell, "it timed out", 1)[0], repetition=run)]
        return [a_sample(cell, run, invocation) for invocation in range(1, cell.concurrency + 1)]

    def _end(self, ending: ExecutionEnd) -> None:
        if self._run is None:
            return
        ended, cells = summarize(
            self._run,
            self.measurements.cells(self._run.run_id),
            self.measurements.samples(self._run.run_id),
            PRICES,
            ending,
            "2026-11-21T04:18:31.000Z",
        )
        for cell in cells:
            self.measurements.record_cell(self._run.run_id, cell)
        self.measurements.record_run(ended)
