"""The probe of the workload ``records``: one layout, measured once."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from bucketsum.errors import BadSettings
from bucketsum.events.object_events import ObjectCreated
from bucketsum.measure import BYTES_PER_MB
from bucketsum.s3.chosen_reader import transport_config
from bucketsum.s3.curl_connections import Connections
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum_lab.protocol.measuring import Meter
from bucketsum_lab.protocol.page_cache import PageCache
from bucketsum_lab.protocol.parameters import Value
from bucketsum_lab.protocol.probe import (
    ProbeAnswer,
    ProbeContext,
    ProbeEvent,
    created_object,
    failed,
    measured_answer,
)
from bucketsum_lab.workloads.records.concurrent_gets import ConcurrentGets, Get
from bucketsum_lab.workloads.records.data_set import DataSet, queries
from bucketsum_lab.workloads.records.index import Span
from bucketsum_lab.workloads.records.items import DynamoReader
from bucketsum_lab.workloads.records.layouts import (
    MEASURED_GAP,
    RecordLayout,
    build_usd,
    read_usd,
)
from bucketsum_lab.workloads.records.measurement import measured
from bucketsum_lab.workloads.records.partition import Sampled
from bucketsum_lab.workloads.records.prediction import Link, Model
from bucketsum_lab.workloads.records.record_reader import ReadOptions, RecordReader, Store
from bucketsum_lab.workloads.records.s3_readers import (
    CoalescedReader,
    ObjectPerRecordReader,
    PartitionedRangeReader,
    PartitionedReader,
    RangeReader,
    WholeReader,
)
from bucketsum_lab.workloads.records.tmp_readers import BlockFileReader, SqliteReader

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


READERS: Final[dict[RecordLayout, type[RecordReader]]] = {
    RecordLayout.RANGE: RangeReader,
    RecordLayout.COALESCED: CoalescedReader,
    RecordLayout.WHOLE: WholeReader,
    RecordLayout.OBJECT_PER_RECORD: ObjectPerRecordReader,
    RecordLayout.PARTITIONED: PartitionedReader,
    RecordLayout.PARTITIONED_RANGE: PartitionedRangeReader,
    RecordLayout.TMP_BLOCK: BlockFileReader,
    RecordLayout.SQLITE_TMP: SqliteReader,
    RecordLayout.DYNAMODB: DynamoReader,
}
"""The command adds MongoDB's, whose driver Lambda does not have."""

_LATENCY_GETS: Final = 7
_BANDWIDTH_BYTES: Final = 8 * 1024 * 1024
_SHORTEST_SECONDS: Final = 1e-4
_FOLDER_PREFIX: Final = "bucketsum-records-"


def probe(event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
    """Measure latency and bandwidth, then one layout.

    Raises:
        WrongRecord: A record is wrong, or missing.
        BucketsumError: S3 cannot be read.
    """
    own = event["variant"]
    with tempfile.TemporaryDirectory(prefix=_FOLDER_PREFIX) as folder:
        try:
            store = _store(event, context)
            started = time.perf_counter()
            link = _measured_link(store.gets, store.created)
            excluded_seconds = time.perf_counter() - started
            answer = _answer(
                own, store, link, _options(own, link, Path(folder)), context.policy.memory_mb
            )
        except BadSettings as error:  # this layer cannot; the next cell can
            return failed("CannotRun", f"layout is {own['layout']}: {error}")
        except (OSError, sqlite3.Error) as error:
            return failed("NotStored", f"{own['layout']}: {error}")
    answer["excluded_ms"] = int(excluded_seconds * 1000)
    return answer


def _measured_link(gets: ConcurrentGets, created: ObjectCreated) -> Link:
    """Measure with GETs of single bytes, and one of at most 8 MiB, of *created*."""
    size_bytes = created.size_bytes
    singles = [
        Get(created, Span(place, place + 1))
        for place in (number * size_bytes // (_LATENCY_GETS + 1) for number in range(_LATENCY_GETS))
    ]
    first, *others = [received.seconds for received in gets.responses(singles, 1)]
    latency = median(others or [first])  # the first may have connected
    length = min(size_bytes, _BANDWIDTH_BYTES)
    (received,) = gets.responses([Get(created, Span(0, length))], 1)
    return Link(latency, length / max(received.seconds - latency, _SHORTEST_SECONDS))


def _answer(
    own: Mapping[str, Value], store: Store, link: Link, options: ReadOptions, memory_mb: int
) -> ProbeAnswer:
    layout, reads = RecordLayout(str(own["layout"])), int(own["reads"])
    sampled = Sampled.of(layout, DataSet(store.size_bytes), options.objects, reads)
    if layout not in READERS:
        raise BadSettings("Lambda cannot read it; measure it with --here")
    reader = READERS[layout](store, options)
    retried = store.gets.retried
    meter = Meter()
    own_values = measured(reader, queries(sampled.reads, sampled.records), reads)
    answer = {
        **measured_answer(meter.stop(reader.bytes_read), meter),
        **own_values,
        "records": store.records,
        "request_usd": read_usd(layout, int(own_values["requests"]), reads),
        "storage_factor": round(reader.stored_bytes / store.size_bytes, 4),
        "build_usd": build_usd(layout, store.records, store.size_bytes, options.objects),
        "retries": store.gets.retried - retried,
        "latency_ms": round(link.latency_seconds * 1000, 6),
        "link_mb_per_s": round(link.bytes_per_second / BYTES_PER_MB, 3),
    }
    if layout == RecordLayout.COALESCED:
        answer["merged_gap_bytes"] = options.gap_bytes
    if reader.database_server:
        answer["database_server"] = reader.database_server
    model = Model(
        link, options.connections, memory_mb, store.size_bytes, store.records, options.objects
    )
    predicted = model.seconds(layout, reads, options.block_bytes, options.gap_bytes)
    answer["predicted_seconds"] = round(predicted, 6)
    return answer


def _options(own: Mapping[str, Value], link: Link, folder: Path) -> ReadOptions:
    connections = int(own.get("connections", 1))
    gap = own.get("gap_bytes", MEASURED_GAP)
    return ReadOptions(
        connections,
        block_bytes=int(own.get("block_bytes", 0)),
        gap_bytes=link.break_even_gap(connections) if gap == MEASURED_GAP else int(gap),
        objects=int(own.get("objects", 1)),
        folder=folder,
        page_cache=PageCache(str(own.get("page_cache", PageCache.WARM))),
    )


def _store(event: ProbeEvent, context: ProbeContext) -> Store:
    """The data set of *event*."""
    created = created_object(event)
    gets = _concurrent_gets(context.s3)
    contents = event["contents"] or {}
    return Store(
        created=created,
        records=int(contents["records"]),
        gets=gets,
        download=lambda: context.source.open(created).chunks,
        download_requests=context.policy.plan_for(created.size_bytes).requests(created.size_bytes),
    )


@cache
def _concurrent_gets(s3: S3Client) -> ConcurrentGets:
    """The client whose connections stay open for the next probe."""
    connections = Connections(transport_config(s3.meta.endpoint_url, os.environ))
    return ConcurrentGets(connections, SignedRequests.of_client(s3))
