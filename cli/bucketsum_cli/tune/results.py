"""What a run measured, put together for reading: the run, its cells, every cell's samples."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bucketsum.measure import mb_per_s
from bucketsum.sweep.axes import Setting, Workload
from bucketsum.sweep.measurements_table import RunStatus, SampleStatus
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.tune.labels import SettingLabels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bucketsum.sweep.measurements_table import CellRow, MeasurementsTable, Run, Sample


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to deploy, or why nothing can be recommended.

    Attributes:
        parameters: Values for template.yaml's parameters; empty where nothing is recommended.
        setting: What these deploy; None where nothing is recommended.
        reason: Why these, or why none.
        mb_per_s: Over all objects of the run.
        usd_per_gb: The same.
        weak: Whether one of its cells has too few samples.
        also: How many other settings cannot be told apart from it in speed.
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
        """The last as a sentence."""
        if not self.also:
            return ""
        others = "1 other setting" if self.also == 1 else f"{self.also} other settings"
        return f"{others} cannot be told apart from it in speed."

    def is_of(self, cell: CellRow) -> bool:
        """Whether *cell* was measured with it."""
        return self.setting == cell.setting


@dataclass(frozen=True, slots=True)
class Panel:
    """Cells that can be compared with each other: of one object, with equally many at once.

    Attributes:
        object_bytes: Size of the object.
        key: The object, where the sweep was asked for it by name.
        concurrency: Invocations at once.
        cells: The cells.
    """

    object_bytes: int
    key: str | None
    concurrency: int
    cells: tuple[CellRow, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """All that is recorded of a run.

    Attributes:
        run: The run.
        cells: Its cells, by memory, chunk size, object and concurrency.
        samples: Every cell's samples, warm-ups left out, by run and invocation.
    """

    run: Run
    cells: tuple[CellRow, ...]
    samples: Mapping[str, tuple[Sample, ...]]

    @property
    def is_local(self) -> bool:
        """Whether it was measured on an embedded AWS, so that its numbers are not AWS's."""
        return self.run.label != "aws"

    @property
    def asked(self) -> Mapping[str, Any]:
        """The sweep's input, as its sender wrote it."""
        return _document(self.run.input)

    @property
    def recommendation(self) -> Recommendation | None:
        """What to deploy; None where the run has not come to that."""
        return recommendation_of(self.run)

    def is_recommended(self, cell: CellRow) -> bool:
        """Whether *cell* was measured with what is recommended."""
        recommendation = self.recommendation
        return recommendation is not None and recommendation.is_of(cell)

    @property
    def naming(self) -> SettingLabels:
        """How its settings are called."""
        return SettingLabels(cell.setting for cell in self.cells)

    @property
    def has_archives(self) -> bool:
        """Whether what was read has members."""
        return self.asked.get("workload") == Workload.UNZIP

    def panels(self) -> tuple[Panel, ...]:
        """The cells by object and concurrency, small objects first."""
        named = "keys" in self.asked
        groups: dict[tuple[int, str, int], list[CellRow]] = defaultdict(list)
        for cell in self.cells:
            groups[cell.object_bytes, cell.key, cell.concurrency].append(cell)
        return tuple(
            Panel(size, key if named else None, concurrency, tuple(cells))
            for (size, key, concurrency), cells in sorted(groups.items())
        )


def results_of(measurements: MeasurementsTable, run_id: str) -> Results:
    """All that *measurements* hold of *run_id*; ``last`` is the newest run.

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
            else f"there is no run {run_id}; `bucketsum tune list` names them"
        )
    return assembled(run, measurements.cells(run.run_id), measurements.samples(run.run_id))


def assembled(run: Run, cells: Sequence[CellRow], samples: Sequence[Sample]) -> Results:
    """Put *cells* and *samples* in the order of the article's table."""
    by_cell: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.run > 0:
            by_cell[sample.cell_id].append(sample)
    return Results(
        run=run,
        cells=tuple(
            sorted(
                cells,
                key=lambda one: (one.setting.order, one.object_bytes, one.key, one.concurrency),
            )
        ),
        samples={cell_id: tuple(some) for cell_id, some in by_cell.items()},
    )


def recommendation_of(run: Run) -> Recommendation | None:
    """What the analyst recommends after *run*; None where it has not come to that."""
    found = _document(run.summary).get("recommendation")
    if not isinstance(found, dict):
        return None
    parameters = found.get("parameters", {})
    return Recommendation(
        parameters=parameters,
        setting=_recommended_setting(found, parameters),
        reason=str(found.get("reason", "")),
        mb_per_s=found.get("mb_per_s"),
        usd_per_gb=found.get("usd_per_gb"),
        weak=bool(found.get("weak")),
        also=len(found.get("also", ())),
    )


def _recommended_setting(found: Mapping[str, Any], parameters: Mapping[str, Any]) -> Setting | None:
    if "setting" in found:
        return Setting(**found["setting"])
    if not parameters:
        return None
    return Setting(parameters["MemorySize"], parameters["ChunkBytes"])  # of before there was more


def speed_at(cell: CellRow, seconds: float | None) -> float | None:
    """MB/s of one invocation of *cell* that takes *seconds*."""
    return None if seconds is None else mb_per_s(cell.object_bytes, seconds)


def warm_seconds(samples: Iterable[Sample]) -> list[float]:
    """What the statistics are made of: seconds of the good samples that were not cold."""
    return [
        sample.seconds
        for sample in samples
        if sample.status == SampleStatus.OK and not sample.cold and sample.seconds is not None
    ]


def is_measured(cell: CellRow) -> bool:
    """Whether there is a speed to show."""
    return cell.mb_per_s is not None


def failures_of(samples: Sequence[Sample]) -> Iterator[Sample]:
    """Those of *samples* that failed."""
    return (sample for sample in samples if sample.status == SampleStatus.FAILED)


def is_running(run: Run) -> bool:
    """Whether more is to come."""
    return run.status == RunStatus.RUNNING


def _document(text: str | None) -> Mapping[str, Any]:
    document = json.loads(text) if text else {}
    return document if isinstance(document, dict) else {}
