"""Partition of a data set into objects with equal numbers of records, plus or minus one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from bucketsum_lab.protocol.objects import DataFile
from bucketsum_lab.workloads.records.data_set import DataSet
from bucketsum_lab.workloads.records.layouts import (
    IN_PARTITIONS,
    OBJECT_COUNTS,
    SAMPLED,
    SAMPLED_OBJECTS,
    SAMPLED_RECORDS,
    RecordLayout,
    part_of,
)


@dataclass(frozen=True, slots=True)
class Partition:
    """The objects of a data set, which are at most as many as its records."""

    data_set: DataSet
    objects: int

    @property
    def stored(self) -> int:
        """The number of objects that exist: at most the first `SAMPLED_OBJECTS`."""
        return min(self.objects, SAMPLED_OBJECTS)

    def numbers(self, place: int) -> range:
        """The records in the object at *place*, counted from 0."""
        records = self.data_set.records
        return range(place * records // self.objects, (place + 1) * records // self.objects)

    def starts(self) -> list[int]:
        """The place in the data set of each object that exists, and the end of the last."""
        firsts = (self.numbers(place).start for place in range(self.stored + 1))
        return [self.data_set.offset(first) for first in firsts]

    def files(self) -> Iterator[DataFile]:
        """The objects that exist."""
        starts = self.starts()
        for place in range(self.stored):
            chunks = partial(self.data_set.chunks, self.numbers(place))
            name = object_name(self.objects, place)
            yield DataFile(name, starts[place + 1] - starts[place], chunks)


def object_name(objects: int, place: int) -> str:
    """Name of the file of an object in a data set."""
    return f"{part_of(RecordLayout.PARTITIONED, objects)}/{place:07d}"


def partitions(data_set: DataSet) -> Iterator[Partition]:
    """The partitions of *data_set* that are files; a single object is the main one."""
    for objects in OBJECT_COUNTS:
        if 1 < objects <= data_set.records:
            yield Partition(data_set, objects)


class Sampled(NamedTuple):
    """The records that exist in a layout, and those that are read."""

    records: int
    reads: int

    @classmethod
    def of(cls, layout: RecordLayout, data_set: DataSet, objects: int, reads: int) -> Sampled:
        """The sample that stands for a number of *reads* from all records.

        Of a partition, as large a part of the reads as there are objects: each is then read as
        often as if all existed.
        """
        records = data_set.records
        if layout in SAMPLED:
            records = min(SAMPLED_RECORDS, records - 2)
            return cls(records, min(reads, records))
        if layout in IN_PARTITIONS:
            partition = Partition(data_set, objects)
            stored = partition.numbers(partition.stored - 1).stop
            reads = max(1, round(reads * stored / records))
            at_most = SAMPLED_RECORDS if layout == RecordLayout.PARTITIONED_RANGE else reads
            return cls(stored, min(reads, at_most))
        return cls(records, reads)
