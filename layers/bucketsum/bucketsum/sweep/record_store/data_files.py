"""Files of a data set beside its records: the index, and a sample of records as objects."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bucketsum.sweep.objects import DataFile, in_parts
from bucketsum.sweep.record_store.data_set import id_in
from bucketsum.sweep.record_store.index import ENTRY_BYTES, index_bytes
from bucketsum.sweep.record_store.layouts import INDEX_NAME, SAMPLED_RECORDS, record_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bucketsum.sweep.record_store.data_set import DataSet


def data_files(data_set: DataSet) -> Iterator[DataFile]:
    """The index, then the sampled records."""
    index_parts = partial(_index_parts, data_set)
    yield DataFile(INDEX_NAME, data_set.records * ENTRY_BYTES, index_parts)
    for record in data_set.sample(SAMPLED_RECORDS):
        yield DataFile(record_name(id_in(record)), len(record), partial(list, [record]))


def _index_parts(data_set: DataSet) -> Iterator[bytes]:
    return in_parts([index_bytes(data_set)])
