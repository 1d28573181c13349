"""The reader of each layout."""

from __future__ import annotations

from typing import Final

from bucketsum_lab.workloads.records.items import DynamoReader
from bucketsum_lab.workloads.records.layouts import RecordLayout
from bucketsum_lab.workloads.records.record_reader import RecordReader
from bucketsum_lab.workloads.records.s3_readers import (
    CoalescedReader,
    ObjectPerRecordReader,
    PartitionedRangeReader,
    PartitionedReader,
    RangeReader,
    WholeReader,
)
from bucketsum_lab.workloads.records.tmp_readers import BlockFileReader, SqliteReader

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
