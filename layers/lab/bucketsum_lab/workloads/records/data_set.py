"""Generated records: an id, a text of 66 to 128 bytes in all, and a CRC-32.

A record is ``id,text,crc`` and a line feed: the id in ten digits, the CRC-32 of all bytes before
its comma in eight hexadecimal digits. Records are 97 bytes on average, as those of Fernandez and
Turner (2023), and have no order: their ids are a permutation of 32-bit numbers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final
from zlib import crc32

from bucketsum.errors import BucketsumError

RECORD_BYTES: Final = 97
"""Mean size of a record."""
RECORD_BYTES_MAX: Final = 128

_LENGTH_MIN: Final = 66
_CYCLE: Final = 63
"""Each length from 66 to 128 occurs once in so many records."""
_CYCLE_BYTES: Final = _CYCLE * RECORD_BYTES
_STEP: Final = 26  # has no divisor in common with the cycle: neighbours differ in length
_LAST_TWO_BYTES_MAX: Final = 2 * RECORD_BYTES_MAX

_ID_BYTES: Final = 10
_CRC_BYTES: Final = 10  # comma, eight digits, line feed
_FRAME_BYTES: Final = _ID_BYTES + 1 + _CRC_BYTES
_LOW_32: Final = 0xFFFFFFFF
_TEXT_MASK: Final = 0x3FFF
_RECORDS_PER_CHUNK: Final = 4096


class WrongRecord(BucketsumError):
    """The bytes read are not the record that was requested."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """All records of a size; numbers count from 0 in the order in which they are stored."""

    size_bytes: int
    """Of all records; at least 1,000."""

    @property
    def records(self) -> int:
        """The number of all records."""
        cycles = (self.size_bytes - _LAST_TWO_BYTES_MAX - 1) // _CYCLE_BYTES
        number, left = cycles * _CYCLE, self.size_bytes - cycles * _CYCLE_BYTES
        while left > _LAST_TWO_BYTES_MAX:
            left -= _length(number)
            number += 1
        return number + 2

    def offset(self, number: int) -> int:
        """The byte offset of record *number*; if *number* is the record count, the total size."""
        regular = min(number, self.records - 2)
        cycles, rest = divmod(regular, _CYCLE)
        offset = cycles * _CYCLE_BYTES + sum(map(_length, range(rest)))
        left = self.size_bytes - offset
        return offset + (0, left // 2, left)[number - regular]  # the last two fill the size

    def lengths(self, numbers: range) -> Iterator[int]:
        """The size of each record of *numbers* in bytes."""
        regular = self.records - 2
        for number in numbers:
            if number < regular:
                yield _length(number)
            else:
                yield self.offset(number + 1) - self.offset(number)

    def chunks(self, numbers: range | None = None) -> Iterator[bytes]:
        """The records of *numbers*, or all, in pieces of whole records."""
        numbers = range(self.records) if numbers is None else numbers
        for start in range(0, len(numbers), _RECORDS_PER_CHUNK):
            of_chunk = numbers[start : start + _RECORDS_PER_CHUNK]
            yield b"".join(map(record_of, of_chunk, self.lengths(of_chunk)))

    def sample(self, count: int) -> Iterator[bytes]:
        """The first *count* records, or all but the last two if there are fewer."""
        for number in range(min(count, self.records - 2)):
            yield record_of(number, _length(number))


def queries(reads: int, records: int) -> list[int]:
    """Ids of *reads* different records out of the first *records*, in an order without pattern."""
    numbers = random.Random(reads).sample(range(records), reads)  # noqa: S311 - not a secret
    return [id_of(number) for number in numbers]


def id_of(number: int) -> int:
    """The id of a record: a permutation of the numbers below 2³²."""
    mixed = (number * 0x9E3779B1 + 0x7F4A7C15) & _LOW_32
    mixed = ((mixed ^ mixed >> 16) * 0x45D9F3B) & _LOW_32
    return mixed ^ mixed >> 16


def record_of(number: int, length: int) -> bytes:
    """The record of *number*, *length* bytes long."""
    record_id = id_of(number)
    start = record_id & _TEXT_MASK
    content = b"%010d,%b" % (record_id, _text()[start : start + length - _FRAME_BYTES])
    return b"%b,%08x\n" % (content, crc32(content))


def id_in(record: bytes) -> int:
    """The id that *record* begins with."""
    return int(record[:_ID_BYTES])


def verify(record: bytes, record_id: int) -> None:
    """Check that *record* is complete and the one of *record_id*.

    Raises:
        WrongRecord: It is another record, or damaged.
    """
    content, comma, crc = record[:-_CRC_BYTES], record[-_CRC_BYTES:][:1], record[1 - _CRC_BYTES :]
    if record[:_ID_BYTES] != b"%010d" % record_id:
        raise WrongRecord(f"expected the record {record_id}, read {bytes(record[:_ID_BYTES])!r}")
    if comma != b"," or crc != b"%08x\n" % crc32(content):
        raise WrongRecord(f"the CRC of the record {record_id} is wrong")


def _length(number: int) -> int:
    return _LENGTH_MIN + number * _STEP % _CYCLE


@cache
def _text() -> bytes:
    """The text that every record has a part of."""
    letters = b"abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789"
    random_bytes = random.Random(1).randbytes(_TEXT_MASK + RECORD_BYTES_MAX)  # noqa: S311 - not a secret
    return bytes(letters[byte % len(letters)] for byte in random_bytes)
