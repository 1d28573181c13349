"""Index of a data set: sorted ids with offset and length, found by binary search.

Three columns, each number little-endian: the ids (4 bytes each), the offsets (4 bytes), the lengths
(1 byte): 9 bytes a record, and nothing to decode when it is loaded.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from itertools import accumulate, chain
from typing import Final, NamedTuple

from bucketsum_lab.workloads.records.data_set import DataSet, WrongRecord, id_of

ENTRY_BYTES: Final = 9

_LOW_32: Final = 0xFFFFFFFF
_COLUMN_BYTES: Final = 4
_UINT32: Final = next(code for code in "IL" if array(code).itemsize == _COLUMN_BYTES)


class Span(NamedTuple):
    """Bytes of an object."""

    offset: int
    end: int
    """The byte after the last."""


class Index:
    """Finds the bytes of a record by its id."""

    def __init__(self, data: bytes) -> None:
        """Take the columns in *data*."""
        count = len(data) // ENTRY_BYTES
        view = memoryview(data)
        self._ids = _uint32(view[: count * _COLUMN_BYTES])
        self._offsets = _uint32(view[count * _COLUMN_BYTES : 2 * count * _COLUMN_BYTES])
        self._lengths = view[2 * count * _COLUMN_BYTES :]

    def __len__(self) -> int:
        return len(self._ids)

    def span(self, record_id: int) -> Span:
        """The bytes of a record.

        Raises:
            WrongRecord: There is none with this id.
        """
        place = bisect_left(self._ids, record_id)
        if place == len(self._ids) or self._ids[place] != record_id:
            raise WrongRecord(f"the index has no record {record_id}")
        offset = self._offsets[place]
        return Span(offset, offset + self._lengths[place])


def index_bytes(data_set: DataSet) -> bytes:
    """The index of *data_set*."""
    lengths = bytes(data_set.lengths(range(data_set.records)))
    offsets = array(_UINT32, accumulate(chain([0], lengths[:-1])))
    numbers_by_id = sorted(id_of(number) << 32 | number for number in range(len(lengths)))
    numbers = array(_UINT32, (both & _LOW_32 for both in numbers_by_id))
    ids = array(_UINT32, (both >> 32 for both in numbers_by_id))
    columns = (ids, array(_UINT32, map(offsets.__getitem__, numbers)))
    for column in columns:
        _swap_if_big_endian(column)
    return b"".join([*map(bytes, columns), bytes(map(lengths.__getitem__, numbers))])


def _uint32(view: memoryview) -> array[int]:
    column = array(_UINT32)
    column.frombytes(view)
    _swap_if_big_endian(column)
    return column


def _swap_if_big_endian(column: array[int]) -> None:
    if sys.byteorder == "big":
        column.byteswap()
