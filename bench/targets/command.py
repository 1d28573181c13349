"""Targets for the whole system, on a local emulator: ``python -m bench targets``."""

import json
import os
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from bench.sandbox.objects import BUCKET, make_object
from bench.sandbox.server import PROJECT
from bench.tables import options
from bench.tables.document import write_tables
from bench.tables.machine import machine
from bench.tables.process import peak_of
from bench.tables.table import Table, show
from bucketsum.table.rows import RowKey
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.local.deployment import bring_up, locked, stop
from bucketsum_cli.emulator import emulator_state
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.machine.cgroups import kills_of
from bucketsum_cli.objects.files import files_under
from bucketsum_cli.objects.upload import put_files, wait_for_rows
from bucketsum_cli.terminal import output

DOCUMENT: Final = PROJECT / "bench" / "measured" / "function.md"
_HOME: Final = "bench-stack"

PUTS: Final = 50
_WARM_UP_PUTS: Final = 10
_PUT_BYTES: Final = 1000
_PAUSE_SECONDS: Final = 0.002

OBJECTS: Final = 1000
_OBJECT_BYTES: Final = 10_000
_BURST_SECONDS: Final = 300

LARGE_BYTES: Final = 2_000_000_000
LARGE_MEMORY_MB: Final = 128
_LARGE_SECONDS: Final = 900


@dataclass(frozen=True, slots=True)
class TargetResult:
    """A measured value, its target, and its spread and circumstances."""

    name: str
    value: float
    unit: str
    target: float
    detail: str

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.value <= self.target


def row_latency(stack: Stack) -> TargetResult:
    """Time from the start of a small PUT until its row is written; one PUT after the other."""
    s3, table = stack.client("s3"), stack.digests_table()
    times_ms = []
    for number in range(_WARM_UP_PUTS + PUTS):
        key = f"bench/latency/{number}"
        started = time.perf_counter()
        put = s3.put_object(Bucket=stack.bucket, Key=key, Body=os.urandom(_PUT_BYTES))
        while table.row_at(RowKey(stack.bucket, key, put["VersionId"])) is None:
            time.sleep(_PAUSE_SECONDS)
        times_ms.append((time.perf_counter() - started) * 1000)
    warm = sorted(times_ms[_WARM_UP_PUTS:])
    return TargetResult(
        name=f"time from a {_PUT_BYTES // 1000} kB PUT to its DigestsTable row, median of {PUTS}",
        value=statistics.median(warm),
        unit="ms",
        target=150,
        detail=f"min {warm[0]:.0f}, p90 {warm[int(PUTS * 0.9)]:.0f}, max {warm[-1]:.0f} ms",
    )


def burst(stack: Stack) -> TargetResult:
    """Many small objects, as fast as the local emulator accepts them, until the last row.

    Raises:
        RuntimeError: A row is missing.
    """
    with TemporaryDirectory() as folder:
        for number in range(OBJECTS):
            data = number.to_bytes(8, "big") * (_OBJECT_BYTES // 8)
            Path(folder, f"{number:04}").write_bytes(data)
        files = files_under([Path(folder)], "bench/burst/").files
        started = time.perf_counter()
        uploads, _ = put_files(stack, files)
        sent = time.perf_counter() - started
        rows = dict(wait_for_rows(stack.digests_table(), uploads, _BURST_SECONDS))
        seconds = time.perf_counter() - started
    if len(rows) != OBJECTS:
        raise RuntimeError(f"{len(rows)} of {OBJECTS} rows after {_BURST_SECONDS} s")
    return TargetResult(
        name=f"{OBJECTS:,} objects of {_OBJECT_BYTES // 1000} kB, all recorded",
        value=seconds,
        unit="s",
        target=60,
        detail=f"last PUT after {sent:.1f} s",
    )


def peak_memory(project: LocalProject, stack: Stack) -> TargetResult:
    """Peak resident memory of the worker that hashes a large object, from the kernel.

    Raises:
        RuntimeError: Control groups are not writable here, or the recorded digest is wrong or
            missing.
    """
    with TemporaryDirectory(dir=project.home) as folder:
        known = make_object(Path(folder), LARGE_BYTES)
        files = files_under([Path(folder, BUCKET, known.key)], "bench/").files
        uploads, _ = put_files(stack, files)
        rows = dict(wait_for_rows(stack.digests_table(), uploads, _LARGE_SECONDS))
    recorded = [row.sha1 for row in rows.values()]
    if recorded != [known.sha1]:
        raise RuntimeError(f"recorded {recorded} for an object with SHA-1 {known.sha1}")
    (row,) = rows.values()
    groups = _memory_groups(project)
    kills = sum(map(kills_of, groups))
    pids = (pid for group in groups for pid in (group / "cgroup.procs").read_text().split())
    return TargetResult(
        name=f"peak memory of a {LARGE_MEMORY_MB} MB function hashing 2 GB",
        value=max(map(peak_of, pids)) / 1e6,
        unit="MB",
        target=100,
        detail=f"{row.mb_per_s:.0f} MB/s, out of memory {kills} times",
    )


def _memory_groups(project: LocalProject) -> list[Path]:
    roots = json.loads((project.home / "worker.json").read_text())["cgroup_roots"]
    if roots is None:
        raise RuntimeError(
            "control groups are not writable, so memory cannot be limited to 128 MB; run as root, "
            "or with cgroup v2 delegated to this user"
        )
    return [group for group in Path(roots["memory"]).iterdir() if group.is_dir()]


@click.command()
@options.write_docs("bench/measured/function.md")
def targets(*, write_docs: bool) -> None:
    """Compare speed and memory of the whole system with its targets.

    Runs on a separate local emulator in .bucketsum/bench-stack; that of `bucketsum local up` is not
    touched. Exits with 1 if a target is missed.
    """
    project = emulator_state.local_project().separate(_HOME)
    results = []
    with locked(project):
        stop(project)  # of a run that was killed
        try:
            for result in measurements(project):
                output.note(f"{result.name}: {result.value:.1f} {result.unit}")
                results.append(result)
        finally:
            stop(project)
    show([table(results)], machine=machine())
    if write_docs:
        write_tables(DOCUMENT, [table(results)])
    sys.exit(0 if all(result.met for result in results) else 1)


def measurements(project: LocalProject) -> Iterator[TargetResult]:
    """Measure one target after the other, and yield each result."""
    stack = bring_up(project, {})
    yield row_latency(stack)
    yield burst(stack)
    yield peak_memory(project, bring_up(project, {"MemorySize": str(LARGE_MEMORY_MB)}))


def table(results: Iterable[TargetResult]) -> Table:
    """One row per target."""
    rows = (
        (result.name, f"{result.value:.1f} {result.unit}", f"{result.target:g} {result.unit}",
         "met" if result.met else "missed", result.detail)
        for result in results
    )  # fmt: skip
    return Table("targets", ("measured", "value", "target", "result", "detail"), tuple(rows))
