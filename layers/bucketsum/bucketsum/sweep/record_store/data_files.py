"""Files of a data set beside its records: the index, and a sample of records as objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bucketsum.sweep.generated_objects import DataFile, Generated, in_parts
from bucketsum.sweep.record_store.data_set import id_in
from bucketsum.sweep.record_store.index import ENTRY_BYTES, index_bytes
from bucketsum.sweep.record_store.layouts import INDEX_NAME, SAMPLED_RECORDS, record_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bucketsum.sweep.record_store.data_set import DataSet


def data_files(data_set: DataSet) -> Iterator[DataFile]:
    """The index, then the sampled records."""
    index = Generated(lambda: in_parts([index_bytes(data_set)]))
    yield DataFile(INDEX_NAME, index, data_set.records * ENTRY_BYTES)
    for record in data_set.sample(SAMPLED_RECORDS):
        yield DataFile(record_name(id_in(record)), _generated(record), len(record))


def _generated(content: bytes) -> Generated:
    return Generated(lambda: iter([content]))
