"""The recommended setting compared with the deployed one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from bucketsum_lab.results.analysis import SIGNIFICANCE, p_value, warm_seconds
from bucketsum_lab.results.recommend import candidates
from bucketsum_lab.results.recommendation import Candidate, Improvement
from bucketsum_lab.workloads import setting_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bucketsum.prices import Prices
    from bucketsum_lab.protocol.parameters import Setting
    from bucketsum_lab.protocol.run_records import CellRow, Run
    from bucketsum_lab.protocol.samples import Sample
    from bucketsum_lab.protocol.workload import Workload


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
