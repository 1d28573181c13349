"""Directories that contradict the file: each listed member has a row, or the status says why."""

import random
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from tests.support.archive_reading import Read
from tests.support.archive_rules import read_stream
from tests.support.sha1 import sha1_of
from tests.support.zip_maker import Part, archive_of, named

from bucketsum.archives.zip_model import Problem
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus

InMode = Callable[..., Read]

CONTENTS: Final = {"a": b"first", "b": b"the second", "c": b"3"}
PARTS: Final = [named(name, content) for name, content in CONTENTS.items()]
ABC: Final = archive_of(*PARTS)
OFFSETS: Final = [ABC.index(b"PK\3\4" + b"\x14"), ABC.index(b"PK\3\4", 1), ABC.rindex(b"PK\3\4")]
DIGESTS: Final = {name: sha1_of(content) for name, content in CONTENTS.items()}
NOISE: Final = random.Random(48).randbytes(70_000)  # noqa: S311 - the same each time


@pytest.fixture(params=[Mode.STREAM, Mode.TMP])
def in_mode(request: pytest.FixtureRequest, tmp_path: Path) -> InMode:
    """Reads an archive in each mode that can be deployed."""
    return partial(Read, mode=request.param, root=tmp_path)


def of_names(read: Read) -> dict[str, str | None]:
    """Path → SHA-1, without numbers of duplicates."""
    return {path.partition("~")[0]: sha1 for path, sha1 in read.digests.items()}


def swapped(*parts: Part) -> bytes:
    """An archive of two members whose offsets are exchanged in the directory."""
    whole = archive_of(*parts)
    return archive_of(
        replace(parts[0], offset=whole.index(b"PK\3\4", 1)), replace(parts[1], offset=0)
    )


@pytest.mark.parametrize("method", [0, 8])
@pytest.mark.parametrize("contents", [(b"first", b"second!"), (b"equal", b"EQUAL"), (b"", b"full")])
def test_another_members_header_is_no_claim(
    contents: tuple[bytes, bytes], method: int, in_mode: InMode
) -> None:
    """A member never gets what another local header says; the directory's CRC-32 alone confirms."""
    parts = [replace(named(name, content), method=method if content else 0)
             for name, content in zip("ab", contents, strict=True)]  # fmt: skip
    read = in_mode(swapped(*parts))
    for part in parts:
        assert read.digests[part.name.decode()] in (None, sha1_of(part.content))
    assert len(read.digests) == 2


def cut_with_nested(method: int, inner: bytes, cut: int = 10) -> bytes:
    """An archive with another in it, of which *cut* bytes of the third member are left."""
    outer = archive_of(
        named("letter.txt"), Part(b"inner.zip", inner, method), named("third", NOISE)
    )
    return outer[: outer.rindex(b"PK\3\4") + 30 + len("third") + cut]


INNER: Final = archive_of(named("deep", NOISE))
SMALL: Final = archive_of(named("deep", NOISE[:500]))


@pytest.mark.parametrize("inner", [INNER, SMALL, archive_of()], ids=["large", "small", "empty"])
@pytest.mark.parametrize("method", [0, 8])
def test_cut_archive_is_not_the_archive_in_it(method: int, inner: bytes, in_mode: InMode) -> None:
    """A directory counts if local headers of its own members are where it says."""
    read = in_mode(cut_with_nested(method, inner))
    assert read.contents.status is ArchiveStatus.TRUNCATED
    assert set(read.digests) == {"letter.txt", "inner.zip", "third"}
    assert read.digests["inner.zip"] == sha1_of(inner)
    assert read.problems == {"third": Problem.WRONG_SIZE}


@pytest.mark.parametrize(
    "bogus", [b"PK\5\6" + NOISE[:300], b"PK\5\6" + bytes(18) + NOISE[:9], b"PK\5\6PK\5\6" * 20]
)
def test_four_bytes_are_no_end_of_a_volume(bogus: bytes, in_mode: InMode) -> None:
    """A program that reads zip archives has their signature: the archive around it is cut off."""
    data = archive_of(*PARTS, named("unzip", bogus + NOISE))
    read = in_mode(data[: data.index(bogus) + len(bogus) + 5_000])
    assert read.contents.status is ArchiveStatus.TRUNCATED
    assert read.digests == {**DIGESTS, "unzip": None}


def test_last_end_that_can_be_true_counts(in_mode: InMode) -> None:
    """Bytes after an archive may have the signature too."""
    read = in_mode(ABC + b"\nPK\5\6" + NOISE[:300])
    assert read.contents.status is ArchiveStatus.READ
    assert read.digests == DIGESTS


