"""The workload records over real connections: each layout, and everything that can go wrong."""

import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pymongo
import pytest
from mypy_boto3_s3 import S3Client
from pymongo.collection import Collection
from tests.integration.hasher.reading import s3_client
from tests.support.s3_faults import THROTTLED, Fault
from tests.support.s3_server import HostileS3, hostile_s3

from bucketsum.errors import SourceUnavailable
from bucketsum.s3 import source
from bucketsum_cli.tune.workloads.records import mongo_reader
from bucketsum_lab.measure.prober import Prober
from bucketsum_lab.protocol import page_cache
from bucketsum_lab.protocol.objects import file_key
from bucketsum_lab.protocol.probe import ProbeAnswer, ProbeEvent
from bucketsum_lab.results.record_values import SAMPLE_VALUES
from bucketsum_lab.workloads.records import partition, tmp_readers
from bucketsum_lab.workloads.records.data_set import DataSet, WrongRecord, verify
from bucketsum_lab.workloads.records.index import ENTRY_BYTES
from bucketsum_lab.workloads.records.layouts import (
    INDEX_NAME,
    ON_DISK,
    RECORDS_MONGODB,
    RECORDS_TABLE,
    SAMPLED_RECORDS,
    RecordLayout,
)
from bucketsum_lab.workloads.records.probe import READERS
from bucketsum_lab.workloads.records.workload import RecordsWorkload

SIZE_BYTES: Final = 200_000
DATA_SET: Final = DataSet(SIZE_BYTES)
KEY: Final = RecordsWorkload.object_name.format(size_bytes=SIZE_BYTES)
LATENCY_GETS: Final = 8
"""Requests that measure latency and bandwidth."""


