"""The results of a run: the run, its cells, and the samples of every cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from bucketsum.step_functions_errors import plain_cause
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import MISSING
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.tune.formatting import size_texts
from bucketsum_cli.tune.machine import Machine, machine_of
from bucketsum_cli.tune.setting_labels import SettingLabels
from bucketsum_lab.protocol.run_records import CellRow, CellStatistics, Run, RunLabel
from bucketsum_lab.protocol.samples import Sample, SampleFailure, SampleStatus
from bucketsum_lab.results.recommendation import improvement_of, recommendation_of
from bucketsum_lab.workloads import WORKLOADS, WorkloadName, setting_of

if TYPE_CHECKING:
    from bucketsum_lab.protocol.samples import DiskSpeed
    from bucketsum_lab.protocol.workload import Workload
    from bucketsum_lab.results.recommendation import Improvement, Recommendation
    from bucketsum_lab.results.run_store import RunStore

_NO_CAUSE: Final = "no cause was reported"
_DISK_UNITS: Final = {
    "disk_write_mb_per_s": "MB/s written",
    "disk_read_mb_per_s": "MB/s read",
    "disk_reads_per_s": "reads of 4 KiB per second",
    "disk_reads_per_s_16": "with 16 at a time",
}


@dataclass(frozen=True, slots=True)
class Panel:
    """Comparable cells: those of one object and one concurrency.

    Attributes:
        title: The object and the concurrency.
    """

    title: str
    cells: tuple[CellRow, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that is recorded for a run.

    Attributes:
        cells: Its cells, by memory, chunk size, object and concurrency.
        samples: The samples of each cell by run and invocation, without warm-ups.
        disks: The speeds of the disks of its execution environments, warm-ups included.
    """

    run: Run
    cells: tuple[CellRow, ...]
    samples: Mapping[str, tuple[Sample, ...]]
    disks: tuple[DiskSpeed, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether it was measured in the local emulator, so that its numbers are not AWS's."""
        return self.run.label not in (RunLabel.AWS, RunLabel.HERE)

    @property
    def machine(self) -> Machine | None:
        """The machine that measured it; None for Lambda."""
        return machine_of(self.run)

    def disk_facts(self) -> Iterator[tuple[str, str]]:
        """Name and text of the speed of each disk, by all processes that measured it."""
        named = dict.fromkeys(cell.setting.disk for cell in self.cells if cell.setting.disk)
        for folder in named:
            of_folder = [disk for disk in self.disks if disk.disk_folder == folder]
            if of_folder:
                yield f"speed of {folder}", _disk_speed_text(of_folder)
        others = [disk for disk in self.disks if disk.disk_folder not in named]
        if others:
            yield "disk speed", _disk_speed_text(others)

    @property
    def has_memory_axis(self) -> bool:
        """Whether each process had the memory of its setting."""
        return self.machine is None or self.machine.has_memory_axis

    @property
    def input(self) -> Mapping[str, Any]:
        """The sweep's input, as its sender wrote it; empty if it is not a JSON object."""
        return self.run.input if isinstance(self.run.input, dict) else {}

    @property
    def recommendation(self) -> Recommendation:
        """The recommendation in the run's summary."""
        return recommendation_of(self.run)

    def is_recommended(self, cell: CellRow) -> bool:
        """Whether *cell* has the recommended setting."""
        best = self.recommendation.best
        return best is not None and best.setting == cell.setting

    def is_deployed(self, cell: CellRow) -> bool:
        """Whether *cell* has the setting of the stack's hasher."""
        deployed = self.run.deployed
        return deployed is not None and setting_of(deployed) == cell.setting

    @property
    def improvement(self) -> Improvement | None:
        """The gain by the recommendation; None if the deployed setting has no measurement."""
        return improvement_of(self.run)

    @property
    def labels(self) -> SettingLabels:
        """The labels of its settings."""
        settings = [cell.setting for cell in self.cells]
        return SettingLabels(
            settings, has_chunks=not self.workload or self.workload.chunk_bytes is None
        )

    @property
    def workload(self) -> Workload | None:
        """The workload that was measured; None if there is no such workload."""
        return WORKLOADS[self.workload_name] if self.workload_name else None

    @property
    def workload_name(self) -> WorkloadName | None:
        """The name of the workload that was measured; None if the planner refused the name."""
        name = self.input.get("workload", WorkloadName.HASH)
        return WorkloadName(name) if name in tuple(WorkloadName) else None

    def panels(self) -> tuple[Panel, ...]:
        """The cells by object and concurrency, small objects first."""
        groups: dict[tuple[int, str, int], list[CellRow]] = defaultdict(list)
        for cell in self.cells:
            groups[cell.object_bytes, cell.key, cell.concurrency].append(cell)
        return tuple(
            Panel(self.object_text(cells[0], self.size_texts), tuple(cells))
            for _, cells in sorted(groups.items())
        )

    @property
    def size_texts(self) -> Mapping[int, str]:
        """The sizes of the objects as texts, each different."""
        return size_texts(cell.object_bytes for cell in self.cells)

    def object_text(self, cell: CellRow, sizes: Mapping[int, str]) -> str:
        """The object's text in *sizes*, its key if the input names it, and the concurrency."""
        key = cell.key if "keys" in self.input else ""
        concurrency = f"{cell.concurrency} at once" if cell.concurrency > 1 else ""
        return ", ".join(filter(None, [sizes[cell.object_bytes], key, concurrency]))

    def failures(self) -> list[str]:
        """The causes of failed samples, each once, with the key if the input names it."""
        causes = set()
        for cell in self.cells:
            key = f" ({cell.key})" if "keys" in self.input else ""
            for sample in failures_of(self.samples.get(cell.cell_id, ())):
                failure = sample.failure or SampleFailure("")
                causes.add(f"{plain_cause(failure.error, failure.cause or _NO_CAUSE)}{key}")
        return sorted(causes)


def results_of(store: RunStore, run_id: str) -> Results:
    """Everything that is recorded for *run_id*.

    Raises:
        CannotDoError: There is no such run.
    """
    run = store.run(run_id)
    if run is None:
        runs = command_line("tune", "list")
        raise CannotDoError(f"there is no run {run_id}; `{runs}` lists all runs")
    return assembled(run, store.cells(run_id), store.samples(run_id))


def assembled(run: Run, cells: Sequence[CellRow], samples: Sequence[Sample]) -> Results:
    """*cells* and *samples* in the order of the table of a run."""
    by_cell: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.repetition > 0:
            by_cell[sample.cell_id].append(sample)
    return Results(
        run=run,
        cells=tuple(
            sorted(cells, key=lambda c: (c.setting.order, c.object_bytes, c.key, c.concurrency))
        ),
        samples={cell_id: tuple(of_cell) for cell_id, of_cell in by_cell.items()},
        disks=tuple(sample.disk for sample in samples if sample.disk),
    )


def statistic_of(cell: CellRow | None, name: str) -> float | None:
    """A statistic of *cell*; None if it has none."""
    return getattr(cell.stats, name) if cell and cell.stats else None


def bottleneck_text(cell: CellRow | None) -> str:
    """The bottleneck of *cell* and the share of time at it: ``cpu 97 %``."""
    limit = cell.limit if cell else None
    return f"{limit.bottleneck} {limit.bottleneck_share * 100:.0f} %" if limit else MISSING


def measured(cells: Iterable[CellRow]) -> list[tuple[CellRow, CellStatistics]]:
    """Each cell that has statistics, with its statistics."""
    return [(cell, cell.stats) for cell in cells if cell.stats]


def median_sample(samples: Iterable[Sample], stats: CellStatistics) -> Sample | None:
    """The warm one of *samples* whose time is nearest to the median; None if none is warm."""
    distances = [
        (abs(reading.seconds - stats.p50_seconds), number, sample)
        for number, sample in enumerate(samples)
        if (reading := sample.warm_reading)
    ]
    return min(distances)[2] if distances else None


def has_failed(cell: CellRow) -> bool:
    """Whether a sample of *cell* failed, or it could not run."""
    return bool(cell.failed or cell.cause)


def failures_of(samples: Sequence[Sample]) -> Iterator[Sample]:
    """The samples that failed, of *samples*."""
    return (sample for sample in samples if sample.status == SampleStatus.FAILED)


def _disk_speed_text(disks: Sequence[DiskSpeed]) -> str:
    """The medians of all processes that measured a disk, and reasons of those that did not."""
    reasons = sorted({disk.disk_unmeasured for disk in disks if disk.disk_unmeasured})
    texts = [f"not measured: {reason}" for reason in reasons]
    for name, unit in _DISK_UNITS.items():
        values = [value for disk in disks if (value := getattr(disk, name)) is not None]
        if values:
            texts.append(f"{median(values):,.0f} {unit}")
    return ", ".join(texts)
