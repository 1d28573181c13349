"""What became of a run: its samples, what failed, and the setting to deploy."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bucketsum.sweep.analysis import cell_rows
from bucketsum.sweep.input import SweepInput
from bucketsum.sweep.recommend import recommend
from bucketsum.sweep.records import CellRow, Run, RunStatus, Sample, SampleStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bucketsum.sweep.prices import Prices


@dataclass(frozen=True, slots=True)
class ExecutionEnd:
    """How the execution went, besides its samples.

    Attributes:
        status: What it ended as, where it could not end by itself; else None.
        failure: What broke the execution off, or "".
        left: What clean-up could not put right.
    """

    status: RunStatus | None = None
    failure: str = ""
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What is written, and what the execution's output is.

    Attributes:
        run: The run, ended.
        cells: Its cells, with statistics.
        summary: Numbers and recommendation.
    """

    run: Run
    cells: tuple[CellRow, ...]
    summary: dict[str, Any]


def summarize(
    run: Run,
    cells: Sequence[CellRow],
    samples: Sequence[Sample],
    prices: Prices,
    ending: ExecutionEnd,
    ended_at: str,
) -> RunSummary:
    """Judge *run* by its samples and its ending."""
    rows = cell_rows(cells, samples, prices)
    counts = Counter(sample.status for sample in samples)
    ok, failed = counts[SampleStatus.OK], counts[SampleStatus.FAILED]
    without = [row for row in rows if not row.n]
    status = ending.status or _status(ok, (run.samples or 0) - ok, without, ending)
    strategy = SweepInput.from_json(json.loads(run.input or "{}")).strategy
    cause = _cause(without, failed, (run.samples or 0) - ok - failed, ending)
    summary = {
        "run_id": run.run_id,
        "status": status,
        "label": run.label,
        "samples": {"planned": run.samples, "ok": ok, "failed": failed},
        "cells": {"planned": len(rows), "without_a_warm_sample": len(without)},
        "weak": bool(run.weak),
        "strategy": strategy.name,
        "recommendation": recommend(rows, strategy, prices).to_json(),
        **({"cause": cause} if cause else {}),
    }
    ended = replace(
        run,
        status=status,
        ended_at=ended_at,
        samples_ok=ok,
        samples_failed=failed,
        price_date=prices.date,
        summary=json.dumps(summary),
        cause=cause or None,
    )
    return RunSummary(ended, tuple(rows), summary)


def _status(ok: int, missing: int, without: Sequence[CellRow], ending: ExecutionEnd) -> RunStatus:
    if not ok or ending.failure:
        return RunStatus.FAILED
    if missing or without or ending.left:
        return RunStatus.PARTIAL
    return RunStatus.SUCCEEDED


_CAUSES_SHOWN = 3


def _cause(without: Sequence[CellRow], failed: int, missing: int, ending: ExecutionEnd) -> str:
    causes = [ending.failure] if ending.failure else []
    if failed:
        causes.append(f"{failed} samples failed")
    if missing > 0:
        causes.append(f"{missing} samples are missing")
    told = list(dict.fromkeys(row.cause for row in without if row.cause))
    causes += told[:_CAUSES_SHOWN]
    if len(told) > _CAUSES_SHOWN:
        causes.append(f"and {len(told) - _CAUSES_SHOWN} more causes; see the cells")
    if ending.left:
        causes.append(f"left behind: {'; '.join(ending.left)}")
    return "; ".join(causes)
