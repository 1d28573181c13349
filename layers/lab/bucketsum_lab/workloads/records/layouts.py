"""Names of the layouts, and the sizes and prices that follow from them; imports nothing heavy."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from bucketsum.prices import READ_UNIT, S3_GET, S3_PUT, WRITE_UNIT

KIB: Final = 1024
MIB: Final = 1024 * KIB


class RecordLayout(StrEnum):
    """Storage layout of the records, and the way to read them."""

    RANGE = "range"
    """One object: for each record, the blocks around it."""
    COALESCED = "coalesced"
    """One object: ranges over all records wanted, merged over short gaps."""
    WHOLE = "whole"
    """One object, read into memory."""
    OBJECT_PER_RECORD = "object-per-record"
    """An object for each record; a sample of them exists, and the rest is scaled."""
    PARTITIONED = "partitioned"
    """Objects with as many records each; those with a record wanted are read whole."""
    PARTITIONED_RANGE = "partitioned-range"
    """The same objects: for each record, its range."""
    TMP_BLOCK = "tmp-block"
    """A block file with its dictionary on /tmp, made from the object."""
    SQLITE_TMP = "sqlite-tmp"
    """An SQLite database on /tmp, made from the object."""
    DYNAMODB = "dynamodb"
    """Items of a DynamoDB table; a sample of them exists, and the rest is scaled."""

    MONGODB = "mongodb"
    """Documents of a MongoDB server, made from the object; not in Lambda."""


ON_DISK: Final = (RecordLayout.TMP_BLOCK, RecordLayout.SQLITE_TMP)
SAMPLED: Final = (RecordLayout.OBJECT_PER_RECORD, RecordLayout.DYNAMODB)
WITH_BLOCKS: Final = (RecordLayout.RANGE, RecordLayout.TMP_BLOCK)
"""Layouts for which the block size matters."""
IN_PARTITIONS: Final = (RecordLayout.PARTITIONED, RecordLayout.PARTITIONED_RANGE)
WITH_INDEX: Final = (RecordLayout.RANGE, RecordLayout.COALESCED, RecordLayout.WHOLE, *IN_PARTITIONS)
SINGLE_READS: Final = (RecordLayout.RANGE, RecordLayout.OBJECT_PER_RECORD)
"""Layouts that wait for each record, or for each block."""
WITHOUT_CONNECTIONS: Final = (RecordLayout.WHOLE, *ON_DISK, RecordLayout.MONGODB)
"""Layouts that the workload's number of connections does not matter to."""

SAMPLED_RECORDS: Final = 1_000
"""Records that exist as objects, and as items; also the most that `PARTITIONED_RANGE` reads."""
OBJECT_COUNTS: Final = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
"""Numbers of objects that the records are partitioned into."""
SAMPLED_OBJECTS: Final = 1_000
"""Most objects of a partition that exist."""

MEASURED_GAP: Final = "measured"
"""The gap of latency × bandwidth."""
GAPS: Final = (MEASURED_GAP, 0, 64 * KIB, MIB)
"""Gaps in bytes that are read rather than skipped."""

IN_FLIGHT_BYTES: Final = 64 * MIB
"""Most memory for merged ranges that are being read."""

RECORDS_TABLE: Final = "RECORDS_TABLE"
"""Environment variable with the name of the DynamoDB table of the records."""
RECORDS_MONGODB: Final = "RECORDS_MONGODB"
"""Environment variable with the ``mongodb://`` address of a server."""

INDEX_NAME: Final = "index"
"""Name of the index's file in a data set."""
RECORDS_PART: Final = "record"
"""The part of a data set with an object for each sampled record."""
ITEMS_PART: Final = "items"
"""The part of a data set with the sampled records in DynamoDB."""


def part_of(layout: RecordLayout, objects: int) -> str | None:
    """The part of a data set that *layout* reads besides the index and the main object."""
    if layout in IN_PARTITIONS and objects > 1:
        return f"partition/{objects}"
    return {RecordLayout.OBJECT_PER_RECORD: RECORDS_PART, RecordLayout.DYNAMODB: ITEMS_PART}.get(
        layout
    )


def record_name(record_id: int) -> str:
    """Name of the file of a record in a data set."""
    return f"{RECORDS_PART}/{record_id:010d}"


_PART_BYTES: Final = 16 * MIB
_READ_UNITS_PER_RECORD: Final = 0.5
"""[A] An item of up to 4 KB, eventually consistent."""


def read_usd(layout: RecordLayout, requests: int, reads: int) -> float:
    """The price of the requests of all *reads*, without Lambda's time.

    A server of MongoDB costs by the hour, which is not part of it.
    """
    if layout == RecordLayout.DYNAMODB:
        return reads * _READ_UNITS_PER_RECORD * READ_UNIT.each
    return requests * S3_GET.each


def build_usd(layout: RecordLayout, records: int, size_bytes: int, objects: int) -> float:
    """The price of storing all records once, in *objects* objects if the layout has several."""
    if layout == RecordLayout.DYNAMODB:
        return records * WRITE_UNIT.each
    if layout == RecordLayout.OBJECT_PER_RECORD:
        return records * S3_PUT.each
    parts = -(-size_bytes // objects // _PART_BYTES)
    multipart = 2  # begin and complete
    return objects * (parts + multipart if parts > 1 else 1) * S3_PUT.each
