"""Generated records: any size, each record with its id and its CRC."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bucketsum_lab.workloads.records.data_set import (
    RECORD_BYTES,
    RECORD_BYTES_MAX,
    DataSet,
    WrongRecord,
    id_in,
    id_of,
    queries,
    verify,
)
from bucketsum_lab.workloads.records.index import ENTRY_BYTES, Index, index_bytes

SIZES = st.integers(1_000, 60_000)


@given(SIZES)
@settings(max_examples=60)
def test_records_fill_any_size(size_bytes: int) -> None:
    """All records together have the size, and each is within the slot of a block file."""
    data_set = DataSet(size_bytes)
    content = b"".join(data_set.chunks())
    records = content.splitlines(keepends=True)
    assert len(content) == size_bytes
    assert len(records) == data_set.records
    assert max(map(len, records)) <= RECORD_BYTES_MAX
    for number, record in enumerate(records):
        verify(record, id_of(number))


def test_records_have_the_mean_size_of_fernandez_and_turner() -> None:
    """2.48 million records of 97 bytes."""
    assert DataSet(2_480_000 * RECORD_BYTES).records == pytest.approx(2_480_000, rel=1e-5)


def test_ids_differ() -> None:
    """Equal ids would hide a wrong record."""
    ids = {id_of(number) for number in range(100_000)}
    assert len(ids) == 100_000
    assert all(0 <= record_id < 1 << 32 for record_id in ids)


@given(SIZES, st.integers(0, 1_000))
@settings(max_examples=40)
def test_the_index_finds_each_record(size_bytes: int, number: int) -> None:
    """Its bytes are those of the record with the id."""
    data_set = DataSet(size_bytes)
    content = b"".join(data_set.chunks())
    data = index_bytes(data_set)
    index = Index(data)
    assert len(data) == ENTRY_BYTES * data_set.records == ENTRY_BYTES * len(index)
    record_id = id_of(number % data_set.records)
    offset, end = index.span(record_id)
    verify(content[offset:end], record_id)


def test_the_index_has_no_other_record() -> None:
    """An id that is not there is an error, not the neighbour's bytes."""
    data_set = DataSet(5_000)
    index = Index(index_bytes(data_set))
    missing = id_of(data_set.records)
    with pytest.raises(WrongRecord, match=str(missing)):
        index.span(missing)


def test_the_index_has_a_fixed_byte_order() -> None:
    """Ids, offsets, lengths; little-endian on any machine."""
    data_set = DataSet(1_000)
    records = b"".join(data_set.chunks()).splitlines(keepends=True)
    first = min(records, key=id_in)
    data = index_bytes(data_set)
    assert data[:4] == id_in(first).to_bytes(4, "little")
    offset = sum(map(len, records[: records.index(first)]))
    assert data[4 * len(records) :][:4] == offset.to_bytes(4, "little")
    assert data[8 * len(records)] == len(first)


def test_queries_are_different_records_in_a_fixed_order() -> None:
    """A run can be repeated with the same reads."""
    wanted = queries(500, 1_000)
    assert len(set(wanted)) == 500
    assert wanted == queries(500, 1_000) != sorted(wanted)
    assert set(wanted) <= {id_of(number) for number in range(1_000)}


@pytest.mark.parametrize("at", [0, 9, 10, 11, 30, -11, -10, -2, -1])
def test_a_damaged_record_is_noticed(at: int) -> None:
    """Any changed byte."""
    record = bytearray(next(DataSet(1_000).sample(1)))
    record[at] ^= 1
    with pytest.raises(WrongRecord):
        verify(bytes(record), id_of(0))


def test_another_or_a_short_record_is_noticed() -> None:
    """A whole record of another id, and a part of the right one."""
    first, second = DataSet(1_000).sample(2)
    for data in (second, first[:-1], first[1:], b""):
        with pytest.raises(WrongRecord):
            verify(data, id_of(0))
