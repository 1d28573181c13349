"""The results of a run: the run, its cells, and the samples of every cell."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bucketsum.measure import mb_per_s
from bucketsum.sweep.axes import Setting, Workload
from bucketsum.sweep.causes import plain_cause
from bucketsum.sweep.measurements_table import RunStatus, SampleStatus
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.tune.formatting import count_text, size_texts
from bucketsum_cli.tune.labels import SettingLabels, chunk_has_effect, streams_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bucketsum.sweep.measurements_table import CellRow, MeasurementsTable, Run, Sample


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The setting to deploy, or the reason why there is none.

    Attributes:
        parameters: Values for template.yaml's parameters; empty without a recommendation.
        setting: The recommended setting; None without a recommendation.
        reason: The reason of the choice, or of its absence.
        mb_per_s: Speed over all objects of the run.
        usd_per_gb: Cost over all objects of the run.
        weak: Whether one of its cells has too few samples.
        also: Number of other settings that are not significantly slower or faster.
    """

    parameters: Mapping[str, int | str]
    setting: Setting | None
    reason: str
    mb_per_s: float | None = None
    usd_per_gb: float | None = None
    weak: bool = False
    also: int = 0

    @property
    def also_text(self) -> str:
        """The number of equally fast settings, as a sentence; empty if there is none."""
        if not self.also:
            return ""
        others = count_text(self.also, "other setting")
        return f"Its speed differs from that of {others} by less than the noise of these runs."

    @property
    def chunk_text(self) -> str:
        """A remark if the chunk size of the setting has no effect; else empty."""
        if self.setting is None or chunk_has_effect(self.setting):
            return ""
        return f"With {streams_text(self.setting.streams)}, the chunk size has no effect."

    def is_of(self, cell: CellRow) -> bool:
        """Whether *cell* has the recommended setting."""
        return self.setting == cell.setting


@dataclass(frozen=True, slots=True)
class Panel:
    """Comparable cells: those of one object and one concurrency.

    Attributes:
        title: The object and the concurrency.
        cells: The cells.
    """

    title: str
    cells: tuple[CellRow, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that is recorded of a run.

    Attributes:
        run: The run.
        cells: Its cells, by memory, chunk size, object and concurrency.
        samples: The samples of each cell by run and invocation, without warm-ups.
    """

    run: Run
    cells: tuple[CellRow, ...]
    samples: Mapping[str, tuple[Sample, ...]]

    @property
    def is_local(self) -> bool:
        """Whether it was measured in the local emulator, so that its numbers are not AWS's."""
        return self.run.label != "aws"

    @property
    def input(self) -> Mapping[str, Any]:
        """The sweep's input, as its sender wrote it."""
        return _document(self.run.input)

    @property
    def recommendation(self) -> Recommendation | None:
        """The recommendation; None if the run has not reached that step."""
        return recommendation_of(self.run)

    def is_recommended(self, cell: CellRow) -> bool:
        """Whether *cell* has the recommended setting."""
        recommendation = self.recommendation
        return recommendation is not None and recommendation.is_of(cell)

    @property
    def labels(self) -> SettingLabels:
        """The labels of its settings."""
        return SettingLabels(cell.setting for cell in self.cells)

    @property
    def has_archives(self) -> bool:
        """Whether the objects are archives."""
        return self.input.get("workload") == Workload.UNZIP

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
                cause = plain_cause(sample.error, sample.cause or "no cause was reported")
                causes.add(f"{cause}{key}")
        return sorted(causes)


def results_of(measurements: MeasurementsTable, run_id: str) -> Results:
    """Everything that is recorded of *run_id*; ``last`` is the newest run.

    Raises:
        CannotDoError: There is no such run, or none at all.
        BotoCoreError: AWS cannot be reached.
        ClientError: AWS refused.
    """
    run = next(measurements.runs(), None) if run_id == "last" else measurements.run(run_id)
    if run is None:
        raise CannotDoError(
            "no sweep has run yet; start one with `bucketsum tune run`"
            if run_id == "last"
            else f"there is no run {run_id}; `bucketsum tune list` lists all runs"
        )
    return assembled(run, measurements.cells(run.run_id), measurements.samples(run.run_id))


def assembled(run: Run, cells: Sequence[CellRow], samples: Sequence[Sample]) -> Results:
    """*cells* and *samples* in the order of the baseline's table."""
    by_cell: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.run > 0:
            by_cell[sample.cell_id].append(sample)
    return Results(
        run=run,
        cells=tuple(
            sorted(
                cells,
                key=lambda cell: (
                    cell.setting.order,
                    cell.object_bytes,
                    cell.key,
                    cell.concurrency,
                ),
            )
        ),
        samples={cell_id: tuple(of_cell) for cell_id, of_cell in by_cell.items()},
    )


def recommendation_of(run: Run) -> Recommendation | None:
    """The recommendation in the summary of *run*; None without a summary."""
    summary = _document(run.summary).get("recommendation")
    if not isinstance(summary, dict):
        return None
    parameters = summary.get("parameters", {})
    return Recommendation(
        parameters=parameters,
        setting=_recommended_setting(summary, parameters),
        reason=str(summary.get("reason", "")),
        mb_per_s=summary.get("mb_per_s"),
        usd_per_gb=summary.get("usd_per_gb"),
        weak=bool(summary.get("weak")),
        also=len(summary.get("also", ())),
    )


def _recommended_setting(
    summary: Mapping[str, Any], parameters: Mapping[str, Any]
) -> Setting | None:
    if "setting" in summary:
        return Setting(**summary["setting"])
    if not parameters:
        return None
    return Setting(parameters["MemorySize"], parameters["ChunkBytes"])  # of before there was more


def speed_at(cell: CellRow, seconds: float | None) -> float | None:
    """MB/s of an invocation of *cell* that takes *seconds*."""
    return None if seconds is None else mb_per_s(cell.object_bytes, seconds)


def warm_seconds(samples: Iterable[Sample]) -> list[float]:
    """Seconds of the good samples that were not cold, as in the statistics."""
    return [
        sample.seconds
        for sample in samples
        if sample.status == SampleStatus.OK and not sample.cold and sample.seconds is not None
    ]


def is_measured(cell: CellRow) -> bool:
    """Whether *cell* has a speed."""
    return cell.mb_per_s is not None


def failures_of(samples: Sequence[Sample]) -> Iterator[Sample]:
    """The failed *samples*."""
    return (sample for sample in samples if sample.status == SampleStatus.FAILED)


def is_running(run: Run) -> bool:
    """Whether the run is still in progress."""
    return run.status == RunStatus.RUNNING


def _document(text: str | None) -> Mapping[str, Any]:
    document = json.loads(text) if text else {}
    return document if isinstance(document, dict) else {}
