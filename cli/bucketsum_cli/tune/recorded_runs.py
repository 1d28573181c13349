"""Recorded runs: in a JSON file for each run, or in the table of a stack."""

from __future__ import annotations

import contextlib
import heapq
import json
import os
import re
import time
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from bucketsum.errors import DamagedItem
from bucketsum.events.message_fields import shown
from bucketsum.table.codec import from_values
from bucketsum_cli.aws.errors import AWS_ERRORS, explained
from bucketsum_cli.completion import completing
from bucketsum_cli.machine import emulator_state
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import note, write_text
from bucketsum_cli.tune.results import Results, results_of
from bucketsum_cli.tune.sweeper import Sweeper
from bucketsum_lab.protocol.run_records import CellRow, Run
from bucketsum_lab.results.measurements_table import MeasurementsTable, sample_item
from bucketsum_lab.results.record_values import cell_of, item_values, sample_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bucketsum_cli.options import Target
    from bucketsum_lab.protocol.samples import Sample

    RunStore: TypeAlias = "MeasurementsTable | RunFiles"

_FOLDER: Final = "runs"
_RUN_ID: Final = re.compile(r"[\w-]{1,100}", re.ASCII)
_CONTENT: Final = ("run", "cells", "samples")
_WRITE_SECONDS: Final = 2.0
"""Samples are written together: each write is of the whole file."""


def runs_folder() -> Path:
    """The folder of runs: in the emulator's folder, else in the current folder."""
    home = os.environ.get(emulator_state.HOME_VARIABLE)
    if home:
        return Path(home) / _FOLDER
    try:
        project = emulator_state.project_folder()
    except CannotDoError:
        project = Path.cwd()
    return project / emulator_state.FOLDER / _FOLDER


class RunFiles:
    """The runs in a folder, with the methods of `MeasurementsTable`.

    A file has the items that the table would have.

    Raises:
        CannotDoError: A file cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, dict[str, Any]] = {}
        self._written_at: dict[str, float] = {}

    def runs(self) -> Iterator[Run]:
        """Every run, the newest first."""
        runs = []
        for file in self._folder.glob("*.json"):
            with _understood(file):
                runs.append(from_values(Run, _read(file)["run"]))
        yield from sorted(runs, key=lambda run: run.started_at, reverse=True)

    def run(self, run_id: str) -> Run | None:
        """The run, or None."""
        with _understood(self._file(run_id)):
            content = self._content(run_id)
            return from_values(Run, content["run"]) if content else None

    def cells(self, run_id: str) -> list[CellRow]:
        """The cells of a run, ordered by id."""
        with _understood(self._file(run_id)):
            return [cell_of(values) for values in _ordered(self._content(run_id), "cells")]

    def samples(self, run_id: str) -> list[Sample]:
        """The samples of a run, ordered by cell, repetition and invocation."""
        with _understood(self._file(run_id)):
            return [sample_of(values) for values in _ordered(self._content(run_id), "samples")]

    def record_run(self, run: Run) -> None:
        """Write a run as it stands."""
        self._new_content(run.run_id)["run"] = item_values(run)
        self._write(run.run_id)

    def record_cell(self, run_id: str, cell: CellRow) -> None:
        """Keep one cell until the next write."""
        self._new_content(run_id)["cells"][cell.cell_id] = item_values(cell)

    def record_sample(self, run_id: str, sample: Sample) -> None:
        """Keep one sample; the file is written at most once in 2 s."""
        item = sample_item(sample.cell_id, sample.repetition, sample.invocation)
        self._new_content(run_id)["samples"][item] = item_values(sample)
        if time.monotonic() - self._written_at.get(run_id, 0.0) >= _WRITE_SECONDS:
            self._write(run_id)

    def _new_content(self, run_id: str) -> dict[str, Any]:
        """The content of the file of a run that is being measured."""
        return self._open.setdefault(run_id, {name: {} for name in _CONTENT})

    def _content(self, run_id: str) -> dict[str, Any] | None:
        if run_id in self._open:
            return self._open[run_id]
        file = self._file(run_id)
        return _read(file) if _RUN_ID.fullmatch(run_id) and file.exists() else None

    def _file(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.json"

    def _write(self, run_id: str) -> None:
        """Replace the file at once, so that nobody reads half of it."""
        with contextlib.suppress(OSError):  # then writing fails, with its reason
            self._folder.mkdir(parents=True, exist_ok=True)
        write_text(self._file(run_id), json.dumps(self._open[run_id], indent=1))
        self._written_at[run_id] = time.monotonic()


def _ordered(content: dict[str, Any] | None, name: str) -> Iterator[dict[str, Any]]:
    return (values for _, values in sorted(content[name].items())) if content else iter(())


@contextlib.contextmanager
def _understood(file: Path) -> Iterator[None]:
    """Name *file* in the error if its content is not that of a run."""
    try:
        yield
    except (ValueError, RecursionError) as error:
        raise _not_a_run(file, str(error)) from error
    except KeyError as error:
        raise _not_a_run(file, f"{error} is missing") from error


def _read(file: Path) -> dict[str, Any]:
    try:
        content: Any = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise CannotDoError(f"{file} cannot be read as a run: {error}") from error
    if not isinstance(content, dict) or content.keys() != set(_CONTENT):
        raise _not_a_run(file, f"it is not a JSON object of {', '.join(_CONTENT)}")
    for name, part in content.items():
        values = [part] if name == "run" or not isinstance(part, dict) else [part, *part.values()]
        if not all(isinstance(value, dict) for value in values):
            raise _not_a_run(file, f"{name} is {shown(part)}, but a run has a JSON object there")
    return dict(content)


def _not_a_run(file: Path, reason: str) -> CannotDoError:
    return CannotDoError(
        f"{file} is not a run saved by `bucketsum tune run`: {reason}; move it to another folder"
    )


class RecordedRuns:
    """The runs in files and in the stack of a target; if both have a run, the file is used.

    Raises:
        CannotDoError: There is no such stack or run, or a file cannot be read.
        BotoCoreError, ClientError: AWS cannot be reached, or refused.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._files = RunFiles(runs_folder())

    @cached_property
    def _table(self) -> MeasurementsTable:
        return Sweeper(self._target.find()).measurements

    def runs(self) -> Iterator[Run | DamagedItem]:
        """Every run, the newest first; in place of a damaged one its error."""
        return heapq.merge(self._files.runs(), self._runs_in_table(), key=_id_of, reverse=True)

    def results(self, run_id: str) -> Results:
        """Everything that is recorded for a run; ``last`` is the newest."""
        if run_id == "last":
            newest = next(self.runs(), None)
            if newest is None:
                raise CannotDoError("no sweep has run yet; start one with `bucketsum tune run`")
            run_id = _id_of(newest)
        return results_of(self._files if self._files.run(run_id) else self._table, run_id)

    def _runs_in_table(self) -> Iterator[Run | DamagedItem]:
        """None if there are runs in files, and the stack, which no option names, has none."""
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


def _id_of(run: Run | DamagedItem) -> str:
    """The run's id, which begins with its time."""
    return run.name if isinstance(run, DamagedItem) else run.run_id


def _names(target: Target, _: str) -> Iterator[str]:
    yield "last"
    yield from map(_id_of, RecordedRuns(target).runs())


complete_run: Final = completing(_names)
