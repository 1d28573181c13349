"""Summary of a run: its samples, its failures, and the setting to deploy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bucketsum.prices import Prices
from bucketsum.step_functions_errors import plain_cause
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.protocol.measuring import MachinePrice
from bucketsum_lab.protocol.run_records import CellRow, Run, RunStatus
from bucketsum_lab.protocol.samples import Sample, SampleStatus
from bucketsum_lab.results.analysis import cell_rows
from bucketsum_lab.results.recommend import improvement, recommend
from bucketsum_lab.results.recommendation import Recommendation, document_of
from bucketsum_lab.workloads import WORKLOADS

NOT_LAMBDA: Final = "it was measured on a machine, not on Lambda"

_CAUSES_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class ExecutionEnd:
    """The end of a run's execution."""

    status: RunStatus | None = None
    """Status of the run if the execution did not reach its own end; else None."""
    failure: str = ""
    """The reason why the execution did not succeed."""
    leftovers: tuple[str, ...] = ()
    """Things that clean-up could not undo."""

    @classmethod
    def broken_off(cls, execution: Mapping[str, Any]) -> ExecutionEnd:
        """The end of an *execution* as EventBridge and DescribeExecution describe it."""
        status = RunStatus.FAILED if execution["status"] == "FAILED" else RunStatus.STOPPED
        cause = plain_cause(execution.get("error"), execution.get("cause"))
        return cls(status, f"the execution is {execution['status']}{': ' if cause else ''}{cause}")


def summarize(
    run: Run,
    cells: Sequence[CellRow],
    samples: Sequence[Sample],
    prices: Prices | MachinePrice,
    end: ExecutionEnd,
    ended_at: str,
) -> tuple[Run, list[CellRow]]:
    """Judge *run* by its samples and the end of its execution; its cells get their statistics.

    The price of a machine means that Lambda was not measured, so that nothing is recommended.
    """
    sweep = SweepInput.from_json(run.input)
    workload = WORKLOADS[sweep.workload]
    rows = cell_rows(cells, samples, prices, workload)
    recommendation, gain = Recommendation(NOT_LAMBDA), None
    if not isinstance(prices, MachinePrice):
        recommendation = recommend(rows, sweep.strategy, prices, workload)
        gain = improvement(run, recommendation.best, rows, samples, prices, workload)
    counts = Counter(sample.status for sample in samples)
    ok, failed = counts[SampleStatus.OK], counts[SampleStatus.FAILED]
    planned = run.samples or 0  # none are planned if every cell is refused
    unmeasured = [row for row in rows if row.stats is None]
    status = end.status or _status(ok, planned - ok, unmeasured, end)
    cause = _cause(unmeasured, failed, planned - ok - failed, end)
    document = {
        "run_id": run.run_id,
        "status": status,
        "label": run.label,
        "samples": {"planned": run.samples, "ok": ok, "failed": failed},
        "cells": {"planned": len(rows), "without_a_warm_sample": len(unmeasured)},
        "weak": bool(run.few_samples),
        "strategy": sweep.strategy.name,
        "recommendation": document_of(recommendation),
        "deployed": document_of(gain) if gain else None,
        **({"cause": cause} if cause else {}),
    }
    ended = replace(
        run,
        status=status,
        ended_at=ended_at,
        samples_ok=ok,
        samples_failed=failed,
        price_date=prices.date,
        priced_as=prices.priced_as,
        summary=document,
        cause=cause or None,
    )
    return ended, rows


def _status(ok: int, missing: int, unmeasured: Sequence[CellRow], end: ExecutionEnd) -> RunStatus:
    if not ok or end.failure:
        return RunStatus.FAILED
    if missing or unmeasured or end.leftovers:
        return RunStatus.PARTIAL
    return RunStatus.SUCCEEDED


def _cause(unmeasured: Sequence[CellRow], failed: int, missing: int, end: ExecutionEnd) -> str:
    causes = [end.failure] if end.failure else []
    if failed:
        causes.append(f"{failed} samples failed")
    if missing > 0:
        causes.append(f"{missing} samples are missing")
    of_cells = list(dict.fromkeys(row.cause for row in unmeasured if row.cause))
    causes += of_cells[:_CAUSES_SHOWN]
    if len(of_cells) > _CAUSES_SHOWN:
        causes.append(f"and {len(of_cells) - _CAUSES_SHOWN} more causes; see the cells")
    if end.leftovers:
        causes.append(f"left behind: {'; '.join(end.leftovers)}")
    return "; ".join(causes)
