"""Recorded runs: in files, or in the table of a stack."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Final

from bucketsum.errors import DamagedItem
from bucketsum_cli.arguments.completion import completing
from bucketsum_cli.arguments.target import Target
from bucketsum_cli.aws.errors import AWS_ERRORS, explained
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note
from bucketsum_cli.tune.results import Results, results_of
from bucketsum_cli.tune.run_files import RunFiles, runs_folder
from bucketsum_cli.tune.sweeper import Sweeper
from bucketsum_lab.protocol.run_records import Run
from bucketsum_lab.results.measurements_table import MeasurementsTable


class RecordedRuns:
    """The runs in files and in the stack of a target; if both have a run, the file is used.

    Raises:
        CannotDoError: There is no such stack or run, or a file cannot be read.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._files = RunFiles(runs_folder())

    @cached_property
    def _table(self) -> MeasurementsTable:
        return Sweeper(self._target.find()).measurements

    def runs(self) -> Iterator[Run | DamagedItem]:
        """Every run, the newest first; for a damaged run, its error."""
        return heapq.merge(self._files.runs(), self._runs_in_table(), key=_id_of, reverse=True)

    def results(self, run_id: str) -> Results:
        """Everything that is recorded for a run; ``last`` is the newest."""
        if run_id == "last":
            newest = next(self.runs(), None)
            if newest is None:
                raise CannotDoError(no_run())
            run_id = _id_of(newest)
        return results_of(self._files if self._files.run(run_id) else self._table, run_id)

    def _runs_in_table(self) -> Iterator[Run | DamagedItem]:
        """The runs in the table. If files have runs and no stack is set, errors are notes."""
        try:
            runs = self._table.runs()
            first = next(runs, None)
        except (CannotDoError, *AWS_ERRORS) as error:
            if self._target.is_named or next(self._files.runs(), None) is None:
                raise
            reason = error if isinstance(error, CannotDoError) else explained(error)
            note(f"only the runs in {runs_folder()} are read: {reason.message}")
            return iter(())
        return iter(()) if first is None else chain([first], runs)


def no_run() -> str:
    """The next step if no run is recorded."""
    return f"no sweep has run yet; start one with `{command_line('tune', 'run', 'FILE')}`"


def _id_of(run: Run | DamagedItem) -> str:
    """The run's id, which begins with its time."""
    return run.name if isinstance(run, DamagedItem) else run.run_id


def _names(target: Target, _: str) -> Iterator[str]:
    yield "last"
    yield from map(_id_of, RecordedRuns(target).runs())


complete_run: Final = completing(_names)