@pytest.mark.parametrize("lost", [1, OFFSETS[1], OFFSETS[1] + 7, OFFSETS[2]])
@pytest.mark.parametrize("at", [0, 10, 30])
def test_member_before_lost_bytes_has_a_row(at: int, lost: int, in_mode: InMode) -> None:
    """The beginning of an archive is lost: what lay there is damaged, and nothing is left out."""
    data = ABC[:at] + ABC[at + lost :]
    read = in_mode(data)
    assert read.contents.status is ArchiveStatus.READ
    assert set(read.digests) == {*CONTENTS}
    assert read.digests["c"] == DIGESTS["c"]
    assert read.problems["a"] == Problem.DAMAGED


@pytest.mark.parametrize("local", [
    {"compressed": 14, "size": 14, "crc32": zlib.crc32(b"hidden content")},
    {"compressed": 14, "size": 14}, {"compressed": 14}, {"size": 14}, {"flags": 8},
    {"name": b"evil", "compressed": 14, "size": 14, "crc32": zlib.crc32(b"hidden content")},
])  # fmt: skip
def test_folder_is_empty_in_both_headers(local: dict[str, int | bytes], in_mode: InMode) -> None:
    """Content behind an entry of a folder has a row, and a remark."""
    evil = Part(b"evil/", b"", data=b"hidden content" + bytes(12), compressed_bytes=0, local=local)
    read = in_mode(archive_of(PARTS[0], evil, PARTS[2]))
    assert set(read.digests) == {"a", "evil/", "c"}
    assert "contradictory" in read.remarks["evil/"]
    honest = replace(evil, data=bytes(12), local={"flags": 8})
    assert set(in_mode(archive_of(honest, PARTS[2])).digests) == {"c"}


def test_content_behind_a_folder_is_hashed(in_mode: InMode) -> None:
    """As another program extracts it, by the local header."""
    local: dict[str, int | bytes] = {"compressed": 6, "size": 6, "crc32": zlib.crc32(b"hidden")}
    evil = Part(b"evil/", b"", data=b"hidden", compressed_bytes=0, local=local)
    assert in_mode(archive_of(evil)).digests == {"evil/": sha1_of(b"hidden")}


@pytest.mark.parametrize("attributes", [0x10, 0x4000_0000, 0o40755 << 16 | 0x10])
def test_file_with_attributes_of_a_folder_is_remarked(attributes: int, in_mode: InMode) -> None:
    """Other programs extract nothing."""
    read = in_mode(archive_of(replace(named("test", b"1234"), attributes=attributes)))
    assert read.digests == {"test": sha1_of(b"1234")}
    assert read.remarks == {"test": ("marked-as-folder",)}


def as_comment(data: bytes, comment: bytes) -> bytes:
    """*data* with this comment."""
    return data[:-2] + struct.pack("<H", len(comment)) + comment


STREAMED: Final = replace(
    named("old", NOISE), flags=8, local={"crc32": 0, "compressed": 0, "size": 0},
    after=b"PK\7\x08" + struct.pack("<LLL", zlib.crc32(NOISE), len(NOISE), len(NOISE)),
)  # fmt: skip


@pytest.mark.parametrize("before", [
    archive_of(named("old")), as_comment(archive_of(named("old")), b"comment"),
    archive_of(named("old")) + b"junk\n" * 20_000, archive_of(STREAMED) + b"\n",
    archive_of(named("old"))[:36] + b"between",
])  # fmt: skip
def test_archive_behind_another_is_the_files(before: bytes, in_mode: InMode) -> None:
    """If its members are where its directory says, the others are unlisted ones in front."""
    read = in_mode(before + ABC)
    assert (read.contents.status, read.contents.remarks) == (ArchiveStatus.READ, ("prefixed",))
    assert {**read.digests, "old": None} == {**DIGESTS, "old": None}
    assert read.remarks == {"old": ("unlisted",)}


