"""A run as JSON and as CSV, for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any, Final

from bucketsum.errors import DamagedItem
from bucketsum_cli.terminal.documents import iso_text
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.tune.results import Results
from bucketsum_cli.tune.workloads import view_of
from bucketsum_lab.protocol.run_records import CellRow, Run, RunStatus
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.results.record_values import (
    SAMPLE_VALUES,
    cell_values,
    run_values,
    sample_values,
)

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
    return _csv(results, (*SAMPLE_VALUES, *own), (), lambda _sample: ({},))


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
    return _csv(results, _OF_SAMPLE, view.row_names, view.rows)


def _cell_names(results: Results) -> tuple[str, ...]:
    parameters = results.workload.parameters if results.workload else ()
    disk = ("disk",) if any(cell.setting.disk for cell in results.cells) else ()
    return *_OF_READING, *(parameter.name for parameter in parameters), *disk, *_OF_OBJECT


def _csv(
    results: Results,
    of_sample: Sequence[str],
    of_row: Sequence[str],
    rows: Callable[[Sample], Iterable[Mapping[str, object]]],
) -> str:
    """A line for each of the *rows* of each sample: values of run, cell, sample and row.

    Keys come from outside, so a text that a spreadsheet would compute gets a ``'`` in front.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    of_cell = _cell_names(results)
    writer.writerow((*_OF_RUN, *of_cell, *of_sample, *of_row))
    run = [getattr(results.run, name) for name in _OF_RUN]
    for cell, sample in _samples(results):
        shared = map(cell_values(cell).get, of_cell), map(sample_values(sample).get, of_sample)
        line = [*run, *chain.from_iterable(shared)]
        writer.writerows(map(_harmless, [*line, *map(row.get, of_row)]) for row in rows(sample))
    return text.getvalue()


def _samples(results: Results) -> Iterator[tuple[CellRow, Sample]]:
    for cell in results.cells:
        for sample in results.samples.get(cell.cell_id, ()):
            yield cell, sample


def _harmless(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value
