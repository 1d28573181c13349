"""Items of recorded runs: a run, its cells and its samples, wherever they are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, TypeAlias

from bucketsum.errors import DamagedItem
from bucketsum.table.codec import from_values
from bucketsum_lab.protocol.run_records import CellRow, Run
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.results.recommendation import require_documents
from bucketsum_lab.results.record_values import cell_of, sample_of

Record: TypeAlias = Run | CellRow | Sample

RUN_ITEM: Final = "run"
_CELL: Final = "cell#"
_SAMPLE: Final = "sample#"


class RunStore(ABC):
    """Recorded runs; an item that is written replaces that of its name."""

    @abstractmethod
    def runs(self) -> Iterator[Run | DamagedItem]:
        """Every run, the newest first; for a damaged run, its error."""

    def run(self, run_id: str) -> Run | None:
        """Read the run consistently, as `cells` and `samples` are read; None if there is none."""
        with self._intact("run", run_id):
            return next(map(run_of, self._items(run_id, RUN_ITEM)), None)

    def cells(self, run_id: str) -> list[CellRow]:
        """The cells of a run, ordered by id."""
        with self._intact("cells of the run", run_id):
            return [*map(cell_of, self._items(run_id, _CELL))]

    def samples(self, run_id: str) -> list[Sample]:
        """The samples of a run, ordered by cell, repetition and invocation."""
        with self._intact("samples of the run", run_id):
            return [*map(sample_of, self._items(run_id, _SAMPLE))]

    def record_run(self, run: Run) -> None:
        """Write a run as it stands. Repeating it changes nothing."""
        self._put(run.run_id, RUN_ITEM, run)

    def record_cell(self, run_id: str, cell: CellRow) -> None:
        """Write one cell of a run."""
        self._put(run_id, f"{_CELL}{cell.cell_id}", cell)

    def record_sample(self, run_id: str, sample: Sample) -> None:
        """Write one sample, as the state machine does."""
        item = sample_item(sample.cell_id, sample.repetition, sample.invocation)
        self._put(run_id, item, sample)

    @abstractmethod
    def _put(self, run_id: str, item: str, record: Record) -> None: ...

    @abstractmethod
    def _items(self, run_id: str, prefix: str) -> Iterator[Mapping[str, Any]]:
        """The values of the items whose names begin with *prefix*, ordered by name."""

    @abstractmethod
    def _intact(self, kind: str, run_id: str) -> AbstractContextManager[None]:
        """Raise an error that names the items if they cannot be decoded."""


def run_of(values: Mapping[str, Any]) -> Run:
    """The run of an item, whose documents can be read."""
    run = from_values(Run, values)
    require_documents(run)
    return run


def sample_item(cell_id: str, repetition: int, invocation: int) -> str:
    """The name of a sample's item. The state machine composes the same."""
    return f"{_SAMPLE}{cell_id}#{repetition:04d}#{invocation:04d}"
