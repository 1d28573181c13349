"""Readers of layouts in S3."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from bucketsum.errors import SourceUnavailable
from bucketsum_lab.workloads.records.concurrent_gets import Get, Received
from bucketsum_lab.workloads.records.data_set import DataSet
from bucketsum_lab.workloads.records.index import ENTRY_BYTES, Index, Span
from bucketsum_lab.workloads.records.layouts import IN_FLIGHT_BYTES, INDEX_NAME, MIB, record_name
from bucketsum_lab.workloads.records.partition import Partition, object_name
from bucketsum_lab.workloads.records.record_reader import ReadRecord, RecordReader

_Wanted = tuple[int, Span]
"""A record's id and its bytes in the object."""
_InRange = tuple[int, bytes, float]
"""A record's id, its bytes, and the time of its range."""


class _S3Reader(RecordReader):
    def _received(self, gets: Iterable[Get]) -> Iterator[Received]:
        for received in self._store.gets.responses(gets, self._options.connections):
            self.requests += 1
            self.bytes_read += len(received.data)
            yield received


class ObjectPerRecordReader(_S3Reader):
    """A GET for each record; there is no index, because the id is in the key."""

    def fetch_records(self, record_ids: Sequence[int]) -> Iterator[ReadRecord]:
        """See `RecordReader.fetch_records` for the contract."""
        store = self._store
        gets = (Get(store.file(record_name(record_id))) for record_id in record_ids)
        for received in self._received(gets):
            yield ReadRecord(record_ids[received.number], received.data, received.seconds)


class _IndexedReader(_S3Reader):
    """A reader that finds records by the index in S3."""

    _index: Index

    def load(self) -> None:
        """Read the index of positions."""
        get = Get(self._store.file(INDEX_NAME))
        (received,) = self._store.gets.responses([get], 1)
        if len(received.data) != self._store.records * ENTRY_BYTES:
            raise SourceUnavailable("the index in S3 belongs to another data set")
        self._index = Index(received.data)
        self.requests += 1
        self.bytes_read += len(received.data)
        self.stored_bytes += len(received.data)


class WholeReader(_IndexedReader):
    """The object in memory."""

    def fetch_records(self, record_ids: Sequence[int]) -> Iterator[ReadRecord]:
        """See `RecordReader.fetch_records` for the contract."""
        content = bytearray(self._store.size_bytes)
        offset = 0
        for chunk in self._downloaded():
            content[offset : offset + len(chunk)] = chunk
            offset += len(chunk)
        for record_id in record_ids:
            span = self._index.span(record_id)
            yield ReadRecord(record_id, bytes(content[span.offset : span.end]), None)


class _RangesReader(_IndexedReader):
    """A reader of ranges with one record or more each."""

    def _read(self, wanted: Iterable[_Wanted], ranges: Iterable[Span]) -> Iterator[_InRange]:
        """Request each of *ranges* once; yield the records of a range once it has come."""
        wanted_in = defaultdict[Span, list[_Wanted]](list)
        for record, span in zip(wanted, ranges, strict=True):
            wanted_in[span].append(record)
        spans = list(wanted_in)
        for received in self._received(map(self._get, spans)):
            span = spans[received.number]
            for record_id, (offset, end) in wanted_in[span]:
                data = received.data[offset - span.offset : end - span.offset]
                yield record_id, data, received.seconds

    def _get(self, span: Span) -> Get:
        return Get(self._store.created, span)

    def _wanted(self, record_ids: Iterable[int]) -> list[_Wanted]:
        return [(record_id, self._index.span(record_id)) for record_id in record_ids]


class RangeReader(_RangesReader):
    """The blocks around each record; blocks with several records are requested once."""

    def fetch_records(self, record_ids: Sequence[int]) -> Iterator[ReadRecord]:
        """See `RecordReader.fetch_records` for the contract."""
        block_bytes, size_bytes = self._options.block_bytes, self._store.size_bytes
        wanted = self._wanted(record_ids)
        blocks = (block_span(span, block_bytes, size_bytes) for _, span in wanted)
        for record in self._read(wanted, blocks):
            yield ReadRecord(*record)


class CoalescedReader(_RangesReader):
    """Ranges over all records of the batch, merged over short gaps."""

    def fetch_records(self, record_ids: Sequence[int]) -> Iterator[ReadRecord]:
        """See `RecordReader.fetch_records` for the contract."""
        wanted = self._wanted(record_ids)
        longest = max(MIB, IN_FLIGHT_BYTES // self._options.connections)
        spans = list(merged((span for _, span in wanted), self._options.gap_bytes, longest))
        starts = [span.offset for span in spans]
        ranges = (spans[bisect_right(starts, span.offset) - 1] for _, span in wanted)
        for record_id, data, _ in self._read(wanted, ranges):
            yield ReadRecord(record_id, data, None)


class PartitionedRangeReader(_RangesReader):
    """The bytes of each record, in the object that has it."""

    def load(self) -> None:
        """Read the index, and compute the places of the objects."""
        super().load()
        partition = Partition(DataSet(self._store.size_bytes), self._options.objects)
        self._starts = partition.starts()

    def fetch_records(self, record_ids: Sequence[int]) -> Iterator[ReadRecord]:
        """See `RecordReader.fetch_records` for the contract."""
        wanted = self._wanted(record_ids)
        for record in self._read(wanted, (span for _, span in wanted)):
            yield ReadRecord(*record)

    def _get(self, span: Span) -> Get:
        place, in_set = self._object(span)
        name, start = object_name(self._options.objects, place), in_set.offset
        store = self._store
        created = store.created
        if self._options.objects > 1:
            created = store.file(name, in_set.end - start)
        if span == in_set:
            return Get(created)
        return Get(created, Span(span.offset - start, span.end - start))

    def _object(self, span: Span) -> tuple[int, Span]:
        """The object with *span*, and its bytes in the data set."""
        place = bisect_right(self._starts, span.offset) - 1
        return place, Span(*self._starts[place : place + 2])


class PartitionedReader(PartitionedRangeReader):
    """Reads each object that has a wanted record, whole and once."""

    def fetch_records(self, record_ids: Sequence[int]) -> Iterator[ReadRecord]:
        """See `RecordReader.fetch_records` for the contract."""
        wanted = self._wanted(record_ids)
        objects = (self._object(span)[1] for _, span in wanted)
        for record_id, data, _ in self._read(wanted, objects):
            yield ReadRecord(record_id, data, None)


def block_span(wanted: Span, block_bytes: int, size_bytes: int) -> Span:
    """The whole blocks that *wanted* lies in; the object's last block may be shorter."""
    offset = wanted.offset // block_bytes * block_bytes
    end = -(-wanted.end // block_bytes) * block_bytes
    return Span(offset, min(end, size_bytes))


def merged(wanted: Iterable[Span], gap_bytes: int, longest_bytes: int) -> Iterator[Span]:
    """Spans that cover all of *wanted*, in order and without overlap: O(n log n).

    Neighbours at most *gap_bytes* apart are joined as long as the result has at most
    *longest_bytes*; a longer one in *wanted* stays whole.
    """
    ordered = sorted(wanted)
    if not ordered:
        return
    offset, end = ordered[0]
    for following in ordered[1:]:
        joined = max(end, following.end)
        overlaps = following.offset < end
        if overlaps or (following.offset - end <= gap_bytes and joined - offset <= longest_bytes):
            end = joined
        else:
            yield Span(offset, end)
            offset, end = following
    yield Span(offset, end)
