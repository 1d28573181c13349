"""Workload ``records``: random reads of small records, in several storage layouts."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Final

from bucketsum_lab.errors import BadSweep, FieldPlace

# What only a probe or a generated data set needs is imported there.
# ruff: noqa: PLC0415
from bucketsum_lab.protocol.objects import DataFile, Generated, PlannedObject, whole_in
from bucketsum_lab.protocol.page_cache import PAGE_CACHE
from bucketsum_lab.protocol.parameters import Parameter, Setting, Value, Variant
from bucketsum_lab.protocol.probe import ProbeAnswer, ProbeContext, ProbeEvent
from bucketsum_lab.protocol.run_records import WorkloadStatistics
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.protocol.workload import DataSetWorkload
from bucketsum_lab.workloads.records.layouts import (
    GAPS,
    IN_PARTITIONS,
    INDEX_NAME,
    ITEMS_PART,
    KIB,
    MIB,
    OBJECT_COUNTS,
    ON_DISK,
    RECORDS_TABLE,
    SAMPLED_RECORDS,
    WITH_BLOCKS,
    WITH_INDEX,
    WITHOUT_CONNECTIONS,
    RecordLayout,
    part_of,
    record_name,
)

SIZE_BYTES_MIN: Final = 100_000
SIZE_BYTES_MAX: Final = 500_000_000
"""The planner sorts the ids of all records in its memory."""
DEFAULT_SIZE_BYTES: Final = 240_560_000
"""2,480,000 records of 97 bytes, as in Fernandez and Turner (2023)."""

LAYOUT: Final = Parameter(
    "layout", tuple(RecordLayout), meaning="layout of the data ({}); mongodb not on Lambda"
)
READS: Final = Parameter(
    "reads", range(1, 5_000_001), "{:,} reads", default=1000, meaning="records to read ({})"
)
CONNECTIONS: Final = Parameter(
    "connections", range(1, 257), "{} connections", default=16, meaning="concurrent requests ({})"
)
BLOCK_BYTES: Final = Parameter(
    "block_bytes",
    range(512, MIB + 1),
    "blocks of {:,} B",
    default=4 * KIB,
    meaning="size of a block ({})",
)
GAP_BYTES: Final = Parameter(
    "gap_bytes",
    GAPS,
    "gap {}",
    meaning="merge two ranges if the gap between them is at most this ({}); `measured`: computed "
    "from the latency and the bandwidth that the prober measures",
)
OBJECTS: Final = Parameter(
    "objects",
    OBJECT_COUNTS,
    "{:,} objects",
    default=1_000,
    meaning="number of objects that a partitioned layout has ({})",
)

_RECORDS: Final = "records"
"""Metadata of a data set: the number of its records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsStatistics(WorkloadStatistics):
    """Medians of the samples, scaled to the reads of the setting."""

    records: float
    records_read: float
    build_seconds: float
    build_cpu_seconds: float
    index_seconds: float
    index_cpu_seconds: float
    fetch_seconds: float
    fetch_cpu_seconds: float
    total_seconds: float
    predicted_seconds: float
    records_per_s: float
    record_time: str
    """``each`` or ``amortised``: how the percentiles were measured."""
    record_p50_ms: float
    record_p90_ms: float
    record_p99_ms: float
    requests: float
    """Without `retries`."""
    retries: float
    bytes_read: float
    """From the network."""
    read_factor: float
    """`bytes_read` ÷ the bytes of the records wanted."""
    request_usd: float
    build_usd: float
    storage_factor: float
    """Bytes of the layout ÷ the bytes of the records."""
    latency_ms: float
    link_mb_per_s: float
    merged_gap_bytes: float | None = None
    database_server: str | None = None
    """Program and version, if the user chose the server."""


