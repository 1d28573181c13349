"""Partitions of a data set: sizes, objects that exist, and the reads that stand for all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bucketsum_lab.workloads.records.data_set import DataSet
from bucketsum_lab.workloads.records.layouts import (
    SAMPLED_OBJECTS,
    SAMPLED_RECORDS,
    RecordLayout,
    build_usd,
)
from bucketsum_lab.workloads.records.partition import Partition, Sampled, partitions
from bucketsum_lab.workloads.records.workload import DEFAULT_SIZE_BYTES

SIZES = st.integers(1_000, 60_000)
PAPER = DataSet(DEFAULT_SIZE_BYTES)


@given(SIZES, st.integers(1, 700))
@settings(max_examples=60)
def test_objects_have_as_many_records_plus_or_minus_one(size_bytes: int, objects: int) -> None:
    """Together they have all records, in their order."""
    data_set = DataSet(size_bytes)
    objects = min(objects, data_set.records)
    partition = Partition(data_set, objects)
    numbers = [partition.numbers(place) for place in range(objects)]
    assert [number for of_object in numbers for number in of_object] == [*range(data_set.records)]
    sizes = set(map(len, numbers))
    assert sum(map(len, numbers)) == data_set.records
    assert max(sizes) - min(sizes) <= 1


@given(SIZES, st.integers(1, 700))
@settings(max_examples=30)
def test_the_objects_are_the_data_set(size_bytes: int, objects: int) -> None:
    """Without padding: their bytes together are its bytes, and each has its declared size."""
    data_set = DataSet(size_bytes)
    files = list(Partition(data_set, min(objects, data_set.records)).files())
    contents = [b"".join(file.chunks()) for file in files]
    assert b"".join(contents) == b"".join(data_set.chunks())
    assert [file.size_bytes for file in files] == list(map(len, contents))
    assert all(content.endswith(b"\n") for content in contents)


def test_partitions_have_at_most_as_many_objects_as_records() -> None:
    """A single object is the main one, and of many only a sample exists."""
    assert [partition.objects for partition in partitions(DataSet(100_000))] == [10, 100, 1_000]
    stored = {partition.objects: partition.stored for partition in partitions(PAPER)}
    assert stored == {
        10: 10, 100: 100, 1_000: 1_000, 10_000: SAMPLED_OBJECTS, 100_000: SAMPLED_OBJECTS,
        1_000_000: SAMPLED_OBJECTS,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("layout", "objects", "records", "reads"),
    [
        (RecordLayout.PARTITIONED, 1_000, PAPER.records, 215_000),
        (RecordLayout.PARTITIONED, 10_000, PAPER.records // 10, 21_500),
        (RecordLayout.PARTITIONED, 1_000_000, PAPER.records // 1_000, 215),
        (RecordLayout.PARTITIONED_RANGE, 10, PAPER.records, SAMPLED_RECORDS),
        (RecordLayout.PARTITIONED_RANGE, 1_000_000, PAPER.records // 1_000, 215),
        (RecordLayout.OBJECT_PER_RECORD, 1, SAMPLED_RECORDS, SAMPLED_RECORDS),
        (RecordLayout.WHOLE, 1, PAPER.records, 215_000),
    ],
)
def test_a_sample_reads_each_object_as_often_as_all_reads_do(
    layout: RecordLayout, objects: int, records: int, reads: int
) -> None:
    """A tenth of the objects gets a tenth of the reads."""
    assert Sampled.of(layout, PAPER, objects, 215_000) == Sampled(records, reads)


def test_more_objects_cost_more_to_store() -> None:
    """A PUT for each, or several for one that is sent in parts."""
    puts = [
        round(build_usd(RecordLayout.PARTITIONED, PAPER.records, PAPER.size_bytes, objects) / 5e-6)
        for objects in (1, 10, 100)
    ]
    assert puts == [15 + 2, 10 * (2 + 2), 100]
