"""Every kind of hostile or damaged archive has an outcome with a name, and its own SHA-1."""

import stat
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import shake_128
from pathlib import Path
from typing import Any

import pytest
from tests.support.archive_reading import Read
from tests.support.archive_rules import opened
from tests.support.sha1 import sha1_of
from tests.support.zip_maker import Part, archive_of, deflated, named

from bucketsum.archives import central_directory, directory_entries, member
from bucketsum.archives.zip_model import Problem
from bucketsum.digest import RunningDigest
from bucketsum.table.archive_settings import Limits, Mode
from bucketsum.table.archive_status import ArchiveStatus

InMode = Callable[..., Read]

HELLO = sha1_of(b"hello")
ZEROS = bytes(80_000_000)
BOMB = Part(name=b"bomb", content=ZEROS, method=8)
GOOD = named("good.txt")
ONE = archive_of(GOOD)


@pytest.fixture(params=list(Mode))
def mode(request: pytest.FixtureRequest) -> Mode:
    """Each mode."""
    return Mode(request.param)


@pytest.fixture
def in_mode(mode: Mode, tmp_path: Path) -> InMode:
    """Reads an archive in this mode."""
    return partial(Read, mode=mode, root=tmp_path)


STOPPED: dict[str, tuple[bytes, ArchiveStatus]] = {
    "empty object": (b"", ArchiveStatus.NOT_AN_ARCHIVE),
    "text": (b"hello" * 100, ArchiveStatus.NOT_AN_ARCHIVE),
    "gzip": (b"\x1f\x8b" + bytes(300), ArchiveStatus.NOT_AN_ARCHIVE),
    "last of several volumes": (
        archive_of(replace(GOOD, offset=5_000), end={"disk": 1}), ArchiveStatus.SPLIT,
    ),
    "first of several volumes": (b"PK\7\x08" + bytes(100), ArchiveStatus.SPLIT),
}  # fmt: skip


@pytest.mark.parametrize("kind", STOPPED)
def test_what_has_no_members_is_named(kind: str, tmp_path: Path, in_mode: InMode) -> None:
    """It has a status, and no members that could be wrong."""
    data, status = STOPPED[kind]
    read = in_mode(data)
    assert read.contents.status is status
    assert read.contents.reason is not None
    assert read.contents.reason.startswith(f"{status}: ")
    assert read.members == []
    assert list(tmp_path.iterdir()) == []


def around(odd: Part, **options: Any) -> bytes:  # noqa: ANN401 - those of `archive_of`
    """An archive with *odd* between two others."""
    return archive_of(named("before"), odd, named("after"), **options)


def local(**lie: int | bytes) -> bytes:
    """An archive whose second member's local header is a lie."""
    return around(replace(named("odd"), local=lie))


def zip64(ends: bytes, **end: int) -> bytes:
    """An archive of `GOOD` whose Zip64 records are *ends*."""
    data = archive_of(GOOD, end={"entries": 0xFFFF, **end})
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(data) - 22, 1)
    return data[:-22] + ends + locator + data[-22:]


def sharing(odd: Part) -> bytes:
    """An archive in which *odd* and the member after it share two bytes."""
    parts = [named("before"), odd, named("after")]
    at = archive_of(*parts).index(b"PKPK")
    end = {"offset": archive_of(*parts).index(b"PK\1\2") - 2}
    data = archive_of(*parts[:2], replace(parts[2], offset=at), end=end)
    return data[:at] + data[at + 2 :]


