"""Schedules: the thread and the start time of each job."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Final, TypeVar

from bucketsum.memory import MEMORY_MB_PER_CPU
from bucketsum_lab.workloads.transfer.model import Pattern, PatternName

T = TypeVar("T")

STARTS_PER_SECOND: Final = 20
"""Of ``staccato`` without a number."""

_SEED: Final = 3


def threads_of(pattern: Pattern, jobs: int, vcpus: int) -> int:
    """Maximum number of threads that work at once."""
    if pattern.name == PatternName.SERIAL:
        return 1
    if pattern.name == PatternName.LIMITED:
        return min(pattern.number or vcpus, jobs)
    return jobs


def vcpus_of(memory_mb: int) -> int:
    """The vCPUs of a function with this memory or, outside Lambda, of this machine."""
    if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
        return -(-memory_mb // MEMORY_MB_PER_CPU)
    return os.cpu_count() or 1


def run_all(
    pattern: Pattern, threads: int, jobs: int, run: Callable[[int, float | None], T]
) -> list[T]:
    """The results of ``run(job, intended)`` for each job from 0 on.

    *intended* is the `time.perf_counter` at which the pattern starts the job; None if it starts
    when a thread is free. The first failure ends those that have not started, and is raised when
    the others have ended.
    """
    if pattern.name == PatternName.SERIAL:
        return [run(job, None) for job in range(jobs)]
    if pattern.name in (PatternName.PARALLEL, PatternName.STACCATO):
        return _in_own_threads(_starts(pattern, jobs), run)
    with ThreadPoolExecutor(threads) as pool:
        try:
            return list(pool.map(lambda job: run(job, None), range(jobs)))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def span_seconds(pattern: Pattern, jobs: int) -> float:
    """Seconds over which the starts are spread."""
    if pattern.name != PatternName.STACCATO:
        return 0.0
    return jobs / (pattern.number or STARTS_PER_SECOND)


def _starts(pattern: Pattern, jobs: int) -> list[float]:
    """Seconds from the beginning to each start, the same in every sample."""
    span = span_seconds(pattern, jobs)
    generator = random.Random(_SEED)  # noqa: S311 - not a secret
    return sorted(generator.uniform(0, span) for _ in range(jobs))


def _in_own_threads(starts: Iterable[float], run: Callable[[int, float | None], T]) -> list[T]:
    began = time.perf_counter()
    results: list[Future[T]] = []
    with ExitStack() as threads:
        for job, start in enumerate(starts):
            time.sleep(max(0.0, began + start - time.perf_counter()))
            if any(result.done() and result.exception() for result in results):
                break
            thread = threads.enter_context(ThreadPoolExecutor(1))
            results.append(thread.submit(run, job, began + start if start else None))
            thread.shutdown(wait=False)  # it ends with its job
    return [result.result() for result in results]
