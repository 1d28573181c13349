"""Recorded runs in a folder: a JSON file for each."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from bucketsum.events.message_fields import shown
from bucketsum.table.codec import from_values
from bucketsum_cli.machine.folders import kept_files
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import write_text
from bucketsum_cli.tune.machine import machine_of
from bucketsum_lab.protocol.run_records import CellRow, Run
from bucketsum_lab.results.measurements_table import MeasurementsTable, sample_item
from bucketsum_lab.results.recommendation import require_documents
from bucketsum_lab.results.record_values import cell_of, item_values, sample_of

if TYPE_CHECKING:
    from pathlib import Path

    from bucketsum_lab.protocol.samples import Sample

    RunStore: TypeAlias = "MeasurementsTable | RunFiles"

_FOLDER: Final = "runs"
_RUN_ID: Final = re.compile(r"[\w-]{1,100}", re.ASCII)
_CONTENT: Final = ("run", "cells", "samples")
_WRITE_SECONDS: Final = 2.0
"""Samples are written together: each write is of the whole file."""


def runs_folder() -> Path:
    """The folder of runs; see `kept_files`."""
    return kept_files(_FOLDER)


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
                runs.append(_run_of(_read(file)))
        yield from sorted(runs, key=lambda run: run.started_at, reverse=True)

    def run(self, run_id: str) -> Run | None:
        """The run, or None."""
        with _understood(self._file(run_id)):
            content = self._content(run_id)
            return _run_of(content) if content else None

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
        """Replace the file atomically, so that nobody reads half of it."""
        with contextlib.suppress(OSError):  # then writing fails, with its reason
            self._folder.mkdir(parents=True, exist_ok=True)
        write_text(self._file(run_id), json.dumps(self._open[run_id], indent=1))
        self._written_at[run_id] = time.monotonic()


def _run_of(content: Mapping[str, Any]) -> Run:
    run = from_values(Run, content["run"])
    require_documents(run)
    machine_of(run)
    return run


def _ordered(content: dict[str, Any] | None, name: str) -> Iterator[dict[str, Any]]:
    return (values for _, values in sorted(content[name].items())) if content else iter(())


@contextlib.contextmanager
def _understood(file: Path) -> Iterator[None]:
    """Name *file* in the error if its content is not that of a run."""
    try:
        yield
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
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
        f"{file} is not a run that `tune run` saved: {reason}; move it to another folder"
    )
