"""Records of a run before its first sample: the run and its cells, from the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bucketsum.sweep.records import CellRow, Run

if TYPE_CHECKING:
    from bucketsum.sweep.plan import Plan


def planned_rows(plan: Plan) -> list[CellRow]:
    """The cells of *plan*, with the reasons of those that cannot run."""
    return [
        CellRow(
            cell_id=cell.cell_id,
            setting=cell.setting,
            concurrency=cell.concurrency,
            object_bytes=cell.object.size_bytes,
            key=cell.object.key,
            storage_mb=cell.storage_mb,
            cause=cell.refused,
        )
        for cell in plan.cells
    ]


def planned_run(run: Run, plan: Plan) -> Run:
    """*run* with the numbers of *plan*."""
    return replace(
        run,
        repetitions=plan.sweep.repetitions,
        few_samples=plan.sweep.few_samples,
        cells=len(plan.cells),
        samples=plan.samples,
    )
