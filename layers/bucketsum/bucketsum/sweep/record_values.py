"""Records ↔ flat values under the names that the table, JSON and CSV have."""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, Final

from bucketsum.sweep.records import CellRow, CellStatistics, ColdStatistics, Run, RunStatus
from bucketsum.sweep.samples import (
    Billing,
    DigestCheck,
    ProberProcess,
    Reading,
    Sample,
    SampleFailure,
    SampleStatus,
)
from bucketsum.sweep.workloads import SAMPLE_NAMES, STATISTIC_NAMES, setting_of, setting_values

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Part: TypeAlias = SampleFailure | Reading | Billing | DigestCheck | ProberProcess
    Kind: TypeAlias = type[Run | Sample | CellRow | ColdStatistics | CellStatistics | Part]

_STORED_NAMES: Final = {"few_samples": "weak", "repetitions": "runs", "repetition": "run"}
_DOCUMENTS: Final = ("input", "machine", "summary")
_PARTS: Final[Mapping[str, type[Part]]] = {
    "failure": SampleFailure,
    "reading": Reading,
    "billing": Billing,
    "check": DigestCheck,
    "process": ProberProcess,
}
"""Field of a sample → its type; a sample has a part if it has all values without a default."""


def run_values(run: Run) -> dict[str, Any]:
    """All values of *run*; its input, its machine and its summary are JSON."""
    return _values(Run, run)


def sample_values(sample: Sample) -> dict[str, Any]:
    """All values of *sample*; those of its workload are there if it has them."""
    values = _values(Sample, sample)
    parts = {
        name: _values(kind, values[name]) if values[name] else dict.fromkeys(_names(kind))
        for name, kind in _PARTS.items()
    }
    return _expanded(values, own=sample.own, **parts)


def cell_values(cell: CellRow) -> dict[str, Any]:
    """All values of *cell*; missing statistics are None, except those of its workload."""
    return _expanded(
        _values(CellRow, cell),
        setting=setting_values(cell.setting),
        own=cell.own,
        cold=_values(ColdStatistics, cell.cold) if cell.cold else _NO_COLD,
        stats=_values(CellStatistics, cell.stats) if cell.stats else _NO_STATS,
    )


def item_values(record: Run | Sample | CellRow) -> dict[str, Any]:
    """The values of an item of the table: without None, and with documents as text."""
    if isinstance(record, Run):
        values = run_values(record)
        values |= {
            name: json.dumps(values[name]) for name in _DOCUMENTS if values[name] is not None
        }
    else:
        values = cell_values(record) if isinstance(record, CellRow) else sample_values(record)
    return {name: value for name, value in values.items() if value is not None}


def run_of(values: Mapping[str, Any]) -> Run:
    """The inverse of `item_values` for a run."""
    documents = {name: json.loads(values[name]) for name in _DOCUMENTS if values.get(name)}
    return Run(**_known(Run, {**values, **documents, "status": RunStatus(values["status"])}))


def sample_of(values: Mapping[str, Any]) -> Sample:
    """The inverse of `item_values` for a sample."""
    parts = {
        name: kind(**_known(kind, values))
        for name, kind in _PARTS.items()
        if all(values.get(needed.name) is not None for needed in fields(kind) if _is_needed(needed))
    }
    own = {name: values[name] for name in SAMPLE_NAMES if name in values}
    status = SampleStatus(values["status"])
    return Sample(**_known(Sample, {**values, **parts, "own": own, "status": status}))


def cell_of(values: Mapping[str, Any]) -> CellRow:
    """The inverse of `item_values` for a cell."""
    parts = {
        "setting": setting_of(values),
        "own": {name: values[name] for name in STATISTIC_NAMES if name in values},
        "cold": ColdStatistics(**_all(ColdStatistics, values)) if values.get("n_cold") else None,
        "stats": CellStatistics(**_all(CellStatistics, values)) if values.get("n") else None,
    }
    return CellRow(**_known(CellRow, {**values, **parts}))


def _values(kind: Kind, record: object) -> dict[str, Any]:
    return {_stored(field.name): getattr(record, field.name) for field in fields(kind)}


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING


def _names(kind: Kind) -> list[str]:
    return [_stored(field.name) for field in fields(kind)]


def _expanded(values: Mapping[str, Any], **parts: Mapping[str, Any]) -> dict[str, Any]:
    """*values* with each of *parts* in its field's place."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= parts.get(name, {name: value})
    return flat


def _known(kind: Kind, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of *kind* that *values* have."""
    names = {field.name: _stored(field.name) for field in fields(kind)}
    return {name: values[stored] for name, stored in names.items() if stored in values}


def _all(kind: Kind, values: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: values.get(_stored(field.name)) for field in fields(kind)}


def _stored(name: str) -> str:
    return _STORED_NAMES.get(name, name)


_NO_COLD: Final = {**dict.fromkeys(_names(ColdStatistics)), "n_cold": 0}
_NO_STATS: Final = {**dict.fromkeys(_names(CellStatistics)), "n": 0}

SAMPLE_VALUES: Final = tuple(
    value
    for name in _names(Sample)
    if name != "own"
    for value in (_names(_PARTS[name]) if name in _PARTS else (name,))
)
"""Names of the values of every sample; workloads have more."""
