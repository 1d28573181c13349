"""Records ↔ flat values under the names that the table, JSON and CSV have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bucketsum.table.codec import attributes_of, from_values
from bucketsum.table.stored_fields import names_of
from bucketsum_lab.protocol.run_records import CellRow, Run
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.workloads import SAMPLE_NAMES, setting_of, statistics_of

_DOCUMENTS: Final = ("input", "machine", "deployed", "summary")
_COUNTS: Final = ("n", "n_cold")

SAMPLE_VALUES: Final = tuple(names_of(Sample))
"""Names of the values of every sample; workloads have more."""


def run_values(run: Run) -> dict[str, Any]:
    """All values of *run*; its input, its machine and its summary are JSON."""
    return dict(attributes_of(run)) | {name: getattr(run, name) for name in _DOCUMENTS}


def sample_values(sample: Sample) -> dict[str, Any]:
    """All values of *sample*; those of its workload are there if it has them."""
    return {**dict(attributes_of(sample)), **sample.own}


def cell_values(cell: CellRow) -> dict[str, Any]:
    """All values of *cell*; missing statistics are None, except those of its workload."""
    values = {**cell.setting.values, **dict(attributes_of(cell))}
    if cell.own:
        values |= {name: value for name, value in attributes_of(cell.own) if value is not None}
    return values | {name: values[name] or 0 for name in _COUNTS}


def item_values(record: Run | Sample | CellRow) -> dict[str, Any]:
    """The values of an item of the table: without None, and with documents as text."""
    match record:
        case CellRow():
            values = cell_values(record)
        case Sample():
            values = sample_values(record)
        case Run():
            values = dict(attributes_of(record))
    return {name: value for name, value in values.items() if value is not None}


def sample_of(values: Mapping[str, Any]) -> Sample:
    """The inverse of `item_values` for a sample."""
    own = {name: values[name] for name in SAMPLE_NAMES if name in values}
    return from_values(Sample, values, own=own)


def cell_of(values: Mapping[str, Any]) -> CellRow:
    """The inverse of `item_values` for a cell."""
    setting = setting_of(values)
    without = {name for name in _COUNTS if not values.get(name)}  # the count of no statistics
    known = {name: value for name, value in values.items() if name not in without}
    return from_values(CellRow, known, setting=setting, own=statistics_of(values))
