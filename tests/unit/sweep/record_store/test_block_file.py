"""Block file: the documented layout, byte for byte, and files that are none."""

import os
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bucketsum_lab.workloads.records.block_file import (
    SLOT_BYTES,
    BadBlockFile,
    BlockFile,
    BlockLayout,
    write_block_file,
)
from bucketsum_lab.workloads.records.data_set import DataSet, WrongRecord, id_of, queries, verify

BLOCK_SIZES = st.integers(4, 40).map(lambda slots: slots * SLOT_BYTES)


def pieces(content: bytes, size_bytes: int) -> Iterator[bytes]:
    """*content* as a connection brings it: records are cut anywhere."""
    return (content[at : at + size_bytes] for at in range(0, len(content), size_bytes))


def written(path: Path, data_set: DataSet, block_bytes: int, piece_bytes: int = 1_000) -> bytes:
    """The block file of *data_set*."""
    content = b"".join(data_set.chunks())
    layout = BlockLayout(block_bytes, data_set.records)
    write_block_file(path, layout, pieces(content, piece_bytes))
    return path.read_bytes()


@given(st.integers(1_000, 30_000), BLOCK_SIZES, st.integers(1, 2_000))
@settings(max_examples=40)
def test_each_record_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, size_bytes: int, block_bytes: int, piece_bytes: int
) -> None:
    """With blocks of any size, and downloads that cut records anywhere."""
    path = tmp_path_factory.mktemp("blocks") / "file"
    data_set = DataSet(size_bytes)
    written(path, data_set, block_bytes, piece_bytes)
    with closing(BlockFile(path)) as file:
        for record_id in queries(data_set.records, data_set.records):
            verify(file.record(record_id), record_id)
        with pytest.raises(WrongRecord):
            file.record(id_of(data_set.records))


def test_the_layout_is_as_documented(tmp_path: Path) -> None:
    """A reader in another language depends on each of these bytes."""
    data_set = DataSet(10_000)
    data = written(tmp_path / "file", data_set, 512)
    records = b"".join(data_set.chunks()).splitlines(keepends=True)
    dictionary_blocks = -(-len(records) // 42)
    header = struct.unpack_from("<8sIIIIQ", data)
    assert header == (b"BSRECORD", 1, 512, 128, dictionary_blocks, len(records))
    assert data[struct.calcsize("<8sIIIIQ") : 512].strip(b"\0") == b""
    start = 512 * (1 + dictionary_blocks)
    assert len(data) == start + 512 * -(-len(records) // 4)
    for number, record in enumerate(records):
        place = 512 * (1 + number // 42) + 12 * (number % 42)
        entry = struct.unpack_from("<III", data, place)
        assert entry == (id_of(number), number // 4, number % 4 * 128)
        place = start + 512 * entry[1] + entry[2]
        assert data[place : place + 128] == record.ljust(128, b"\0")


def test_a_block_that_is_held_is_not_read_again(tmp_path: Path) -> None:
    """Records that follow each other in a block cost one read (Fernandez and Turner, 2023)."""
    data_set = DataSet(10_000)
    written(tmp_path / "file", data_set, 512)
    reads = mock.patch("os.pread", wraps=os.pread)
    with closing(BlockFile(tmp_path / "file")) as file, reads as pread:
        for number in (0, 1, 2, 3, 4, 0):
            file.record(id_of(number))
    assert pread.call_count == 3


def damaged(data: bytes) -> dict[str, bytes]:
    """Files that are not complete block files."""
    return {
        "shorter than the header": data[:20],
        "not a block file": b"X" + data[1:],
        "not a block file of version 1": data[:8] + b"\x02" + data[9:],
        "block size 513": data[:12] + struct.pack("<I", 513) + data[16:],
        "blocks of dictionary": data[:20] + struct.pack("<I", 9_999) + data[24:],
        "bytes that its header gives": data[:-1],
    }


@pytest.mark.parametrize("reason", damaged(bytes(512)))
def test_other_files_are_refused(tmp_path: Path, reason: str) -> None:
    """A truncated or a foreign file has a named outcome."""
    data = written(tmp_path / "file", DataSet(10_000), 512)
    (tmp_path / "file").write_bytes(damaged(data)[reason])
    with pytest.raises(BadBlockFile, match=reason):
        BlockFile(tmp_path / "file")


@pytest.mark.parametrize("change", [-1, 1])
def test_another_number_of_records_is_refused(tmp_path: Path, change: int) -> None:
    """The dictionary has room for the records that the data set promised."""
    data_set = DataSet(10_000)
    layout = BlockLayout(512, data_set.records + change)
    with pytest.raises(WrongRecord, match=f"has {data_set.records} records"):
        write_block_file(tmp_path / "file", layout, data_set.chunks())


def test_a_data_set_that_ends_in_a_record_is_refused(tmp_path: Path) -> None:
    """As after a download that was cut off."""
    data_set = DataSet(10_000)
    content = b"".join(data_set.chunks())[:-1]
    with pytest.raises(WrongRecord, match="in the middle of a record"):
        write_block_file(tmp_path / "file", BlockLayout(512, data_set.records), [content])
