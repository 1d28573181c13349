"""Both places side by side: the speed of each cell, its ratio, and the recommendations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bench.emulator.places import Place
from bench.tables.spread import Spread, spread_of
from bench.tables.table import Column, Table, numbers
from bucketsum.prices import prices_in
from bucketsum_cli.machine.proxy import BURST_BYTES
from bucketsum_cli.tune.results import bottleneck_text
from bucketsum_cli.tune.setting_labels import SettingLabels
from bucketsum_lab.results.analysis import cell_rows
from bucketsum_lab.results.recommend import recommend
from bucketsum_lab.workloads import WORKLOADS

if TYPE_CHECKING:
    from bucketsum_lab.plan.plan import Plan
    from bucketsum_lab.protocol.run_records import CellRow
    from bucketsum_lab.protocol.samples import Sample
    from bucketsum_lab.results.recommendation import Recommendation

DIFFERENCE_MAX: Final = 0.15
"""Of the emulator's MB/s from the sandbox's."""
IN_BURST_MAX: Final = 0.25
"""The same for an object that fits into the network's burst."""

_PRICES: Final = prices_in("us-east-1", "arm64")
_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Comparison:
    """A planned sweep with the samples of both places, by their names."""

    plan: Plan
    samples: Mapping[str, Sequence[Sample]]

    def rows(self, place: str) -> list[CellRow]:
        """The cells with their statistics in *place*."""
        workload = WORKLOADS[self.plan.sweep.workload]
        cells = [cell.row for cell in self.plan.cells]
        return cell_rows(cells, self.samples[place], _PRICES, workload)

    def recommendation(self, place: str) -> Recommendation:
        """The recommendation by the sweep's strategy."""
        sweep = self.plan.sweep
        return recommend(self.rows(place), sweep.strategy, _PRICES, WORKLOADS[sweep.workload])

    @property
    def recommendations_agree(self) -> bool:
        """Whether both recommend a setting, and the same one."""
        first, second = (self.recommendation(place).best for place in Place)
        return first is not None and second is not None and first.setting == second.setting

    def differing(self) -> list[str]:
        """The cells with too large a difference, or without a measurement."""
        return [
            emulated.cell_id
            for emulated, sandboxed in self._pairs()
            if (ratio := _ratio(emulated, sandboxed)) is None
            or abs(ratio - 1)
            > (IN_BURST_MAX if emulated.object_bytes <= BURST_BYTES else DIFFERENCE_MAX)
        ]

    def table(self, remark: str) -> Table:
        """Return a row for each cell; the text above the table ends with the recommendations."""
        rows = tuple(self._row(*pair) for pair in self._pairs())
        columns = (
            Column("memory MB", "memory_mb"),
            Column("streams", "streams"),
            Column("object MB", "object_mb"),
            *numbers("emulator MB/s", "sandbox MB/s", decimals=1),
            *numbers("ratio", decimals=2),
            Column("emulator's bottleneck", "emulator_bottleneck"),
            Column("sandbox's bottleneck", "sandbox_bottleneck"),
        )
        title = "The same sweep on the local emulator and in the sandbox"
        recommended = "; ".join(map(self._recommended, Place))
        return Table("emulator", columns, rows, title, f"{remark} Recommended: {recommended}.")

    def _pairs(self) -> list[tuple[CellRow, CellRow]]:
        return list(zip(self.rows(Place.EMULATOR), self.rows(Place.SANDBOX), strict=True))

    def _row(self, emulated: CellRow, sandboxed: CellRow) -> tuple[Any, ...]:
        return (
            emulated.setting.memory_mb,
            str(emulated.setting.streams),
            emulated.object_bytes // _MB,
            self._speeds(Place.EMULATOR, emulated),
            self._speeds(Place.SANDBOX, sandboxed),
            _ratio(emulated, sandboxed),
            bottleneck_text(emulated),
            bottleneck_text(sandboxed),
        )

    def _speeds(self, place: str, cell: CellRow) -> Spread | None:
        own = (s for s in self.samples[place] if s.cell_id == cell.cell_id and s.repetition)
        return spread_of(reading.mb_per_s for sample in own if (reading := sample.warm_reading))

    def _recommended(self, place: str) -> str:
        recommendation = self.recommendation(place)
        if recommendation.best is None:
            return f"{place}: none, {recommendation.reason}"
        labels = SettingLabels(self.plan.sweep.settings)
        return f"{place}: {labels.effective(recommendation.best.setting)}"


def _ratio(emulated: CellRow, sandboxed: CellRow) -> float | None:
    if emulated.stats is None or sandboxed.stats is None:
        return None
    return emulated.stats.mb_per_s / sandboxed.stats.mb_per_s
