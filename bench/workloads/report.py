"""Tables and JSON of experiments, with the statistics and columns of the sweep's own reports."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench.tables.table import Columns, Table, numbers, spread_of
from bench.workloads.experiments import Experiment
from bucketsum.prices import prices_in
from bucketsum_cli.machine.proxy import LINK_MBIT_PER_S
from bucketsum_cli.terminal.formatting import MISSING
from bucketsum_cli.tune.workload_view import TableColumn
from bucketsum_cli.tune.workloads import view_of
from bucketsum_lab.plan.plan import Plan
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.protocol.samples import Sample, SampleStatus
from bucketsum_lab.results.analysis import cell_rows
from bucketsum_lab.results.record_values import cell_values, sample_values
from bucketsum_lab.workloads import WORKLOADS

NOT_AWS: Final = "Measured in the sandbox, not on AWS."
_CPU: Final = "CPU s"
_PRICES: Final = prices_in("us-east-1", "arm64")


@dataclass(frozen=True, slots=True)
class MeasuredWorkload:
    """An experiment with all of its samples."""

    experiment: Experiment
    plan: Plan
    samples: Sequence[Sample]

    @property
    def cells(self) -> list[CellRow]:
        """The cells with their statistics."""
        workload = WORKLOADS[self.plan.sweep.workload]
        return cell_rows([cell.row for cell in self.plan.cells], self.samples, _PRICES, workload)

    def table(self, origin: str) -> Table:
        """Return a row for each cell; a parameter has a column if it varies, memory always."""
        cells, names = self.cells, _varying(self.cells)
        views = view_of(self.plan.sweep.workload).columns
        names_shown = self.experiment.columns or [column.name for column in views]
        columns = [
            column for column in views if column.title != _CPU and column.name in names_shown
        ]
        headings: Columns = (
            *(name.replace("_", " ") for name in names),
            *numbers("seconds", _CPU, decimals=2),
            *(column.title for column in columns),
            *numbers("USD per TB", decimals=3),
            "remarks",
        )
        rows = [self._row(cell, names, columns) for cell in cells]
        kept = [at for at in range(len(headings)) if any(row[at] is not None for row in rows)]
        return Table(
            self.experiment.name,
            tuple(headings[at] for at in kept),
            tuple(tuple(row[at] for at in kept) for row in rows),
            self.experiment.title,
            f"{NOT_AWS} {origin}. Runs of each: {self.experiment.sweep['runs']}.",
        )

    def _row(
        self, cell: CellRow, names: Iterable[str], columns: Iterable[TableColumn]
    ) -> tuple[Any, ...]:
        own = [sample for sample in self.samples if sample.cell_id == cell.cell_id]
        good = [s for s in own if s.status is SampleStatus.OK and s.repetition]
        readings = [sample.reading for sample in good if sample.reading]
        values = cell_values(cell)
        return (
            *(values.get(name) for name in names),
            spread_of(reading.seconds for reading in readings),
            spread_of(reading.cpu_seconds for reading in readings),
            *(None if (text := column.text(cell)) == MISSING else text for column in columns),
            cell.stats and cell.stats.usd_per_tb,
            cell.cause,
        )

    def as_json(self) -> dict[str, Any]:
        """The sweep's input with every sample."""
        return {
            "title": self.experiment.title,
            "sweep": self.experiment.sweep,
            "lambda_cpu_share": self.experiment.limits_cpu,
            "link_mbit_per_s": LINK_MBIT_PER_S,
            "burst_bytes": self.experiment.burst_bytes,
            "samples": [
                {
                    name: value
                    for name, value in sample_values(sample).items()
                    if value is not None and name != "disk_folder"  # a path of this machine
                }
                for sample in self.samples
            ],
        }


def _varying(cells: Sequence[CellRow]) -> list[str]:
    """Names of parameters with more than one value, memory always."""
    settings = [cell_values(cell) for cell in cells]
    own = dict.fromkeys(parameter.name for cell in cells for parameter, _ in cell.setting.variant)
    names = ["memory_mb", "object_bytes", "chunk_bytes", "streams", *own]
    return [
        name
        for name in names
        if name == "memory_mb" or len({setting.get(name) for setting in settings}) > 1
    ]
