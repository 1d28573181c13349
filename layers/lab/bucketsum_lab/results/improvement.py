"""The recommended setting compared with the deployed one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bucketsum_lab.results.analysis import SIGNIFICANCE, p_value, warm_seconds
from bucketsum_lab.results.recommend import Candidate, candidates
from bucketsum_lab.workloads import setting_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bucketsum.prices import Prices
    from bucketsum_lab.protocol.parameters import Setting
    from bucketsum_lab.protocol.run_records import CellRow, Run
    from bucketsum_lab.protocol.samples import Sample
    from bucketsum_lab.protocol.workload import Workload


@dataclass(frozen=True, slots=True)
class Improvement:
    """The gain of deploying a setting; negative for a loss."""

    deployed: Candidate
    """The setting of the stack's hasher."""
    faster: float
    """Gain in MB/s: 0.5 is half as fast again."""
    cheaper: float
    """Gain in USD per GB: 0.5 is half the cost."""
    is_significant: bool
    """Whether the speeds differ significantly for an object."""

    def to_json(self) -> dict[str, Any]:
        """The form in a run's summary."""
        return {
            **self.deployed.to_json(),
            "faster": round(self.faster, 4),
            "cheaper": round(self.cheaper, 4),
            "significant": self.is_significant,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Improvement:
        """The inverse of `to_json`."""
        return cls(
            Candidate.from_json(document),
            document["faster"],
            document["cheaper"],
            document["significant"],
        )


def improvement(
    run: Run,
    best: Candidate | None,
    cells: Sequence[CellRow],
    samples: Sequence[Sample],
    prices: Prices,
    workload: Workload,
) -> Improvement | None:
    """Compare *best* with the deployed setting of *run*; None if that has no measurement."""
    if best is None or run.deployed is None:
        return None
    setting = setting_of(run.deployed)
    deployed = next((c for c in candidates(cells, prices, workload) if c.setting == setting), None)
    if deployed is None:
        return None
    return Improvement(
        deployed,
        best.mb_per_s / deployed.mb_per_s - 1,
        1 - best.usd_per_gb / deployed.usd_per_gb,
        any(
            p_value(seconds[best.setting], seconds[setting]) < SIGNIFICANCE
            for seconds in _seconds_by_object(cells, samples)
        ),
    )


def _seconds_by_object(
    cells: Sequence[CellRow], samples: Sequence[Sample]
) -> Iterable[Mapping[Setting, Sequence[float]]]:
    """Warm seconds of each setting, for each object and concurrency."""
    groups: dict[tuple[str, int], dict[Setting, Sequence[float]]] = defaultdict(dict)
    for cell in cells:
        own = (sample for sample in samples if sample.cell_id == cell.cell_id)
        groups[cell.key, cell.concurrency][cell.setting] = warm_seconds(own)
    return groups.values()
