"""A run as JSON and as CSV, for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from bucketsum.errors import DamagedItem
from bucketsum_cli.terminal.documents import iso_text
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.tune.workloads import view_of
from bucketsum_lab.protocol.run_records import Run, RunStatus
from bucketsum_lab.results.record_values import (
    SAMPLE_VALUES,
    cell_values,
    run_values,
    sample_values,
)

if TYPE_CHECKING:
    from bucketsum_cli.tune.results import Results
    from bucketsum_lab.protocol.run_records import CellRow
    from bucketsum_lab.protocol.samples import Sample

_OF_RUN: Final = ("run_id", "label", "region")
_OF_READING: Final = ("chunk_bytes", "streams")
_OF_OBJECT: Final = ("concurrency", "object_bytes", "key")
_OF_SAMPLE: Final = ("memory_mb", "run", "invocation", "at", "cold")
"""The columns of a sample that its rows repeat."""

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def run_as_json(run: Run | DamagedItem) -> dict[str, Any]:
    """Everything that is recorded for *run*."""
    if isinstance(run, DamagedItem):
        unknown = dict.fromkeys(run_values(Run("", RunStatus.FAILED, "")))
        return unknown | {"run_id": run.name, "status": "damaged", "cause": str(run)}
    times = {
        name: iso_text(moment) if moment else None
        for name, moment in (("started_at", run.started_at), ("ended_at", run.ended_at))
    }
    return run_values(run) | times


def results_as_json(results: Results) -> dict[str, Any]:
    """Everything that is recorded: the run, cells, disks, samples without warm-ups."""
    return {
        "run": run_as_json(results.run),
        "cells": [cell_values(cell) for cell in results.cells],
        "disks": [asdict(disk) for disk in results.disks],
        "samples": [
            sample_values(sample) | {"use": sample.use.to_json() if sample.use else None}
            for _, sample in _samples(results)
        ],
    }


def results_as_csv(results: Results) -> str:
    """A line for each sample: run, cell, and sample with its workload's own attributes."""
    of_cell = _cell_names(results)
    names = results.workload.sample_names if results.workload else ()
    own = [name for name in names if name not in of_cell]
    of_sample = (*SAMPLE_VALUES, *own)
    lines = (
        [*map(cell_values(cell).get, of_cell), *map(sample_values(sample).get, of_sample)]
        for cell, sample in _samples(results)
    )
    return _csv(results, (*of_cell, *of_sample), lines)


def rows_as_csv(results: Results) -> str:
    """A line for each row that the workload's samples have.

    Raises:
        CannotDoError: The workload's samples have none.
    """
    view = view_of(results.workload_name)
    if not view.row_names:
        raise CannotDoError(
            f"the workload {results.workload_name} records no parts of samples; use --format csv"
        )
    of_cell = _cell_names(results)
    lines = (
        [
            *map(cell_values(cell).get, of_cell),
            *map(sample_values(sample).get, _OF_SAMPLE),
            *map(row.get, view.row_names),
        ]
        for cell, sample in _samples(results)
        for row in view.rows(sample)
    )
    return _csv(results, (*of_cell, *_OF_SAMPLE, *view.row_names), lines)


def _cell_names(results: Results) -> tuple[str, ...]:
    parameters = results.workload.parameters if results.workload else ()
    disk = ("disk",) if any(cell.setting.disk for cell in results.cells) else ()
    return *_OF_READING, *(parameter.name for parameter in parameters), *disk, *_OF_OBJECT


def _csv(results: Results, names: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """*lines* as CSV under *names*; each line starts with the values of the run.

    Keys come from outside, so a text that a spreadsheet would compute gets a ``'`` in front.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow((*_OF_RUN, *names))
    of_run = [getattr(results.run, name) for name in _OF_RUN]
    writer.writerows(map(_harmless, [*of_run, *line]) for line in lines)
    return text.getvalue()


def _samples(results: Results) -> Iterator[tuple[CellRow, Sample]]:
    for cell in results.cells:
        for sample in results.samples.get(cell.cell_id, ()):
            yield cell, sample


def _harmless(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value
