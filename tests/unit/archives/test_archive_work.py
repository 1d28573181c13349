"""No archive takes more work than its bytes allow: its own SHA-1 is recorded in any case."""

from __future__ import annotations

import struct
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest
from tests.support.archive_rules import opened
from tests.support.sha1 import sha1_of
from tests.support.zip_maker import Part, archive_of, named

from bucketsum.archives.archive_reader import ArchiveReader
from bucketsum.digest import RunningDigest
from bucketsum.table.archive_settings import ArchiveSettings, Limits, Mode
from bucketsum.table.archive_status import ArchiveStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import FrameType

    from _typeshed import TraceFunction

    from bucketsum.table.row_parts import ArchiveRecord

STEPS_PER_BYTE: Final = 12
STEPS: Final = 20_000
ONE: Final = archive_of(named("a", b"x"))
ENTRY: Final = ONE[32:-22]
FIELDS: Final = struct.pack("<HH", 0xCAFE, 0) * 15_000


def with_directory(entries: bytes, members: bytes = ONE[:32]) -> bytes:
    """An archive with these entries, and an end record that names them."""
    end = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, 1, 1, len(entries), len(members), 0)
    return members + entries + end


def entry(name: bytes, extra: int = 0, offset: int = 0) -> bytes:
    """An entry with this name, and a length of extra fields that it need not have."""
    head = struct.pack("<4s4B4HLLLHHHHHLL", b"PK\1\2", 20, 3, 20, 0, *[0] * 4, 0, 1, 1,
                       len(name), extra, 0, 0, 0, 0, offset)  # fmt: skip
    return head + name


def header(name: int, extra: int, compressed: int = 0, flags: int = 0) -> bytes:
    """The fixed part of a local header, with any lengths."""
    return struct.pack(
        "<4sHHHHHLLLHH", b"PK\3\4", 20, flags, 8, 0, 0, 0, compressed, 0, name, extra
    )


def one_offset(count: int) -> bytes:
    """Entries of one member, whose local header has long names and fields."""
    extra = bytes(65_520) + struct.pack("<HHBL", 0x7075, 5, 1, 0)
    name = "é".encode() * 32_767
    local: dict[str, int | bytes] = {"name": name, "extra": extra}
    parts = [replace(named(f"{number}", b"x"), offset=0) for number in range(count)]
    return archive_of(replace(parts[0], local=local), *parts[1:])


SHAPES: dict[str, Callable[[int], bytes]] = {
    "entries whose fields reach over others": lambda count: with_directory(
        (entry(bytes(40) + b"0" + bytes(51), 65_535)) * count
    ),
    "signatures of entries": lambda count: with_directory(b"PK\1\2" * count * 20),
    "fields of an entry": lambda count: with_directory(
        (entry(b"a", len(FIELDS)) + FIELDS) * (count // 100)
    ),
    "entries of one member": one_offset,
    "entries inside of members": lambda count: archive_of(
        named("a", header(65_535, 65_535) * count),
        *(replace(named(f"{number}"), offset=31 + 30 * number) for number in range(count)),
    ),
    "end records": lambda count: with_directory(ENTRY) + b"PK\5\6" * count * 45,
    "local headers": lambda count: header(65_535, 65_535) * count * 2,
    "headers of members": lambda count: header(0, 0, 1, 8) * count,
    "data descriptors": lambda count: header(0, 0, 0, 8) + b"PK\7\x08" * count * 20,
    "names in slashes": lambda count: with_directory(entry(b"a/" * 20) * count),
}


def read_in_steps(
    data: bytes, mode: Mode, root: Path, *, in_time: Callable[[], bool] = lambda: True
) -> tuple[ArchiveRecord, int]:
    """The summary of *data*, and the lines of Python that reading it takes."""
    steps = 0

    def trace(_: FrameType, event: str, __: object) -> TraceFunction:
        nonlocal steps
        steps += event == "line"
        return trace

    digest = RunningDigest()
    settings = ArchiveSettings(mode, Limits(members=10_000), threads=1)
    archive = opened(data, ArchiveReader(settings, root))
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for _ in archive.members(iter([data]), digest, in_time):
            continue
    finally:
        sys.settrace(before)
    assert digest.digest().sha1 == sha1_of(data)
    return archive.summary, steps


@pytest.mark.parametrize("mode", [Mode.STREAM, Mode.TMP])
@pytest.mark.parametrize("shape", SHAPES)
def test_work_is_linear_in_the_bytes(shape: str, mode: Mode, tmp_path: Path) -> None:
    """Each byte costs a little and only once, however often it is claimed."""
    data = SHAPES[shape](400)
    _, steps = read_in_steps(data, mode, tmp_path)
    assert steps < STEPS_PER_BYTE * len(data) + STEPS


@pytest.mark.parametrize("mode", [Mode.STREAM, Mode.TMP])
@pytest.mark.parametrize("shape", SHAPES)
def test_time_that_is_up_ends_all_work(shape: str, mode: Mode, tmp_path: Path) -> None:
    """Every loop over an archive's bytes asks for the time, also those without any member."""
    summary, few = read_in_steps(SHAPES[shape](400), mode, tmp_path, in_time=lambda: False)
    _, many = read_in_steps(SHAPES[shape](4000), mode, tmp_path, in_time=lambda: False)
    assert many < few + STEPS
    if summary.status is not ArchiveStatus.OUT_OF_TIME:  # nothing was left to do
        assert few < STEPS


def test_the_first_chunk_is_hashed_before_the_directory_is_read() -> None:
    """Time is judged by it, and no directory can keep an archive from being read."""
    order: list[str] = []

    def chunks() -> Iterator[bytes]:
        order.append("chunk")
        yield ONE

    def read(offset: int, length: int) -> bytes:
        assert digest.digest().sha1 == sha1_of(ONE)
        order.append("range")
        return ONE[offset : offset + length]

    digest = RunningDigest()
    archive = ArchiveReader(ArchiveSettings(Mode.STREAM)).open(read, len(ONE))
    assert [member.path for member in archive.members(chunks(), digest)] == ["a"]
    assert order == ["chunk", "range"]


def test_dear_directory_of_a_small_archive_leaves_its_members() -> None:
    """Of a directory with odd bytes in front, the entries behind them are still read."""
    junk = entry(bytes(92), 65_535) * 400
    part = Part(b"b", b"y")
    data = with_directory(junk + ENTRY, archive_of(part)[:32])
    archive = opened(data)
    assert list(archive.members(iter([data]), RunningDigest()))
    assert archive.summary.status is ArchiveStatus.BROKEN
