"""Workload ``fetch``: archives that are downloaded first, just in time, or without a disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bucketsum.digest import digest_of
from bucketsum.errors import BadSettings
from bucketsum.memory import MEMORY_MB_PER_CPU
from bucketsum.table.stored_fields import names_of
from bucketsum_lab.errors import BadSweep

# What only a probe or a generated data set needs is imported there, as in unzip.
# ruff: noqa: PLC0415
from bucketsum_lab.protocol.measuring import Meter, children_cpu_seconds
from bucketsum_lab.protocol.objects import (
    DataFile,
    Generated,
    PlannedObject,
    disk_refusal,
    file_key,
)
from bucketsum_lab.protocol.page_cache import PAGE_CACHE, PageCache
from bucketsum_lab.protocol.parameters import Parameter, Setting, Variant
from bucketsum_lab.protocol.probe import ProbeAnswer, ProbeContext, ProbeEvent, answer_of, failed
from bucketsum_lab.protocol.run_records import WorkloadStatistics
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.protocol.workload import DataSetWorkload, read_seconds
from bucketsum_lab.workloads.fetch.model import ArchiveWork, ItemFailed, Schedule

SET_BYTES_MIN: Final = 16_000_000
"""The smallest of its archives then has 300 kB, in which 165 files find room."""
SET_BYTES_MAX: Final = 2_000_000_000
"""As an archive of the workload unzip: the planner has 900 s to generate them."""

SCHEDULE: Final = Parameter(
    "schedule",
    tuple(Schedule),
    meaning="how downloads and work are combined ({}); shell not on Lambda",
)
WORK: Final = Parameter("work", tuple(ArchiveWork))
WORKERS: Final = Parameter("workers", range(1, 17), "workers {}", meaning="number of threads ({})")

_MB_PER_VCPU_SECOND: Final = 150
"""As the workload unzip, streaming."""
_IN_TURN: Final = (Schedule.ALL_FIRST, Schedule.SHELL)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchStatistics(WorkloadStatistics):
    """Medians of the samples; without a disk there is one stage."""

    items: int
    fetch_ms: int | None = None
    """Time in which archives were fetched."""
    work_ms: int
    """Time in which each worker was busy, on average."""
    fetch_idle_ms: int | None = None
    """The rest of the wall time of fetching."""
    work_idle_ms: int
    sum_ms: int | None = None
    """The model of one stage after the other."""
    max_ms: int | None = None
    """The model in which only the longer stage counts."""
    disk_peak_bytes: int | None = None
    disk_read_bytes: int | None = None
    disk_written_bytes: int | None = None
    cached_bytes: int | None = None
    """Bytes that were in the page cache when the work on them began."""


class FetchWorkload(DataSetWorkload):
    """Fetch and process archives.

    The manifest of a data set has the known results of its archives.
    """

    name = "fetch"
    task = "processing archives"
    parameters = (SCHEDULE, WORK, WORKERS, PAGE_CACHE)
    object_bytes = range(SET_BYTES_MIN, SET_BYTES_MAX + 1)
    object_name = "objects/fetch-{size_bytes}.json"
    sample_names = tuple(
        name for name in names_of(FetchStatistics) if name not in ("sum_ms", "max_ms")
    )
    statistics_type = FetchStatistics
    folded_first = "chunk_bytes"
    undeployable = "the hasher fetches no data sets, so no schedule can be deployed"

    def seconds(self, setting: Setting, size_bytes: int) -> float:
        """The slower of network and CPU; their sum if everything is fetched first."""
        own = setting.own
        vcpus = min(setting.memory_mb / MEMORY_MB_PER_CPU, float(own["workers"]))
        return read_seconds(
            size_bytes, _MB_PER_VCPU_SECOND * vcpus, in_turn=own["schedule"] in _IN_TURN
        )

    def effective(self, variant: Variant) -> Variant:
        """Remove `PAGE_CACHE` if the schedule uses no disk."""
        has_disk = dict(variant)[SCHEDULE] != Schedule.STREAM
        return tuple(pair for pair in variant if has_disk or pair[0] is not PAGE_CACHE)

    def uses_disk(self, setting: Setting) -> bool:
        """Every schedule except `stream` writes archives to /tmp."""
        return setting.own["schedule"] != Schedule.STREAM

    def refusal(self, setting: Setting, planned: PlannedObject, storage_mb: int) -> str | None:
        """Reason if all archives must be on the disk at once, but do not fit."""
        schedule = setting.own["schedule"]
        if schedule not in _IN_TURN:
            return None
        reason = f"schedule is {schedule}, not a queue; a data set of {planned.size_bytes} bytes"
        return disk_refusal(reason, planned.size_bytes, storage_mb)

    def generate(self, size_bytes: int) -> Generated:
        """The manifest of the data set."""
        from bucketsum_lab.workloads.fetch.data_set import archives_of, item_of, manifest_of

        manifest = manifest_of([item_of(*archive) for archive in archives_of(size_bytes)])
        return Generated(lambda: [manifest])

    def files(self, size_bytes: int) -> Iterator[DataFile]:
        """The archives of the data set."""
        from bucketsum_lab.workloads.fetch.data_set import archive_of, archives_of

        for name, archive_bytes in archives_of(size_bytes):
            yield DataFile(name, archive_bytes, archive_of(archive_bytes).chunks)

    def probe(self, event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
        """Read the manifest, then fetch and process its archives, and check every result."""
        from bucketsum_lab.workloads.fetch.data_set import items_in
        from bucketsum_lab.workloads.fetch.schedules import ScheduleRun
        from bucketsum_lab.workloads.fetch.stages import S3Items

        manifest = context.s3.get_object(Bucket=event["bucket"], Key=event["key"])["Body"].read()
        try:
            items = items_in(manifest, event["size_bytes"])
        except BadSweep as error:
            return failed("BadManifest", f"{event['key']}: {error}")
        own = event["variant"]
        run = ScheduleRun(
            Schedule(str(own["schedule"])),
            ArchiveWork(str(own["work"])),
            int(own["workers"]),
            page_cache=PageCache(str(own.get("page_cache", PageCache.WARM))),
        )
        source = S3Items(context.s3, context.source, event["bucket"], file_key(event["key"], ""))
        children = children_cpu_seconds()
        meter = Meter()
        try:
            measured = run.measured(source, items)
        except ItemFailed as error:
            return failed(error.error, str(error))
        except BadSettings as error:  # this disk cannot; the next cell can
            return failed("CannotRun", str(error))
        answer = answer_of(
            event, replace(digest_of([manifest]), size_bytes=event["size_bytes"]), meter
        )
        if "cpu_seconds" in answer:
            answer["cpu_seconds"] = round(
                answer["cpu_seconds"] + children_cpu_seconds() - children, 6
            )
        return {**answer, **measured}

    def statistics(self, samples: Sequence[Sample]) -> FetchStatistics | None:
        """Medians, and their models: fetching plus processing, and the longer of the two."""
        medians = {
            name: round(value)
            for name, value in self.own_medians(samples).items()
            if not isinstance(value, str)
        }
        if "fetch_ms" in medians:
            sides = medians["fetch_ms"], medians["work_ms"]
            medians |= {"sum_ms": sum(sides), "max_ms": max(sides)}
        return FetchStatistics.of_values(medians)
