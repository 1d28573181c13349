"""Made-up runs: samples by a formula, everything else by the product's own analysis."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final

from tests.support.sweeps import changed, unzip_variant

from bucketsum.prices import prices_in
from bucketsum.table.archive_settings import Engine, Mode
from bucketsum_cli.tune.results import Results, assembled
from bucketsum_lab.plan.input import Strategy
from bucketsum_lab.plan.input_fields import StrategyName
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.run_records import CellRow, Run, RunStatus
from bucketsum_lab.protocol.samples import (
    Billing,
    DigestCheck,
    ProberProcess,
    Reading,
    Sample,
    SampleFailure,
    SampleStatus,
)
from bucketsum_lab.results.analysis import cell_rows
from bucketsum_lab.results.recommend import improvement, recommend
from bucketsum_lab.results.recommendation import document_of
from bucketsum_lab.workloads import workload_of

MIB: Final = 1024 * 1024
HUNDRED_MB: Final = 100_000_000

PRICES: Final = prices_in("us-east-1", "arm64")

_ENDED: Final = "2026-11-21T04:18:31.000Z"


def a_run(run_id: str = "20261121T041500-abcdef", **changes: Any) -> Run:  # noqa: ANN401
    """A run that succeeded on AWS, with *changes*."""
    fields: dict[str, Any] = {
        "run_id": run_id,
        "status": RunStatus.SUCCEEDED,
        "started_at": "2026-11-21T04:15:00.123Z",
        "ended_at": _ENDED,
        "region": "us-east-1",
        "architecture": "arm64",
        "runtime": "python3.13",
        "label": "aws",
        "repetitions": 5,
        "few_samples": False,
        "price_date": "2026-11-01",
        "input": {"object_bytes": [HUNDRED_MB], "strategy": {"name": "balanced"}},
    }
    return Run(**(fields | changes))


def a_cell(
    memory_mb: int,
    chunk_bytes: int,
    object_bytes: int = HUNDRED_MB,
    key: str | None = None,
    concurrency: int = 1,
    streams: int | str = 1,
) -> CellRow:
    """A cell without statistics."""
    return CellRow(
        cell_id=f"m{memory_mb:05d}-c{chunk_bytes:09d}-s{streams:0>2}-k{concurrency:02d}"
        f"-o{object_bytes:012d}" + ("" if key is None else "n0"),
        setting=Setting(memory_mb, chunk_bytes, streams),
        concurrency=concurrency,
        object_bytes=object_bytes,
        key=key or f"objects/{object_bytes}.bin",
    )


def seconds_of(cell: CellRow, noise: float = 1.0) -> float:
    """Read time with Lambda's CPU share and network bandwidth."""
    mb_per_s = min(75.0, 300 * cell.setting.memory_mb / 1769) * (
        1 - cell.setting.chunk_bytes / 150_000_000
    )
    return round(cell.object_bytes / 1e6 / mb_per_s * noise, 6)


def good_samples(cell: CellRow, runs: int = 5, *, cold: bool = False) -> list[Sample]:
    """*runs* good samples of *cell*, the first cold if *cold* is set."""
    draw = random.Random(cell.cell_id)  # noqa: S311 - the same every time
    return [
        a_sample(cell, run, invocation, draw.uniform(0.95, 1.08), cold=cold and run == 1)
        for run, invocation in product(range(1, runs + 1), range(1, cell.concurrency + 1))
    ]


def a_sample(
    cell: CellRow, run: int, invocation: int, noise: float = 1.0, *, cold: bool = False
) -> Sample:
    """A good one."""
    seconds = seconds_of(cell, noise)
    return Sample(
        cell_id=cell.cell_id,
        repetition=run,
        invocation=invocation,
        status=SampleStatus.OK,
        at=_ENDED,
        reading=Reading(
            size_bytes=cell.object_bytes,
            seconds=seconds,
            mb_per_s=cell.object_bytes / 1e6 / seconds,
            cpu_seconds=seconds / 2,
            max_rss_bytes=80_000_000 + 2 * cell.setting.chunk_bytes,
        ),
        billing=Billing(cold, int(seconds * 1000) + 12, init_ms=400 if cold else None),
        check=DigestCheck(digest_ok=True, sha1="a" * 40),
        process=ProberProcess(
            memory_mb=cell.setting.memory_mb,
            boto3="1.43.0",
            layer="0.1.0",
            runtime="3.13.1",
            architecture="aarch64",
        ),
    )


