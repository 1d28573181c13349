"""A run as JSON and as CSV, for other programs."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any, Final

from bucketsum.sweep.record_values import SAMPLE_VALUES, cell_values, run_values, sample_values
from bucketsum.sweep.workloads import OWN_PARAMETERS
from bucketsum_cli.rows import iso_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bucketsum.sweep.records import CellRow, Run, Sample
    from bucketsum_cli.tune.results import Results

_OF_RUN: Final = ("run_id", "label", "region")
_OF_CELL: Final = (
    "chunk_bytes", "streams", *OWN_PARAMETERS, "concurrency", "object_bytes", "key",
)  # fmt: skip
_OF_SAMPLE: Final = tuple(name for name in SAMPLE_VALUES if name not in _OF_CELL)

CSV_COLUMNS: Final = (*_OF_RUN, *_OF_CELL, *_OF_SAMPLE)
"""The columns of the CSV: run, cell and sample."""

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def run_as_json(run: Run) -> dict[str, Any]:
    """Everything that is recorded of *run*."""
    times = {
        name: iso_text(moment) if moment else None
        for name, moment in (("started_at", run.started_at), ("ended_at", run.ended_at))
    }
    return run_values(run) | times


def results_as_json(results: Results) -> dict[str, Any]:
    """Everything that is recorded: the run, its cells, its samples (without warm-ups)."""
    return {
        "run": run_as_json(results.run),
        "cells": [cell_values(cell) for cell in results.cells],
        "samples": [sample_values(sample) for _, sample in _samples(results)],
    }


def results_as_csv(results: Results) -> str:
    """A line for each sample.

    Keys come from outside, so a text that a spreadsheet would compute gets a ``'`` in front.
    """
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(CSV_COLUMNS)
    of_run = [getattr(results.run, name) for name in _OF_RUN]
    for cell, sample in _samples(results):
        of_cell = map(cell_values(cell).get, _OF_CELL)
        of_sample = map(sample_values(sample).get, _OF_SAMPLE)
        lines.writerow(map(_harmless, [*of_run, *of_cell, *of_sample]))
    return text.getvalue()


def _samples(results: Results) -> Iterator[tuple[CellRow, Sample]]:
    for cell in results.cells:
        for sample in results.samples.get(cell.cell_id, ()):
            yield cell, sample


def _harmless(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def json_text(document: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    """*document* as the commands print JSON."""
    return json.dumps(document, indent=2) + "\n"
