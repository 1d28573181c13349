"""Block file: a dictionary and padded records in physical blocks of one size.

The layout of Fernandez and Turner (2023), with a header and a fixed byte order: all numbers are
unsigned and little-endian. ``bench/workloads/languages/block_reader.cpp`` reads the same file.

- Block 0: ``BSRECORD``; 4 bytes each: version 1, block size (a multiple of 128), slot size 128,
  number of dictionary blocks; 8 bytes: number of records; zeros up to the end of the block.
- Dictionary, 12 bytes for each record: id, data block (counted from the first), offset in it. No
  entry crosses the end of a block.
- Data, 128 bytes for each record: ``id,text,crc`` and a line feed, then zeros.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Final

from bucketsum.errors import BucketsumError
from bucketsum_lab.workloads.records.data_set import RECORD_BYTES_MAX, WrongRecord, id_in

SLOT_BYTES: Final = RECORD_BYTES_MAX
"""A record with its padding of zero bytes."""
BLOCK_BYTES_MIN: Final = 512

_MAGIC: Final = b"BSRECORD"
_VERSION: Final = 1
_HEADER: Final = struct.Struct("<8sIIIIQ")
_ENTRY: Final = struct.Struct("<III")
_READ_BYTES: Final = 1024 * 1024


class BadBlockFile(BucketsumError):
    """The file is not a complete block file."""


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """The places of everything in a block file."""

    block_bytes: int
    """A multiple of `SLOT_BYTES`, at least `BLOCK_BYTES_MIN`."""
    records: int

    @property
    def entries_per_block(self) -> int:
        """Entries of the dictionary in a block; none crosses the end of one."""
        return self.block_bytes // _ENTRY.size

    @property
    def slots_per_block(self) -> int:
        """Records in a block."""
        return self.block_bytes // SLOT_BYTES

    @property
    def dictionary_blocks(self) -> int:
        """Number of blocks of the dictionary, which follows the header."""
        return -(-self.records // self.entries_per_block)

    @property
    def data_offset(self) -> int:
        """The first byte of the first record."""
        return (1 + self.dictionary_blocks) * self.block_bytes

    @property
    def size_bytes(self) -> int:
        """The size of the file."""
        data_blocks = -(-self.records // self.slots_per_block)
        return self.data_offset + data_blocks * self.block_bytes

    def header(self) -> bytes:
        """The first block of the file."""
        header = _HEADER.pack(
            _MAGIC, _VERSION, self.block_bytes, SLOT_BYTES, self.dictionary_blocks, self.records
        )
        return header.ljust(self.block_bytes, b"\0")


def whole_records(chunks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The records in *chunks*, which may end in the middle of one."""
    rest = b""
    for chunk in chunks:
        records = (rest + chunk).splitlines(keepends=True)
        rest = b"" if not records or records[-1].endswith(b"\n") else records.pop()
        yield records
    if rest:
        raise WrongRecord("the data set ends in the middle of a record")


def write_block_file(path: Path, layout: BlockLayout, chunks: Iterable[bytes]) -> None:
    """Write the records in *chunks*, and the dictionary once all of them are known.

    Raises:
        WrongRecord: There are more or fewer records than *layout* has.
    """
    with path.open("wb") as file:
        file.write(layout.header())
        file.seek(layout.data_offset)
        ids = _write_data(file, layout, chunks)
        if len(ids) != layout.records:
            raise WrongRecord(f"the data set has {len(ids)} records, not {layout.records}")
        file.seek(layout.block_bytes)
        file.writelines(_dictionary_blocks(ids, layout))


def _write_data(file: IO[bytes], layout: BlockLayout, chunks: Iterable[bytes]) -> list[int]:
    ids: list[int] = []
    for records in whole_records(chunks):
        file.writelines(record.ljust(SLOT_BYTES, b"\0") for record in records)
        ids += map(id_in, records)
    file.truncate(layout.size_bytes)  # the last block has its full size
    return ids


def _dictionary_blocks(ids: list[int], layout: BlockLayout) -> Iterator[bytes]:
    slots = layout.slots_per_block
    for first in range(0, len(ids), layout.entries_per_block):
        of_block = ids[first : first + layout.entries_per_block]
        entries = (
            _ENTRY.pack(record_id, number // slots, number % slots * SLOT_BYTES)
            for number, record_id in enumerate(of_block, start=first)
        )
        yield b"".join(entries).ljust(layout.block_bytes, b"\0")


class BlockFile:
    """An open block file with its dictionary in memory; close it."""

    def __init__(self, path: Path) -> None:
        """Load the dictionary of the file at *path*.

        Raises:
            BadBlockFile: It is none, or incomplete.
        """
        self._descriptor = os.open(path, os.O_RDONLY)
        try:
            self.layout = self._layout()
            self._positions = self._dictionary()
        except BaseException:
            self.close()
            raise
        self._held = -1
        self._block = b""

    def close(self) -> None:
        """Close the file of blocks."""
        os.close(self._descriptor)

    def record(self, record_id: int) -> bytes:
        """The record of this id, without padding; reads a block unless it was the last one read.

        Raises:
            WrongRecord: There is none.
        """
        position = self._positions.get(record_id)
        if position is None:
            raise WrongRecord(f"the dictionary has no record {record_id}")
        block, offset = divmod(position, self.layout.block_bytes)
        if block != self._held:
            place = self.layout.data_offset + block * self.layout.block_bytes
            self._block = os.pread(self._descriptor, self.layout.block_bytes, place)
            self._held = block
        return self._block[offset : offset + SLOT_BYTES].rstrip(b"\0")

    def _layout(self) -> BlockLayout:
        header = os.pread(self._descriptor, _HEADER.size, 0)
        if len(header) < _HEADER.size:
            raise BadBlockFile("the file is shorter than the header of a block file")
        magic, version, block_bytes, slot_bytes, blocks, records = _HEADER.unpack(header)
        if (magic, version, slot_bytes) != (_MAGIC, _VERSION, SLOT_BYTES):
            raise BadBlockFile("the file is not a block file of version 1")
        if block_bytes < BLOCK_BYTES_MIN or block_bytes % SLOT_BYTES:
            raise BadBlockFile(f"the header has the block size {block_bytes}")
        layout = BlockLayout(block_bytes, records)
        if blocks != layout.dictionary_blocks:
            raise BadBlockFile(f"the header has {blocks} blocks of dictionary")
        if os.fstat(self._descriptor).st_size != layout.size_bytes:
            raise BadBlockFile(
                f"the file does not have the {layout.size_bytes} bytes that its header gives"
            )
        return layout

    def _dictionary(self) -> dict[int, int]:
        """Id → position of the record after the start of the data."""
        layout = self.layout
        used = layout.entries_per_block * _ENTRY.size
        entries = (
            entry
            for block in self._dictionary_blocks()
            for entry in _ENTRY.iter_unpack(block[:used])
        )
        return {
            record_id: block * layout.block_bytes + offset
            for record_id, block, offset in islice(entries, layout.records)
        }

    def _dictionary_blocks(self) -> Iterator[bytes]:
        with os.fdopen(os.dup(self._descriptor), "rb", _READ_BYTES) as file:
            file.seek(self.layout.block_bytes)
            for _ in range(self.layout.dictionary_blocks):
                yield file.read(self.layout.block_bytes)