@pytest.fixture(autouse=True)
def mongodb(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader that the command adds on a machine."""
    monkeypatch.setitem(READERS, RecordLayout.MONGODB, mongo_reader.MongoReader)


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileS3]:
    """An S3 with the data set, without pauses between attempts."""
    monkeypatch.setattr(source, "_LONGEST_PAUSE_SECONDS", 0)
    with hostile_s3() as server:
        for key, content in _objects().items():
            server.put(f"bucket/{key}", content)
        yield server


@cache
def _objects() -> dict[str, bytes]:
    workload = RecordsWorkload()
    objects = {file_key(KEY, file.name): file.chunks() for file in workload.files(SIZE_BYTES)}
    objects[KEY] = workload.generate(SIZE_BYTES).chunks()
    return {key: b"".join(chunks) for key, chunks in objects.items()}


@pytest.fixture
def s3(hostile: HostileS3) -> Iterator[S3Client]:
    """A client of it."""
    with s3_client(hostile.endpoint_url) as client:
        yield client


@pytest.fixture(autouse=True)
def own_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The probe's /tmp, which is empty after each test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def probed(s3: S3Client, layout: RecordLayout, **own: int | str) -> dict[str, Any]:
    """The prober's answer to 100 reads, or as many as *own* says."""
    event: ProbeEvent = {
        "cell_id": "m00512", "chunk_bytes": 65_536, "streams": 1, "concurrency": 1, "object": 0,
        "variant": {"layout": layout, "reads": 100, **own}, "bucket": "bucket", "key": KEY,
        "size_bytes": SIZE_BYTES, "sha1": "", "workload": "records",
        "contents": {"records": DATA_SET.records},
    }  # fmt: skip
    answer: ProbeAnswer = Prober(s3).probe(event, 512)
    return dict(answer)


OWN: Final[dict[RecordLayout, dict[str, int | str]]] = {
    RecordLayout.RANGE: {"connections": 8, "block_bytes": 512},
    RecordLayout.COALESCED: {"connections": 4, "gap_bytes": "measured"},
    RecordLayout.WHOLE: {},
    RecordLayout.OBJECT_PER_RECORD: {"connections": 8},
    RecordLayout.PARTITIONED: {"connections": 8, "objects": 10},
    RecordLayout.PARTITIONED_RANGE: {"connections": 8, "objects": 10},
    RecordLayout.TMP_BLOCK: {"block_bytes": 512},
    RecordLayout.SQLITE_TMP: {},
}
LAYOUTS: Final = [layout for layout in READERS if layout in OWN]
"""Layouts without a database server; test_record_items.py has DynamoDB."""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_reads_and_verifies(s3: S3Client, layout: RecordLayout) -> None:
    """All records are right, the phases add up, and a prediction stands beside them."""
    answer = probed(s3, layout, **OWN[layout])
    assert (answer["status"], answer["records"]) == ("ok", DATA_SET.records)
    assert answer["records_read"] == 100
    phases = answer["build_seconds"] + answer["index_seconds"] + answer["fetch_seconds"]
    assert answer["total_seconds"] == pytest.approx(phases, abs=1e-5)
    assert 0 < answer["record_p50_ms"] <= answer["record_p90_ms"] <= answer["record_p99_ms"]
    assert answer["predicted_seconds"] > 0
    assert answer["excluded_ms"] >= 0
    own = set(RecordsWorkload.sample_names)
    lacks = set() if layout is RecordLayout.COALESCED else {"merged_gap_bytes"}
    assert own - set(answer) == lacks | {"database_server"}
    assert set(answer) <= {*SAMPLE_VALUES, *own}


@pytest.mark.parametrize("layout", ON_DISK)
def test_a_file_that_stays_in_the_page_cache_is_not_measured_as_cold(
    s3: S3Client, layout: RecordLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is dropped once it is built; the cell says why if that fails."""
    monkeypatch.setattr(page_cache, "cached_bytes", lambda _: 0)
    assert probed(s3, layout, **OWN[layout], page_cache="cold")["status"] == "ok"
    monkeypatch.setattr(page_cache, "cached_bytes", lambda _: 4_096)
    answer = probed(s3, layout, **OWN[layout], page_cache="cold")
    assert (answer["status"], answer["error"]) == ("failed", "CannotRun")
    assert "4096 bytes stay in the page cache" in answer["cause"]
    assert probed(s3, layout, **OWN[layout], page_cache="warm")["status"] == "ok"


@pytest.mark.parametrize(
    ("layout", "requests", "bytes_read"),
    [
        (RecordLayout.WHOLE, 2, SIZE_BYTES + ENTRY_BYTES * DATA_SET.records),
        (RecordLayout.TMP_BLOCK, 1, SIZE_BYTES),
        (RecordLayout.SQLITE_TMP, 1, SIZE_BYTES),
    ],
)
def test_requests_and_bytes_of_all_are_counted(
    s3: S3Client, hostile: HostileS3, layout: RecordLayout, requests: int, bytes_read: int
) -> None:
    """As S3 saw them, without those that measure the link."""
    answer = probed(s3, layout, **OWN[layout])
    assert (answer["requests"], answer["bytes_read"]) == (requests, bytes_read)
    assert len(hostile.requests) == requests + LATENCY_GETS


def test_each_block_is_requested_once(s3: S3Client, hostile: HostileS3) -> None:
    """Reads of the same block share a request; the answer counts those that S3 saw."""
    answer = probed(s3, RecordLayout.RANGE, reads=1_000, connections=8, block_bytes=4_096)
    ranges = [request.headers.get("range") for request in hostile.requests[LATENCY_GETS:]]
    assert answer["requests"] == len(ranges) == len(set(ranges))
    assert len(ranges) <= 2 * (SIZE_BYTES // 4_096 + 1) + 1


def test_a_gap_of_zero_reads_the_records_alone(s3: S3Client) -> None:
    """Neighbours are still one range; a larger gap means fewer requests and more bytes."""
    narrow = probed(s3, RecordLayout.COALESCED, connections=4, gap_bytes=0)
    wide = probed(s3, RecordLayout.COALESCED, connections=4, gap_bytes=1_048_576)
    assert narrow["merged_gap_bytes"] == 0
    index_bytes = ENTRY_BYTES * DATA_SET.records
    wanted = (narrow["bytes_read"] - index_bytes) / 100
    assert 66 <= wanted <= 128
    assert narrow["requests"] > wide["requests"] == 2
    assert narrow["bytes_read"] < wide["bytes_read"]


def test_a_sampled_layout_is_scaled(s3: S3Client) -> None:
    """Objects exist for some records; time, requests and price are those of all reads."""
    answer = probed(s3, RecordLayout.OBJECT_PER_RECORD, reads=2_000, connections=8)
    assert answer["records_read"] == SAMPLED_RECORDS
    assert answer["requests"] == 2_000
    assert answer["request_usd"] == pytest.approx(2_000 * 0.4e-6)
    assert answer["fetch_seconds"] > answer["seconds"]


@pytest.mark.parametrize("objects", [1, 10, 100, 1_000])
def test_a_partition_has_each_object_read_once(
    s3: S3Client, hostile: HostileS3, objects: int
) -> None:
    """Those with a record wanted, whole; and nothing but the index besides."""
    answer = probed(s3, RecordLayout.PARTITIONED, connections=8, objects=objects)
    _index, *gets = hostile.requests[LATENCY_GETS:]
    keys = [request.path.partition("?")[0] for request in gets]
    assert answer["requests"] == 1 + len(keys) == 1 + len(set(keys))
    assert len(keys) == objects if objects <= 10 else len(keys) <= 100
    assert not [request for request in gets if "range" in request.headers]


@pytest.mark.parametrize("objects", [1, 10, 1_000])
def test_a_range_of_a_partition_is_the_record_alone(s3: S3Client, objects: int) -> None:
    """A request for each record, whatever the number of objects."""
    answer = probed(s3, RecordLayout.PARTITIONED_RANGE, connections=8, objects=objects)
    assert (answer["requests"], answer["record_time"]) == (1 + 100, "each")
    assert 66 <= (answer["bytes_read"] - ENTRY_BYTES * DATA_SET.records) / 100 <= 128


def test_a_partition_of_which_a_part_exists_is_scaled(
    s3: S3Client, hostile: HostileS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests and bytes are those of all objects, but the index is read once."""
    monkeypatch.setattr(partition, "SAMPLED_OBJECTS", 10)
    answer = probed(s3, RecordLayout.PARTITIONED, reads=2_000, connections=8, objects=100)
    assert answer["records_read"] == pytest.approx(200, abs=2)
    assert len(hostile.requests) == LATENCY_GETS + 1 + 10
    assert answer["requests"] == pytest.approx(1 + 100, abs=1)
    index_bytes = ENTRY_BYTES * DATA_SET.records
    assert answer["bytes_read"] == pytest.approx(SIZE_BYTES + index_bytes, rel=0.02)
    assert answer["fetch_seconds"] > answer["seconds"] - answer["index_seconds"]


def test_batches_are_amortised_and_say_so(s3: S3Client) -> None:
    """A record of a batch has no time of its own."""
    assert probed(s3, RecordLayout.RANGE, **OWN[RecordLayout.RANGE])["record_time"] == "each"
    answer = probed(s3, RecordLayout.WHOLE)
    assert answer["record_time"] == "amortised"
    assert answer["record_p50_ms"] == answer["record_p99_ms"]


def test_padding_and_index_are_part_of_the_storage(s3: S3Client) -> None:
    """Fernandez and Turner (2023): 128 bytes for 97; the objects have no padding."""
    factors = {layout: probed(s3, layout, **OWN[layout])["storage_factor"] for layout in LAYOUTS}
    assert factors[RecordLayout.OBJECT_PER_RECORD] == 1
    assert factors[RecordLayout.WHOLE] == pytest.approx(1 + 9 / 97, abs=0.001)
    assert factors[RecordLayout.TMP_BLOCK] == pytest.approx(128 / 97 + 12 / 97, abs=0.02)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_wrong_record_fails_the_sample(
    s3: S3Client, hostile: HostileS3, layout: RecordLayout
) -> None:
    """However fast it was; and /tmp is empty."""
    content = b"".join(DATA_SET.chunks())
    hostile.put(f"bucket/{KEY}", content.replace(b"a", b"b"))
    for record in DATA_SET.sample(SAMPLED_RECORDS):
        key = file_key(KEY, f"record/{record[:10].decode()}")
        hostile.put(f"bucket/{key}", record.replace(b"a", b"b"))
    for file in partition.Partition(DATA_SET, 10).files():
        damaged = b"".join(file.chunks()).replace(b"a", b"b")
        hostile.put(f"bucket/{file_key(KEY, file.name)}", damaged)
    with pytest.raises(WrongRecord, match="the CRC of the record"):
        probed(s3, layout, **OWN[layout])


def test_a_throttled_request_is_repeated(s3: S3Client, hostile: HostileS3) -> None:
    """As S3 asks its clients to do; the records come."""
    index = f"bucket/{file_key(KEY, INDEX_NAME)}"
    hostile.script_of(index, THROTTLED, Fault(cut_after=9))
    answer = probed(s3, RecordLayout.RANGE, **OWN[RecordLayout.RANGE])
    assert (answer["status"], answer["retries"]) == ("ok", 2)


def test_throttling_without_end_ends_the_sample(s3: S3Client, hostile: HostileS3) -> None:
    """After four attempts."""
    hostile.always = THROTTLED
    with pytest.raises(SourceUnavailable, match="failed 4 times: HTTP status 503"):
        probed(s3, RecordLayout.RANGE, **OWN[RecordLayout.RANGE])


def test_a_refusal_is_not_repeated(s3: S3Client, hostile: HostileS3) -> None:
    """A missing file of the data set has a named outcome."""
    hostile.delete(f"bucket/{file_key(KEY, INDEX_NAME)}")
    with pytest.raises(SourceUnavailable, match="refused a read: HTTP status 404"):
        probed(s3, RecordLayout.WHOLE)
    assert len(hostile.requests) == LATENCY_GETS + 1


def test_a_range_that_is_not_the_right_one_is_not_used(s3: S3Client, hostile: HostileS3) -> None:
    """A server that ignores ranges would make every record wrong."""
    hostile.always = Fault(ignore_range=True)
    with pytest.raises(SourceUnavailable):
        probed(s3, RecordLayout.RANGE, **OWN[RecordLayout.RANGE])


@pytest.mark.parametrize(
    ("layout", "error"),
    [
        (RecordLayout.TMP_BLOCK, OSError(28, "No space left on device")),
        (RecordLayout.SQLITE_TMP, sqlite3.OperationalError("database or disk is full")),
    ],
)
def test_a_full_disk_is_a_failed_sample(
    s3: S3Client, monkeypatch: pytest.MonkeyPatch, layout: RecordLayout, error: Exception
) -> None:
    """The next cell can still run, with all of /tmp: nothing is left in it."""

    def fill(*_: object) -> None:
        raise error

    monkeypatch.setattr(tmp_readers, "write_block_file", fill)
    monkeypatch.setattr(tmp_readers, "whole_records", fill)
    answer = probed(s3, layout, **OWN[layout])
    assert (answer["status"], answer["error"]) == ("failed", "NotStored")
    assert "full" in answer["cause"] or "No space" in answer["cause"]


def test_a_layout_without_its_table_is_a_failed_sample(
    s3: S3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cell's result is the reason."""
    monkeypatch.delenv(RECORDS_TABLE, raising=False)
    monkeypatch.setenv(RECORDS_MONGODB, "http://127.0.0.1")
    answer = probed(s3, RecordLayout.DYNAMODB, connections=4)
    assert (answer["status"], answer["error"]) == ("failed", "CannotRun")
    assert "the environment variable RECORDS_TABLE is not the name of a table" in answer["cause"]
    answer = probed(s3, RecordLayout.MONGODB)
    assert (answer["status"], answer["error"]) == ("failed", "CannotRun")
    assert "RECORDS_MONGODB has no mongodb:// address" in answer["cause"]


def test_a_layout_without_its_driver_is_a_failed_sample(
    s3: S3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in Lambda, whose layer does not have pymongo."""
    monkeypatch.setenv(RECORDS_MONGODB, "mongodb://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "pymongo", None)
    answer = probed(s3, RecordLayout.MONGODB)
    assert (answer["status"], answer["error"]) == ("failed", "CannotRun")
    assert "pymongo is not installed" in answer["cause"]


def test_a_server_that_does_not_answer_ends_the_sample(
    s3: S3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within seconds, with the driver's reason."""
    monkeypatch.setattr(mongo_reader, "_TIMEOUT_MS", 100)
    monkeypatch.setenv(RECORDS_MONGODB, "mongodb://127.0.0.1:1")
    with pytest.raises(SourceUnavailable, match="MongoDB: "):
        probed(s3, RecordLayout.MONGODB)


@pytest.fixture
def mongodb_client(
    mongodb_address: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[pymongo.MongoClient[Any]]:
    """A client of the server that the reader uses, which has no database of it afterwards."""
    monkeypatch.setenv(RECORDS_MONGODB, mongodb_address)
    with pymongo.MongoClient[Any](mongodb_address) as client:
        yield client
        names = client.list_database_names()
        assert not [name for name in names if name.startswith("bucketsum-")]


@pytest.mark.usefixtures("mongodb_client")
def test_mongodb_reads_and_verifies(s3: S3Client) -> None:
    """Over its wire protocol; no database is left, and figures have the name of the server."""
    answer = probed(s3, RecordLayout.MONGODB)
    own = "MongoDB " if shutil.which("mongod") else "mongo-java-server (protocol of MongoDB 5.0.0)"
    assert answer["database_server"].startswith(own)
    assert (answer["status"], answer["records"]) == ("ok", DATA_SET.records)
    assert (answer["records_read"], answer["record_time"]) == (100, "each")
    assert answer["build_seconds"] > 0
    assert 1 < answer["storage_factor"] < 2
    assert set(RecordsWorkload.sample_names) - set(answer) == {"merged_gap_bytes"}


def before_fetch(
    monkeypatch: pytest.MonkeyPatch,
    client: pymongo.MongoClient[Any],
    change: Callable[[Collection[dict[str, Any]]], object],
) -> None:
    """Let *change* see the collection once it is built."""

    def load(_reader: mongo_reader.MongoReader) -> None:
        [name] = [name for name in client.list_database_names() if name.startswith("bucketsum-")]
        change(client[name]["records"])

    monkeypatch.setattr(mongo_reader.MongoReader, "load", load)


def test_all_records_are_documents(
    s3: S3Client, mongodb_client: pymongo.MongoClient[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each under its id, as the server itself has them."""
    stored: list[dict[str, Any]] = []
    before_fetch(monkeypatch, mongodb_client, lambda records: stored.extend(records.find()))
    probed(s3, RecordLayout.MONGODB)
    assert len(stored) == DATA_SET.records
    for document in stored:
        verify(document["record"], document["_id"])


def test_a_missing_document_fails_the_sample(
    s3: S3Client, mongodb_client: pymongo.MongoClient[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However fast its absence was found; no database is left."""
    before_fetch(monkeypatch, mongodb_client, lambda records: records.delete_many({}))
    with pytest.raises(WrongRecord, match="the collection has no record"):
        probed(s3, RecordLayout.MONGODB)


@pytest.mark.usefixtures("mongodb_client")
def test_a_wrong_document_fails_the_sample(s3: S3Client, hostile: HostileS3) -> None:
    """However fast it was; no database is left."""
    hostile.put(f"bucket/{KEY}", b"".join(DATA_SET.chunks()).replace(b"a", b"b"))
    with pytest.raises(WrongRecord, match="the CRC of the record"):
        probed(s3, RecordLayout.MONGODB)