def seconds_in(sample: Sample) -> float:
    """The seconds of a good sample."""
    assert sample.reading
    return sample.reading.seconds


def failed_samples(cell: CellRow, cause: str | None, runs: int = 5) -> list[Sample]:
    """*runs* of *cell* that all failed."""
    return [
        Sample(
            cell_id=cell.cell_id,
            repetition=run,
            invocation=1,
            status=SampleStatus.FAILED,
            at=_ENDED,
            failure=SampleFailure("Sandbox.Timedout", cause),
        )
        for run in range(1, runs + 1)
    ]


def analysed(
    cells: Iterable[CellRow],
    samples: Sequence[Sample],
    run: Run | None = None,
    strategy: Strategy | None = None,
) -> tuple[Run, list[CellRow], list[Sample]]:
    """The run, cells and samples as the table has them after the analysis."""
    kept = run or a_run()
    workload = workload_of(kept.input.get("workload", "hash"))
    rows = cell_rows(cells, samples, PRICES, workload)
    strategy = strategy or Strategy(StrategyName.BALANCED)
    choice = recommend(rows, strategy, PRICES, workload)
    gain = improvement(kept, choice.best, rows, samples, PRICES, workload)
    summary = {
        "recommendation": document_of(choice),
        "deployed": document_of(gain) if gain else None,
    }
    fields = {name: getattr(kept, name) for name in kept.__slots__}
    whole = fields | {
        "summary": summary,
        "cells": len(rows),
        "samples": len(samples),
        "samples_ok": sum(sample.status is SampleStatus.OK for sample in samples),
        "samples_failed": sum(sample.status is SampleStatus.FAILED for sample in samples),
    }
    return Run(**whole), rows, list(samples)


def a_grid(
    memories: Sequence[int] = (128, 256, 512, 1024, 1769),
    chunks: Sequence[int] = (MIB, 10_000_000, 20_000_000),
    objects: Sequence[int] = (HUNDRED_MB,),
) -> tuple[list[CellRow], list[Sample]]:
    """Cells and their samples; each cell's first is cold."""
    cells = [a_cell(*setting) for setting in product(memories, chunks, objects)]
    return cells, [sample for cell in cells for sample in good_samples(cell, 6, cold=True)]


def results(cells: Iterable[CellRow], samples: Sequence[Sample], run: Run | None = None) -> Results:
    """The same, put together for reading."""
    return assembled(*analysed(cells, samples, run))


def unzip_grid(
    memories: Sequence[int] = (512, 1769, 3538),
    ways: Sequence[tuple[str, str]] = tuple(product(Mode, Engine)),
    objects: Sequence[int] = (HUNDRED_MB,),
) -> tuple[list[CellRow], list[Sample]]:
    """Cells that unzip, and their samples: zlib and disks are slower."""
    cells = [
        replace(
            a_cell(memory_mb, 262_144, size),
            cell_id=f"{memory_mb}-{mode}-{inflate}-{size}",
            setting=Setting(memory_mb, 262_144, 1, unzip_variant(mode, inflate)),
            storage_mb=512 if mode == "stream" else 1024,
            workload="unzip",
        )
        for memory_mb, (mode, inflate), size in product(memories, ways, objects)
    ]
    return cells, [_unzipped(sample) for cell in cells for sample in good_samples(cell)]


def _unzipped(sample: Sample) -> Sample:
    _, mode, inflate, _ = sample.cell_id.split("-")
    slower = {"stream": 1.0, "discard": 1.1, "tmp": 1.5}[mode] * {"isal": 1.0, "zlib": 1.6}[inflate]
    seconds = seconds_in(sample) * slower
    return changed(
        sample, seconds=seconds, billed_ms=int(seconds * 1000) + 12, mode=mode, inflate=inflate,
        members=165, directories=129, member_bytes=3 * HUNDRED_MB,
    )  # fmt: skip


UNZIP_INPUT: Final = {"workload": "unzip", "object_bytes": [HUNDRED_MB]}


def grid_results() -> Results:
    """A grid in which one cell failed and two are missing: nothing is measured of them."""
    cells, samples = a_grid()
    lost, kept = cells[2], [cells[5], cells[8]]
    cells = [cell for cell in cells if cell not in kept]
    names = {cell.cell_id for cell in cells} - {lost.cell_id}
    samples = [sample for sample in samples if sample.cell_id in names]
    samples += failed_samples(lost, "Task timed out after 900.00 seconds")
    return results(cells, samples)