class RecordsWorkload(DataSetWorkload):
    """Fetch records at random.

    A data set is the records one after the other, with an index beside them.
    """

    name = "records"
    task = "reading records"
    parameters = (LAYOUT, READS, CONNECTIONS, BLOCK_BYTES, GAP_BYTES, OBJECTS, PAGE_CACHE)
    chunk_bytes = MIB
    object_bytes = range(SIZE_BYTES_MIN, SIZE_BYTES_MAX + 1)
    default_object_bytes = DEFAULT_SIZE_BYTES
    object_name = "objects/{size_bytes}-records.txt"
    sample_names = tuple(field.name for field in fields(RecordsStatistics))
    statistics_type = RecordsStatistics
    folded_first = "gap_bytes"
    undeployable = "the hasher reads no records"

    def effective(self, variant: Variant) -> Variant:
        """Remove the parameters that the layout does not have."""
        layout = dict(variant)[LAYOUT]
        without = {
            CONNECTIONS: layout in WITHOUT_CONNECTIONS,
            BLOCK_BYTES: layout not in WITH_BLOCKS,
            GAP_BYTES: layout != RecordLayout.COALESCED,
            OBJECTS: layout not in IN_PARTITIONS,
            PAGE_CACHE: layout not in ON_DISK,
        }
        return tuple(pair for pair in variant if not without.get(pair[0]))

    def seconds(self, setting: Setting, size_bytes: int) -> float:
        """The model's time with AWS's usual latency and bandwidth."""
        from bucketsum_lab.workloads.records.prediction import probe_seconds

        return probe_seconds(setting.own, size_bytes, setting.memory_mb)

    def uses_disk(self, setting: Setting) -> bool:
        """Whether the layout is on /tmp."""
        return setting.own["layout"] in ON_DISK

    def refusal(self, setting: Setting, planned: PlannedObject, storage_mb: int) -> str | None:
        """Too few records, or too little disk or memory."""
        from bucketsum_lab.workloads.records.needs import refusal

        return refusal(setting.own, planned.size_bytes, setting.memory_mb, storage_mb)

    def generate(self, size_bytes: int) -> Generated:
        """All records, one after the other."""
        from bucketsum_lab.workloads.records.data_set import DataSet

        data_set = DataSet(size_bytes)
        return Generated(data_set.chunks, {_RECORDS: str(data_set.records)})

    def files(self, size_bytes: int) -> Iterator[DataFile]:
        """The index, and samples: of the records, and of the objects of each partition."""
        from bucketsum_lab.workloads.records.data_set import DataSet, id_in
        from bucketsum_lab.workloads.records.index import ENTRY_BYTES, index_bytes
        from bucketsum_lab.workloads.records.partition import partitions

        data_set = DataSet(size_bytes)
        index_size = data_set.records * ENTRY_BYTES
        yield DataFile(INDEX_NAME, index_size, lambda: [index_bytes(data_set)])
        for record in data_set.sample(SAMPLED_RECORDS):
            yield DataFile(record_name(id_in(record)), len(record), partial(list, [record]))
        for partition in partitions(data_set):
            yield from partition.files()

    def parts(self, settings: Iterable[Setting]) -> tuple[str, ...]:
        """The index, samples of records, and the partitions that *settings* read."""
        read = [
            (RecordLayout(str(own["layout"])), int(own.get("objects", 1)))
            for own in (setting.own for setting in settings)
        ]
        index = [INDEX_NAME for layout, _ in read if layout in WITH_INDEX]
        others = (part_of(layout, objects) for layout, objects in read)
        return tuple(dict.fromkeys([*index, *filter(None, others)]))

    def prepare(self, size_bytes: int, parts: Collection[str]) -> None:
        """Write the sampled records to the table of `RECORDS_TABLE`, if there is one."""
        if ITEMS_PART in parts and RECORDS_TABLE in os.environ:
            from bucketsum_lab.workloads.records.data_set import DataSet
            from bucketsum_lab.workloads.records.items import record_items

            record_items().write_records(DataSet(size_bytes).sample(SAMPLED_RECORDS))

    def contents(self, key: str, metadata: Mapping[str, str]) -> Mapping[str, Value]:
        """The number of records.

        Raises:
            BadSweep: It is not the main object of a generated data set.
        """
        records = whole_in(metadata, _RECORDS)
        if not records:
            raise BadSweep(
                f"{key!r} has {_RECORDS}={metadata.get(_RECORDS, '')!r} in its metadata; the "
                "workload records reads data sets that a sweep generated: give ",
                FieldPlace("object_bytes"),
                " instead of ",
                FieldPlace("keys"),
            )
        return {_RECORDS: records}

    def probe(self, event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
        """Build, load, fetch and verify."""
        from bucketsum_lab.workloads.records.probe import probe

        return probe(event, context)

    def statistics(self, samples: Sequence[Sample]) -> RecordsStatistics | None:
        """The median of each number; a text is the same in all samples."""
        return RecordsStatistics.of_values(self.own_medians(samples))