@pytest.mark.parametrize("bit", range(32))
@pytest.mark.parametrize("prefix", [b"", b"#!/bin/sh\n", b"MZ" + bytes(70_000)])
@pytest.mark.parametrize("field", [12, 16])
def test_damaged_end_record_costs_no_member(
    field: int, prefix: bytes, bit: int, in_mode: InMode
) -> None:
    """Local headers are the better source if none is where the directory says."""
    data = bytearray(archive_of(*PARTS, prefix=prefix))
    data[len(data) - 22 + field + bit // 8] ^= 1 << bit % 8
    read = in_mode(bytes(data))
    assert read.digests == DIGESTS
    assert read.contents.status is ArchiveStatus.BROKEN or read.contents.remarks


def test_offset_beyond_the_file_stops_nothing(in_mode: InMode) -> None:
    """The end of the file inside of a claim is the claim's problem."""
    parts = [named(f"{number}", NOISE) for number in range(6)]
    parts[5] = replace(parts[5], content=NOISE * 20, local={"compressed": 0xFFFF_FFFF})
    parts[2] = replace(parts[2], offset=0x8000_0000)
    read = in_mode(archive_of(*parts))
    assert read.contents.status is ArchiveStatus.READ, read.contents.reason
    assert read.problems == {"2": Problem.DAMAGED}
    assert len(read.digests) == 6


@pytest.mark.parametrize("size", [0, 47, 48, 93, 94, 140, 142, 500])
def test_wrong_size_of_the_directory_is_remarked(size: int, in_mode: InMode) -> None:
    """Python and unzip list other members by it."""
    read = in_mode(archive_of(*PARTS, end={"size": size}))
    assert (read.digests, read.contents.remarks) == (DIGESTS, ("wrong-size",))


@pytest.mark.parametrize("before", [1, 11, 29, 30, 31, 60])
def test_both_modes_name_the_same_problem(before: int, tmp_path: Path) -> None:
    """An offset may lie inside of anything."""
    start = ABC.index(b"PK\1\2")
    data = archive_of(*PARTS, replace(named("d"), offset=start - before))
    first, second = (Read(data, mode, root=tmp_path) for mode in (Mode.STREAM, Mode.TMP))
    assert [*map(repr, first.members)] == [*map(repr, second.members)]
    assert set(first.digests) == {*CONTENTS, "d"}


def test_members_behind_a_contradicted_directory_are_found(in_mode: InMode) -> None:
    """Of two directories, local headers name what either lacks, wherever it lies."""
    first = archive_of(*PARTS[:2])
    third = archive_of(PARTS[2])
    entry, start = third[third.index(b"PK\1\2") : -22], len(first) - 22
    entry = entry[:42] + struct.pack("<L", start) + entry[46:]
    body = first[:start] + third[: third.index(b"PK\1\2")]
    wide = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(entry), len(body))
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(body + entry), 1)
    read = in_mode(body + entry + wide + locator + first[start:])
    assert read.contents.status is ArchiveStatus.BROKEN
    assert read.digests == DIGESTS


def streamed(count: int, method: int, times: int = 9) -> bytes:
    """An archive whose sizes are in data descriptors, without its directory."""
    parts = []
    for number in range(count):
        content = b"%d all work and no play " % number * times
        part = replace(named(f"{number}", content), method=method, flags=8)
        sizes = struct.pack("<LLL", zlib.crc32(content), len(part.compressed()), len(content))
        local: dict[str, int | bytes] = {"crc32": 0, "compressed": 0, "size": 0}
        parts.append(replace(part, after=b"PK\7\x08" + sizes, local=local))
    data = archive_of(*parts)
    return data[: data.index(b"PK\1\2")]


@pytest.mark.parametrize("method", [0, 8])
@pytest.mark.parametrize("known", [True, False])
def test_any_bit_of_a_cut_archive_costs_one_member(method: int, *, known: bool) -> None:
    """Wherever it is in the second of three: in headers, names, content and descriptors."""
    if known:
        parts = [
            replace(named(f"{n}", b"%d all work and" % n * 5), method=method) for n in range(3)
        ]
        data = archive_of(*parts)
        data = data[: data.index(b"PK\1\2")]
    else:
        data = streamed(3, method, times=3)  # of more than a chunk
    for bit in range(8 * data.index(b"PK\3\4", 1), 8 * data.rindex(b"PK\3\4")):
        if not (known or method) and (bit // 8 - data.rindex(b"PK\3\4", 0, bit // 8 + 1)) in range(
            26, 30
        ):
            continue  # of a length: nothing else says where stored content without sizes ends
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        read = Read(bytes(flipped))
        assert read.members == read_stream(bytes(flipped), 61)[1], "chunks never matter"
        assert sum(digest is not None for digest in read.digests.values()) >= 2, bit
        assert read.contents.status is ArchiveStatus.TRUNCATED


def test_descriptor_behind_known_sizes_has_the_crc() -> None:
    """Bit 3 says that values may follow; Info-ZIP writes sizes in front, and the CRC-32 behind."""
    data = streamed(3, 0)
    contents = [b"%d all work and no play " % number * 9 for number in range(3)]
    for number, content in enumerate(contents):
        sizes = struct.pack("<LL", len(content), len(content))
        at = data.index(b"%d" % number + content) - 12
        data = data[:at] + sizes + data[at + 8 :]
    assert Read(data).digests == {f"{n}": sha1_of(content) for n, content in enumerate(contents)}


@pytest.mark.parametrize("method", [0, 8, 9, 12, 14, 93])
def test_nothing_is_not_the_content_of_a_stream(method: int) -> None:
    """A header without sizes is believed only if another follows at once, and nothing is stored."""
    empty = Part(b"empty", b"", method, data=b"")
    data = archive_of(empty, replace(empty, name=b"full", data=b"\xffcontent"), PARTS[0])
    read = Read(data[: data.index(b"PK\1\2")])
    assert read.digests["a"] == DIGESTS["a"]
    assert read.digests["empty"] == (None if method else sha1_of(b""))
    assert read.digests["full"] is None


def test_cleared_bit_of_a_streamed_member_costs_nothing() -> None:
    """A compressed stream knows its own end."""
    data = bytearray(streamed(3, 8))
    data[data.index(b"PK\3\4", 1) + 6] ^= 8
    assert all(Read(bytes(data)).digests.values())