TWICE = around(named("odd"), order=[0, 1, 2, 1])
ENTRY_BYTES = 46 + len("odd")
ODD: dict[str, tuple[bytes, tuple[str, ...], tuple[str, ...]]] = {
    "method": (local(method=8), (), ("contradictory",)),
    "CRC-32": (local(crc32=1), (), ("contradictory",)),
    "size": (local(size=6), (), ("contradictory",)),
    "compressed size": (local(compressed=4), (), ("contradictory",)),
    "encryption": (local(flags=1), (), ("contradictory",)),
    "bits that go with encryption": (around(replace(named("odd"), flags=0x2040)), (), ()),
    "sizes only in the directory": (
        local(crc32=0, size=0, compressed=0), (), ("contradictory",),
    ),
    "nothing in the directory": (
        around(replace(named("odd"), crc32=0, size=0, compressed_bytes=0,
                       local={"crc32": zlib.crc32(b"hello"), "size": 5, "compressed": 5})),
        (), ("contradictory",),
    ),
    "another name": (local(name=b"ODD"), (), ("other-name",)),
    "a longer name": (local(name=b"much/longer.txt"), (), ("other-name",)),
    "size too small": (around(replace(named("odd"), size=3)), (), ("wrong-size",)),
    "size too large": (around(replace(named("odd"), size=9)), (), ("wrong-size",)),
    "listed twice": (TWICE, ("listed-twice",), ()),
    "count too large": (around(named("odd"), end={"entries": 4}), ("wrong-count",), ()),
    "count beyond the limit": (around(named("odd"), end={"entries": 65_534}), ("wrong-count",), ()),
    "count too small": (around(named("odd"), end={"entries": 2}), ("wrong-count",), ()),
    "directory size": (around(named("odd"), end={"size": 10_000}), ("wrong-size",), ()),
    "directory offset": (around(named("odd"), end={"offset": 9_999}), ("wrong-offset",), ()),
    "number of the volume": (around(named("odd"), end={"disk": 7}), ("split",), ()),
    "signed": (
        TWICE.replace(b"PK\5\6", b"PK\5\5\4\0sign" + b"PK\5\6"), ("listed-twice",), (),
    ),
    "two bytes too many": (
        sharing(Part(b"odd", b"hello", 8, data=deflated(b"hello") + b"PK")), (), ("overlapping",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
def test_odd_archive_is_read(kind: str, in_mode: InMode) -> None:
    """Each oddity is a remark, and every member has its SHA-1."""
    data, of_archive, of_member = ODD[kind]
    read = in_mode(data)
    assert read.contents.status is ArchiveStatus.READ, read.contents.reason
    assert read.digests == {"before": HELLO, "odd": HELLO, "after": HELLO}
    assert (read.contents.remarks, read.remarks.get("odd", ())) == (of_archive, of_member)


def test_offset_beyond_the_file_gives_no_room(in_mode: InMode) -> None:
    """A member before it ends where the directory begins, whatever its local header says."""
    last = replace(named("last"), local={"compressed": 50_000})
    read = in_mode(archive_of(GOOD, last, replace(named("beyond"), offset=0xF000_0000)))
    assert read.contents.status is ArchiveStatus.READ, read.contents.reason
    assert read.digests == {"good.txt": HELLO, "last": HELLO, "beyond": None}


def test_members_may_share_less_than_a_header(in_mode: InMode) -> None:
    """Two bytes that a member needs are read twice; they are too few for another member."""
    read = in_mode(sharing(Part(b"odd", b"hiPK")), chunk_bytes=1)
    assert read.digests == {"before": HELLO, "odd": sha1_of(b"hiPK"), "after": HELLO}
    assert read.remarks == {"odd": ("overlapping",)}


@pytest.mark.parametrize("at", [100, 3_017, 6_100])
@pytest.mark.parametrize("edit", [-1, 1, 2])
def test_lost_or_added_bytes_are_one_members_problem(edit: int, at: int, in_mode: InMode) -> None:
    """After a transfer that changed line ends, the offsets after them are wrong."""
    data = archive_of(*(named(f"{number:03}", b"%d" % number) for number in range(200)))
    data = data[: at + min(edit, 0)] + b"x" * max(edit, 0) + data[at:]
    read = in_mode(data)
    assert sum(digest is not None for digest in read.digests.values()) >= 198
    assert read.contents.remarks == ("wrong-offset",)


@pytest.mark.parametrize("bit", range(0, 240, 7))
def test_damaged_header_is_one_members_problem(bit: int, in_mode: InMode) -> None:
    """Of 200 members, at most the one with the flipped bit is unreadable."""
    data = bytearray(archive_of(*(named(f"{number:03}", b"%d" % number) for number in range(200))))
    data[data.index(b"PK\3\4", 3000) + bit // 8] ^= 1 << bit % 8
    read = in_mode(bytes(data))
    assert read.contents.status is ArchiveStatus.READ
    assert sum(digest is not None for digest in read.digests.values()) >= 199


def quoting(count: int) -> bytes:
    """A zip bomb whose members each begin with a quote of the next one's header."""
    parts = [Part(b"last", bytes(9_000), 8)]
    compressed = len(parts[0].compressed())
    for number in range(count):
        header = archive_of(parts[0])[: 30 + len(parts[0].name)]
        quote = b"\0" + struct.pack("<HH", len(header), len(header) ^ 0xFFFF)
        compressed += len(quote + header)
        content = header + parts[0].content
        name = b"%d" % number
        parts.insert(0, Part(name, content, 8, data=quote, compressed_bytes=compressed))
    return archive_of(*parts)


SHARED: dict[str, bytes] = {
    "other names": archive_of(*(replace(named(f"{n}"), offset=0) for n in range(3))),
    "quotes of the next": quoting(50),
}


@pytest.mark.parametrize("kind", SHARED)
def test_members_that_share_bytes_lose_theirs(kind: str, in_mode: InMode) -> None:
    """Of members on the same bytes at most one is read, as in other programs."""
    read = in_mode(SHARED[kind])
    assert len([digest for digest in read.digests.values() if digest]) <= 1
    assert set(read.problems.values()) == {Problem.OVERLAPPING}


def test_bomb_stops_at_the_ratio(mode: Mode, tmp_path: Path, in_mode: InMode) -> None:
    """80 MB from 78 kB end the reading, though headers told it; what came before stays."""
    read = in_mode(archive_of(GOOD, BOMB))
    assert read.contents.status is ArchiveStatus.TOO_DENSE
    assert read.contents.member_bytes < 70_000_000
    assert list(tmp_path.iterdir()) == []
    if mode is Mode.STREAM:  # elsewhere the largest member comes first
        assert read.digests == {"good.txt": HELLO}


def test_output_is_counted_and_not_believed(in_mode: InMode) -> None:
    """A member that comes to more than its headers say stops there, and the others are read."""
    liar = replace(BOMB, size=1_000)
    read = in_mode(archive_of(liar, GOOD))
    assert read.problems == {"bomb": Problem.WRONG_SIZE}
    assert read.digests["good.txt"] == HELLO
    assert read.contents.member_bytes < 1_000_000


def test_total_is_limited(in_mode: InMode) -> None:
    """Many small members stop at the total, as one large one does."""
    parts = [named(f"{number}", b"x" * 1_000) for number in range(20)]
    limits = Limits(total_bytes=10_500)
    read = in_mode(archive_of(*parts), limits=limits)
    assert read.contents.status is ArchiveStatus.TOO_LARGE
    assert "ArchiveMaxTotalBytes" in (read.contents.reason or "")
    assert len(read.members) <= 10


@pytest.mark.parametrize(
    ("members", "name_bytes", "entries"), [(20, 0, 20), (20, 0, 4), (2, 60_000, 2)]
)
def test_member_count_is_limited(members: int, name_bytes: int, entries: int) -> None:
    """Members are counted in it, whatever the end says; long names do not fill the memory."""
    parts = [named(f"{number}" + "n" * name_bytes) for number in range(members)]
    read = Read(archive_of(*parts, end={"entries": entries}), limits=Limits(members=10))
    assert read.contents.status is ArchiveStatus.TOO_MANY_MEMBERS
    assert read.members == []


MEMBERS: dict[str, tuple[Part, Problem]] = {
    "wrong CRC": (replace(GOOD, crc32=7), Problem.WRONG_CRC),
    "smaller than told": (replace(GOOD, size=9, crc32=7), Problem.WRONG_SIZE),
    "larger than told": (replace(GOOD, size=3, crc32=7), Problem.WRONG_SIZE),
    "no local header": (replace(GOOD, local={"signature": b"PK\x03\x05"}), Problem.DAMAGED),
    "behind the directory": (replace(GOOD, offset=5_000), Problem.DAMAGED),
    "not deflate at all": (replace(GOOD, method=8, data=b"\xff" * 40), Problem.DAMAGED),
    "cut deflate": (
        replace(GOOD, content=b"hello" * 99, method=8, data=deflated(b"hello" * 99)[:-4]),
        Problem.DAMAGED,
    ),
    "nothing where deflate should be": (replace(GOOD, method=8, data=b""), Problem.DAMAGED),
    "encrypted": (replace(GOOD, flags=1), Problem.ENCRYPTED),
    "strongly encrypted": (replace(GOOD, flags=0x41), Problem.ENCRYPTED),
    "masked header": (
        replace(GOOD, flags=0x2041, local={"crc32": 0, "size": 0, "compressed": 0, "name": b"xxx"}),
        Problem.ENCRYPTED,
    ),
    "unknown method": (replace(GOOD, method=97), Problem.METHOD),
    "not bzip2": (replace(GOOD, method=12, data=b"BZh9" + b"x" * 40), Problem.DAMAGED),
    "not LZMA": (replace(GOOD, method=14, data=b"\x10\x05\x05\0\xff" + b"x" * 40), Problem.DAMAGED),
    "cut LZMA header": (replace(GOOD, method=14, data=b"\x10\x05\x05"), Problem.DAMAGED),
    "not Zstandard": (replace(GOOD, method=93, data=b"x" * 40), Problem.DAMAGED),
    "not deflate64": (replace(GOOD, method=9, data=b"\xff" * 40), Problem.DAMAGED),
}  # fmt: skip


@pytest.mark.parametrize("kind", MEMBERS)
def test_member_that_cannot_be_read_is_named(kind: str, in_mode: InMode) -> None:
    """It has its reason, and those before and after it have their digests."""
    part, problem = MEMBERS[kind]
    bad = replace(part, name=b"bad")
    read = in_mode(around(bad))
    assert read.contents.status is ArchiveStatus.READ
    assert read.contents.unreadable == 1
    assert read.digests == {"before": HELLO, "bad": None, "after": HELLO}
    assert read.problems == {"bad": problem}


def test_dictionary_beyond_memory_is_refused() -> None:
    """LZMA tells how far it looks back; what memory does not allow is not allocated."""
    header = b"\x10\x05\x05\x00" + bytes([0x5D]) + (1 << 30).to_bytes(4, "little")
    part = Part(method=14, data=header + b"\0" * 20, size=1 << 30)
    read = Read(archive_of(part), limits=Limits(window_bytes=1 << 20))
    assert read.problems == {"a.txt": Problem.MEMORY}


@pytest.mark.parametrize("cut", [*range(0, 400, 21), *range(420, 500, 3)])
def test_members_of_a_truncated_archive_are_read(cut: int, in_mode: InMode) -> None:
    """Without its end, local headers tell the members; the SHA-1 is of what is there."""
    data = archive_of(*(named(f"{number:020}", bytes(50)) for number in range(5)))[: -1 - cut]
    read = in_mode(data, chunk_bytes=17)
    assert read.contents.status is ArchiveStatus.TRUNCATED
    whole = {path for path, digest in read.digests.items() if digest == sha1_of(bytes(50))}
    assert whole == {f"{number:020}" for number in range(5) if 100 * (number + 1) <= len(data)}
    assert all(remarks == ("unlisted",) for remarks in read.remarks.values())


BROKEN: dict[str, bytes] = {
    "directory beyond the file": around(GOOD, end={"size": 0x7FFFFFFF, "offset": 0x7FFFFFFF}),
    "no entries": around(GOOD, end={"entries": 0, "size": 0x7FFFFFFF, "offset": 0x7FFFFFFF}),
    "a directory of 0 bytes": around(
        GOOD, end={"entries": 1, "size": 0, "offset": len(around(GOOD)) - 22}
    ),
    "nothing": around(GOOD, end={"entries": 0, "size": 0, "offset": 0}),
    "Zip64 end is not there": zip64(b"").replace(b"PK\1\2", b"PK\1\1"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_members_of_a_broken_archive_are_read(kind: str, in_mode: InMode) -> None:
    """If the end record cannot be true, local headers name the members."""
    read = in_mode(BROKEN[kind])
    assert read.contents.status is ArchiveStatus.BROKEN
    assert read.digests["good.txt"] == HELLO
    assert read.remarks["good.txt"] == ("unlisted",)


@pytest.mark.parametrize("cut", [0, 40])
def test_end_of_a_stored_archive_is_not_the_outer_ones(cut: int, in_mode: InMode) -> None:
    """The rest of a truncated archive may end with a whole archive that was its member."""
    data = archive_of(named("before"), named("in.zip", ONE), named("after"))
    data = data[: data.index(b"PK\3\4", data.index(b"PK\5\6")) + cut]
    read = in_mode(data, limits=Limits(depth=1))
    assert read.contents.status is ArchiveStatus.TRUNCATED
    assert read.digests["before"] == read.digests["in.zip!/good.txt"] == HELLO
    assert read.digests["in.zip"] == sha1_of(ONE)


def test_gaps_prefixes_and_any_order_are_read(in_mode: InMode) -> None:
    """Bytes outside of members are passed over, wherever they are."""
    data = archive_of(
        replace(named("a", b"1"), before=b"gap" * 30_000, after=b"PK\x03\x04 not a header"),
        replace(named("b", b"2"), before=b"gap"),
        named("c", b"3"),
        prefix=b"#!/bin/sh\n",
        comment=b"PK\x05\x06" + bytes(30),
        order=[2, 0, 1],
    )
    read = in_mode(data, chunk_bytes=100)
    assert read.contents.status is ArchiveStatus.READ
    assert read.contents.remarks == ("prefixed", "second-end")
    assert read.digests == {"a": sha1_of(b"1"), "b": sha1_of(b"2"), "c": sha1_of(b"3")}


def test_trailing_data_is_remarked() -> None:
    """Bytes behind the end do not keep it from being read, as `unzip` does too."""
    read = Read(archive_of(GOOD) + b"\n\n")
    assert read.contents.remarks == ("trailing-data",)
    assert read.digests == {"good.txt": HELLO}


EMPTY_END = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, 0, 0, 0, len(ONE), 0)
END64 = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(ONE) - 22 - 43, 43)
SECOND_ENDS: dict[str, bytes] = {
    "both fit": ONE[:-2] + struct.pack("<H", len(EMPTY_END)) + EMPTY_END,
    "the outer fits": ONE[:-2] + struct.pack("<H", len(EMPTY_END) + 1) + EMPTY_END + b"\0",
    "neither fits": ONE[:-2] + struct.pack("<H", len(EMPTY_END)) + EMPTY_END + b"\0",
    "two of Zip64": zip64(END64 + END64),
    "Zip64 with another size": zip64(END64, size=7),
}


@pytest.mark.parametrize("kind", SECOND_ENDS)
def test_second_end_record_is_remarked(kind: str) -> None:
    """Programs that take the other record see other members; a remark tells a person."""
    assert "second-end" in Read(SECOND_ENDS[kind]).contents.remarks
    assert Read(archive_of(GOOD)).contents.remarks == ()
    assert Read(zip64(END64)).contents.remarks == ()


@pytest.mark.parametrize("lengths", [(70_000, 9, 200_000, 5), (9, 8), (65_536, 65_535, 1)])
@pytest.mark.parametrize("is_dense", [None, True, False], ids=["stored", "dense", "random"])
def test_sizes_without_zip64_are_modulo_its_limit(
    lengths: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
    in_mode: InMode,
    *,
    is_dense: bool | None,
) -> None:
    """As macOS archives 4 GiB and more, here with 16 bits; local headers decide where it is."""
    monkeypatch.setattr(directory_entries, "WRAP", 1 << 16)
    monkeypatch.setattr(central_directory, "WRAP", 1 << 16)
    monkeypatch.setattr(member, "FULL32", 0xFFFF)
    at, parts = 0, []
    for number, length in enumerate(lengths):
        content = bytes([number]) * length
        if is_dense is False:
            content = shake_128(content).digest(length)
        part = replace(named(f"{number}", content), method=0 if is_dense is None else 8)
        low, compressed = length & 0xFFFF, len(part.compressed())
        lows: dict[str, int | bytes] = {"crc32": 0, "compressed": 0, "size": 0, "flags": 8}
        parts.append(
            replace(
                part,
                size=low,
                compressed_bytes=compressed & 0xFFFF,
                offset=at & 0xFFFF,
                local=lows,
            )
        )
        at += 31 + compressed
    read = in_mode(archive_of(*parts, end={"offset": at & 0xFFFF}))
    assert read.contents.status is ArchiveStatus.READ
    assert read.digests == {part.name.decode(): sha1_of(part.content) for part in parts}
    assert (read.remarks, read.contents.remarks) == ({}, ())


def test_empty_archives_and_folders_are_read(in_mode: InMode) -> None:
    """No members is an archive too; folders are counted and have no digest."""
    assert in_mode(archive_of()).contents.status is ArchiveStatus.READ
    data = archive_of(named("d/", b""), named("d/e/", b""), named("d/e/f/x"))
    read = in_mode(data)
    assert (read.contents.members, read.contents.directories) == (1, 3)
    assert read.digests == {"d/e/f/x": HELLO}


def test_duplicates_and_case_collisions_keep_apart(in_mode: InMode) -> None:
    """Each member has a path of its own; the last of a name has the name, as when extracted."""
    data = archive_of(
        named("a", b"1"), named("a", b"2"), named("A", b"3"), named("b/c", b"4"), named("b", b"5")
    )
    read = in_mode(data)
    assert read.digests == {
        "a~2": sha1_of(b"1"), "a": sha1_of(b"2"), "A": sha1_of(b"3"),
        "b/c": sha1_of(b"4"), "b": sha1_of(b"5"),
    }  # fmt: skip
    assert read.remarks == {"a~2": ("duplicate",), "a": ("case-collision",)}


def test_symlink_is_its_text(in_mode: InMode) -> None:
    """The target of a link is hashed as text; the link is never followed or created."""
    link = replace(named("link", b"/etc/passwd"), attributes=(stat.S_IFLNK | 0o777) << 16)
    read = in_mode(archive_of(link, named("link/below")))
    assert read.digests == {"link": sha1_of(b"/etc/passwd"), "link/below": HELLO}
    assert read.remarks == {"link": ("symlink",)}


@pytest.mark.parametrize(("depth", "paths"), [
    (0, {"in.zip"}), (1, {"in.zip", "in.zip!/deep.jar"}),
    (2, {"in.zip", "in.zip!/deep.jar", "in.zip!/deep.jar!/x"}),
])  # fmt: skip
def test_nested_archives_are_opened_to_a_depth(
    depth: int, paths: set[str], in_mode: InMode
) -> None:
    """An archive in an archive is a member like others, and to a depth its members are too."""
    inner = archive_of(named("deep.jar", archive_of(named("x"))))
    data = archive_of(named("in.zip", inner))
    read = in_mode(data, limits=Limits(depth=depth))
    assert set(read.digests) == paths


def test_nested_archives_count_towards_the_limits() -> None:
    """A bomb in an archive in an archive is a bomb."""
    data = archive_of(named("in.zip", archive_of(named("in.zip", archive_of(BOMB)))))
    read = Read(data, limits=Limits(depth=8))
    assert read.contents.status is ArchiveStatus.TOO_DENSE


def test_damaged_nested_archive_is_the_members_matter() -> None:
    """It is told beside the member's digest, and the outer archive is read."""
    read = Read(archive_of(named("in.zip", b"PK\x03\x04 no")), limits=Limits(depth=1))
    assert read.contents.status is ArchiveStatus.READ
    assert read.members[0].inside is not None
    assert read.members[0].inside.status is ArchiveStatus.TRUNCATED


def test_time_that_runs_out_ends_members_only() -> None:
    """The archive's own digest is still computed."""
    data = archive_of(*(named(f"{number}") for number in range(5)))
    digest = RunningDigest()
    moments = iter([True, True, True, True, False])  # two for each member
    archive = opened(data)
    members = list(archive.members(iter([data]), digest, lambda: next(moments)))
    assert archive.summary.status is ArchiveStatus.OUT_OF_TIME
    assert len(members) == 2
    assert digest.digest().sha1 == sha1_of(data)


@pytest.mark.parametrize("searched", [b"PK\7\x08", b"PK\3\4" + b"\xff" * 26])
def test_time_that_runs_out_ends_a_search(searched: bytes) -> None:
    """Bytes that look like descriptors or headers everywhere take long to pass over."""
    header = archive_of(replace(GOOD, flags=8, method=8, local={"compressed": 0}))[:38]
    data = header + searched * 100_000
    digest = RunningDigest()
    archive = opened(data)
    moments = iter([True] * 4)
    list(archive.members(iter([data]), digest, lambda: next(moments, False)))
    assert archive.summary.status is ArchiveStatus.OUT_OF_TIME
    assert digest.digest().sha1 == sha1_of(data)


def test_zip64_fields_are_believed_only_whole() -> None:
    """A 64-bit field that is too short is none: the size is wrong, the CRC-32 decides."""
    extra = struct.pack("<HHL", 1, 4, 5)
    read = Read(archive_of(replace(GOOD, size=0xFFFF_FFFF, extra=extra)))
    assert read.digests == {"good.txt": HELLO}
    assert read.remarks == {"good.txt": ("wrong-size",)}


def test_two_ends_that_name_different_directories_are_broken() -> None:
    """Programs that believe the Zip64 end alone would see other members than those recorded."""
    single = archive_of(GOOD)
    at = single.index(b"PK\x01\x02")
    directory = single[at:-22]
    end64 = struct.pack("<4sQHHLLQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, len(directory), at)
    ends = end64 + struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    extra = struct.pack("<HH", 0xCAFE, len(ends)) + ends  # the last bytes of the other directory
    evil = replace(named("evil"), before=directory, extra=extra)
    read = Read(archive_of(GOOD, evil, order=[1]))
    assert read.contents.status is ArchiveStatus.BROKEN
    assert "different directories" in (read.contents.reason or "")
    assert read.digests == {"evil": HELLO, "good.txt": HELLO}
    assert read.remarks == {"good.txt": ("unlisted",)}
