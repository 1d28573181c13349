"""Archives crafted against the function: its SHA-1 is recorded within its memory and time."""

import hashlib
import io
import lzma
import os
import random
import sys
import tracemalloc
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import cycle, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from tests.support.archive_reading import Read
from tests.support.archive_rules import opened
from tests.support.sha1 import sha1_of
from tests.support.zip_maker import Part, archive_of, deflated, named

from bucketsum.archives import decoders, zstandard_decoder
from bucketsum.archives.archive_hasher import member_row
from bucketsum.archives.archive_reader import ArchiveReader
from bucketsum.archives.names import PATH_BYTES_MAX
from bucketsum.archives.zip_model import Problem
from bucketsum.digest import RunningDigest
from bucketsum.events.object_events import ObjectCreated
from bucketsum.settings import MEMBER_BYTES
from bucketsum.table.archive_settings import ArchiveSettings, Limits, Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.items import item_of
from bucketsum.table.row_parts import ArchiveRecord
from bucketsum.table.rows import Row, Status

LIMITS = Limits(members=1000)
FIXED_BYTES = 1_500_000
"""Memory besides the budget of members: the end of the file, a chunk, a decoder, a long name."""

ROW_BYTES_MAX = 8_000
"""Of DynamoDB's 400 KB; 425 rows may be waiting to be written."""

CREATED = ObjectCreated(
    "inbox", "k" * 1024, None, "e", 1, sequencer="00AB", event_time="2026-11-01T00:00:00.000Z"
)
NAMES: dict[str, list[bytes]] = {
    "one deep name": [b"a/" * 32_767],
    "deep names": [b"%d/" % number + b"a/" * 32_000 for number in range(9)],
    "deep folders": [b"%d/" % number * 150 for number in range(1000)],
    "equal names": [b"same"],
    "equal long names": ["\N{GRINNING FACE}".encode() + b"n" * 400],
    "equal names among numbered ones": [b"same", *(b"same~%d" % n for n in range(2, 400)), b"same"],
    "long names of few wide characters": [
        b"%d" % number + "\N{GRINNING FACE}".encode() + b"n" * 440 for number in range(1000)
    ],
    "names of control characters": [b"\x01" * 65_535],
    "wide code page": [bytes([0xB1 + number % 9]) * 400 for number in range(1000)],
    "folders": [b"%d/" % number for number in range(1000)],
    "empty names": [b""],
}


def crafted(names: Iterable[bytes], most: int = LIMITS.members) -> bytes:
    """An archive of members with these names, repeated, as many as the limits allow."""
    parts: list[Part] = []
    directory_bytes = 0
    for name in islice(cycle(names), most):
        directory_bytes += 46 + len(name)
        if directory_bytes > LIMITS.directory_bytes:
            break
        flags = 0x800 if _is_utf8(name) else 0
        parts.append(Part(name=name, content=b"", flags=flags, system=0))
    return archive_of(*parts)


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def row_bytes(row: Row) -> int:
    """Size of *row* in the table: names and values of its attributes, as UTF-8."""
    item = item_of(row)
    return sum(len(f"{name}{text}".encode()) for name in item for text in item[name].values())


def read_bounded(
    data: bytes, limits: Limits = LIMITS, mode: Mode = Mode.STREAM
) -> tuple[ArchiveRecord, int, int]:
    """Read *data* as the hash path does: its summary, peak memory, and its largest row."""
    digest = RunningDigest()
    largest = 0
    tracemalloc.start()
    try:
        archive = opened(data, ArchiveReader(ArchiveSettings(mode, limits, (".zip",))))
        chunks = (data[at : at + 65_536] for at in range(0, len(data), 65_536))
        for member in archive.members(chunks, digest):
            row = member_row(CREATED, member)
            largest = max(largest, row_bytes(row))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert digest.digest().sha1 == hashlib.sha1(data).hexdigest()
    summary = archive.summary
    whole = Row("inbox", "k" * 1024, "null", Status.HASHED, 1, "00AB", "", "", archive=summary)
    return summary, peak, max(largest, row_bytes(whole))


def assert_bounded(data: bytes, limits: Limits = LIMITS) -> ArchiveRecord:
    """Read *data* within the memory that settings reserve, and with rows that DynamoDB takes."""
    summary, peak, largest = read_bounded(data, limits)
    assert peak <= limits.members * MEMBER_BYTES + FIXED_BYTES
    assert largest <= ROW_BYTES_MAX
    return summary


@pytest.mark.parametrize("kind", NAMES)
def test_names_take_no_more_memory_than_is_reserved(kind: str) -> None:
    """However deep, long, equal or wide they are, every member is read."""
    data = crafted(NAMES[kind])
    assert assert_bounded(data).status is ArchiveStatus.READ


@given(
    st.lists(
        st.builds(
            lambda piece, times: (piece * times)[:60_000],
            st.sampled_from([b"a/", b"x", "é".encode(), "\N{GRINNING FACE}".encode(), b"\x01",
                             b"\\", b"../", b"\xb1", b"~2", b"!/"]),
            st.integers(0, 30_000),
        ),
        min_size=1, max_size=6,
    ),
    st.lists(st.tuples(st.integers(0, 70_000), st.integers(0, 255)), max_size=3),
)  # fmt: skip
@examples(max_examples=25)
def test_any_names_and_lies_are_bounded(names: list[bytes], changes: list[tuple[int, int]]) -> None:
    """Memory, rows and the archive's own SHA-1 hold for any mixture, and with changed bytes."""
    data = bytearray(crafted(names, 300))
    for at, value in changes:
        data[-1 - at % len(data)] = value
    assert_bounded(bytes(data))


def calls_to_read(data: bytes, mode: Mode = Mode.STREAM) -> int:
    """Function calls of this thread, of Python and of C, that reading *data* takes."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        Read(data, mode, limits=Limits(members=10_000, depth=1))
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("kind", ["equal names", "equal names among numbered ones", "folders"])
def test_work_is_linear_in_the_members(kind: str) -> None:
    """Twice the members take twice the calls, not four times as many."""
    single, double = (crafted(NAMES[kind], most) for most in (400, 800))
    assert calls_to_read(double) < 2.6 * calls_to_read(single)


def test_numbered_names_that_exist_are_not_tried_again() -> None:
    """Many equal names after many `a~2`, `a~3`, … take linear work too, and all differ."""
    calls = []
    for count in (300, 600):
        names = [b"a"] * count + [b"a~%d" % number for number in range(2, count)]
        data = crafted(names, 2 * count)
        read = Read(data, limits=Limits(members=10_000))
        assert len(read.digests) == 2 * count  # the pattern repeats to fill the directory
        calls.append(calls_to_read(data))
    assert calls[1] < 2.6 * calls[0]


def test_folders_are_counted_to_a_limit() -> None:
    """Beyond the limit on members the count ends, and a remark says so."""
    summary = assert_bounded(crafted(NAMES["deep folders"]))
    assert (summary.directories, summary.remarks) == (LIMITS.members, ("many-folders",))
    few = Read(archive_of(named("/a/b/c"), named("a/b/d"), named("a/b/e"), named("f")))
    assert (few.contents.directories, few.contents.remarks) == (4, ())


def test_reasons_cut_names() -> None:
    """Both names of a contradiction may be 65 kB of what takes four characters each."""
    long = Part(name=b"\x01" * 65_535, local={"name": b"\x02" * 65_535})
    other = replace(long, name=b"\x03" * 65_535, offset=0)
    assert assert_bounded(archive_of(long, other), replace(LIMITS, members=2000)).unreadable == 1


def test_long_paths_of_nested_archives_are_cut() -> None:
    """Each level may add 65 kB that are 196 kB as UTF-8; paths stay different."""
    data = archive_of(Part(name=b"\xb1" * 65_000 + b"1"), Part(name=b"\xb1" * 65_000 + b"2"))
    for _ in range(2):
        data = archive_of(Part(name=b"\xb1" * 65_000 + b".zip", content=data))
    read = Read(data, limits=Limits(depth=2))
    assert len(read.digests) == 4
    assert max(len(path.encode()) for path in read.digests) <= PATH_BYTES_MAX
    assert_bounded(data, replace(LIMITS, depth=2))


def nested(depth: int, size_bytes: int) -> bytes:
    """An archive in as many others, the innermost of *size_bytes*."""
    data = random.Random(depth).randbytes(size_bytes)  # noqa: S311 - the same each time
    for level in range(depth + 1):
        data = archive_of(named(f"{level}.zip", data))
    return data


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("local", [{}, {"flags": 0, "crc32": 2}])
def test_decoders_of_a_thread_take_one_window(local: dict[str, int | bytes], mode: Mode) -> None:
    """A damaged member's is released before the next, and contradicting headers share it."""
    window_bytes = 4_000_000
    content = random.Random(1).randbytes(150_000) + bytes(window_bytes)  # noqa: S311 - the same
    raw = lzma.compress(
        content, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "dict_size": window_bytes}]
    )
    raw = raw[:-200] + b"\xff" * 300
    lead = b"\x10\x05\x05\0\x5d" + window_bytes.to_bytes(4, "little")
    part = Part(b"", content, 14, flags=2, data=lead + raw, crc32=1, local=local)
    data = archive_of(*(replace(part, name=b"%d" % number) for number in range(20)))
    summary, peak, _ = read_bounded(data, replace(LIMITS, window_bytes=window_bytes), mode)
    assert summary.unreadable == 20
    threads = 1 if mode is Mode.STREAM else 2
    assert peak <= threads * window_bytes + FIXED_BYTES


@pytest.mark.parametrize("depth", [1, 4])
def test_each_open_level_is_kept_once(depth: int) -> None:
    """Memory is one copy for each level, and no directory is copied."""
    size_bytes = 2_000_000
    limits = replace(LIMITS, depth=depth, nested_bytes=size_bytes + 100_000)
    summary, peak, _ = read_bounded(nested(depth, size_bytes), limits)
    assert summary.status is ArchiveStatus.READ
    # BytesIO grows by an eighth, and may move while it grows at the innermost level
    assert peak <= (depth + 1) * 9 / 8 * size_bytes + FIXED_BYTES


@pytest.mark.parametrize("is_archive", [True, False])
def test_nested_archive_is_released_before_the_next(*, is_archive: bool) -> None:
    """Nested archives beside each other take the memory of the largest; so does what is none."""
    size_bytes = 2_000_000
    part = named("1.zip", nested(0, size_bytes) if is_archive else bytes(size_bytes))
    data = archive_of(*(replace(part, name=b"%d.zip" % number) for number in range(5)))
    limits = replace(LIMITS, depth=1, nested_bytes=size_bytes + 100_000)
    _, peak, _ = read_bounded(data, limits)
    assert peak <= 1.5 * size_bytes


def test_members_of_nested_archives_are_limited_together() -> None:
    """Their directories are refused by the members that are left, before they are read."""
    inner = archive_of(*(named(f"{number}") for number in range(30)))
    data = archive_of(*(named(f"{number}.zip", inner) for number in range(4)))
    read = Read(data, limits=Limits(members=70, depth=1))
    assert read.contents.status is ArchiveStatus.TOO_MANY_MEMBERS
    assert len(read.members) == 62


def test_every_member_has_a_path_of_its_own() -> None:
    """Names with the separator of nested archives hide no member, whichever comes first."""
    inner = archive_of(named("x", b"1"), named("b.zip!/y", b"2"))
    twice = archive_of(named("y", b"3"))
    data = archive_of(
        named("a.zip!/x", b"4"),
        named("a.zip", inner),
        named("a.zip!/b.zip", twice),
        named("", b"5"),
    )
    read = Read(data, limits=Limits(depth=1))
    assert len(read.digests) == len(read.members) == 7
    assert read.digests["a.zip!/x"] == sha1_of(b"4")
    assert read.digests[""] == sha1_of(b"5")


def test_file_that_is_named_as_a_folder_is_a_member() -> None:
    """A Unicode path cannot hide a file, nor the end of a name its content."""
    field = Unicode.path("évil.exe".encode(), b"d/")
    data = archive_of(
        named("a"), Part(name="évil.exe".encode(), flags=0x800, extra=field, content=b"MZ"),
        named("evil/", b"content"), named("folder/", b""),
        Part(name=b"empty/", content=b"", method=8),
    )  # fmt: skip
    read = Read(data)
    assert read.digests == {
        "a": sha1_of(b"hello"), "d/": sha1_of(b"MZ"), "evil/": sha1_of(b"content"),
    }  # fmt: skip
    assert read.remarks == {"d/": ("named-as-folder",), "evil/": ("named-as-folder",)}


class Unicode:
    """Info-ZIP's Unicode path."""

    @staticmethod
    def path(raw: bytes, path: bytes) -> bytes:
        """The extra field that renames *raw*."""
        crc = zlib.crc32(raw).to_bytes(4, "little")
        content = b"\x01" + crc + path
        return b"\x75\x70" + len(content).to_bytes(2, "little") + content


@pytest.mark.parametrize("mode", list(Mode))
def test_unicode_path_of_winzip_has_slashes(mode: Mode) -> None:
    """WinZip writes backslashes there; with slashes, a folder is a folder."""
    data = archive_of(
        Part(name=b"\x84/", content=b"", extra=Unicode.path(b"\x84/", "ä\\".encode()), system=0),
        Part(name=b"\x84/b", extra=Unicode.path(b"\x84/b", "ä\\b".encode()), system=0),
        Part(name=b"\x84\\c", extra=Unicode.path(b"\x84\\c", "ä\\c".encode()), system=0),
    )
    assert set(Read(data, mode).digests) == {"ä/b", "ä\\c"}


@pytest.mark.parametrize("mode", list(Mode))
def test_archive_that_zipfile_appended_to_is_read(mode: Mode) -> None:
    """It encodes old names anew in the directory, and leaves their local headers."""
    first = io.BytesIO()
    with zipfile.ZipFile(first, "w") as archive:
        archive.writestr("Xt.txt", "text")
    appended = io.BytesIO(first.getvalue().replace(b"Xt.txt", b"\x82t.txt"))
    with zipfile.ZipFile(appended, "a") as archive:
        archive.writestr("new", "new")
    read = Read(appended.getvalue(), mode)
    assert read.digests == {"ét.txt": sha1_of(b"text"), "new": sha1_of(b"new")}


def test_magic_bytes_in_a_name_are_a_name() -> None:
    """The Zip64 locator's signature counts only if a value needs Zip64, or a record is there."""
    name = b"PK\x06\x07" + b"n" * 16
    data = archive_of(replace(named(name), attributes=0))
    assert data[-42:-38] == b"PK\x06\x07"
    assert set(Read(data).digests) == {name.decode()}


def test_encrypted_directory_is_named() -> None:
    """Its first header is masked, and nothing more can be read."""
    data = archive_of(replace(named("a"), flags=0x2041))
    start = data.index(b"PK\x01\x02")
    read = Read(data[:start] + os.urandom(4).replace(b"P", b"Q") + data[start + 4 :])
    assert read.contents.status is ArchiveStatus.ENCRYPTED


@cache
def dense() -> bytes:
    """An archive of an empty frame, and of 70 MB in a few bytes that are cut."""
    frame = bytes.fromhex("28b52ffde0000000000000000003000000")  # zstd refuses it in pieces
    zeros = bytes(70_000_000)
    member = Part(b"dense", zeros, 8, data=deflated(zeros)[:-9], size=9_000)
    return archive_of(Part(b"zstd", b"", 93, data=frame), member)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("chunk_bytes", [1, 7, 46, 65_536])
def test_chunks_change_no_result(chunk_bytes: int, mode: Mode, tmp_path: Path) -> None:
    """A decoder is given the same bytes together, however they arrive."""
    read = Read(dense(), mode, root=tmp_path, chunk_bytes=chunk_bytes)
    assert read.digests == {"zstd": sha1_of(b""), "dense": None}
    assert [member.digest.size_bytes for member in read.members if member.digest.reason] == [9_000]
    assert read.problems == {"dense": Problem.WRONG_SIZE}


@pytest.mark.parametrize("empty_frames", [1, 3])
@pytest.mark.parametrize("behind", range(21))
def test_an_empty_frame_of_zstandard_may_lie_anywhere(behind: int, empty_frames: int) -> None:
    """The library refuses its block in two pieces, and each feed ends somewhere."""
    zstd = decoders._optional("compression.zstd") or decoders._optional("backports.zstd")  # noqa: SLF001 - whichever there is
    empty = bytes.fromhex("28b52ffde0000000000000000003000000")
    length = zstandard_decoder._FEED_BYTES - 8 - behind  # noqa: SLF001 - where it is cut
    skipped = b"\x50\x2a\x4d\x18" + length.to_bytes(4, "little") + bytes(length)
    data = skipped + empty * empty_frames + zstd.compress(b"hello")
    assert Read(archive_of(Part(method=93, data=data))).digests == {"a.txt": sha1_of(b"hello")}


@pytest.mark.parametrize("cut", [0, 1, 40])
def test_lzma_without_an_end_mark_ends_at_its_size(cut: int) -> None:
    """The decoder may go on with the bytes behind; without enough of them the size is wrong."""
    content = b"all work and no play " * 50
    filters = [{"id": lzma.FILTER_LZMA1, "dict_size": 65_536}]
    raw = lzma.compress(content + b"more", lzma.FORMAT_RAW, filters=filters)
    lead = b"\x10\x05\x05\x00\x5d" + (65_536).to_bytes(4, "little")
    data = lead + raw[: len(raw) - cut]
    read = Read(archive_of(Part(method=14, content=content, data=data)))
    assert read.problems == ({"a.txt": Problem.WRONG_SIZE} if cut == 40 else {})


def test_zstandard_may_have_many_frames() -> None:
    """Skippable frames and bytes after the last are passed over; a frame that is cut is not."""
    zstd = decoders._optional("compression.zstd") or decoders._optional("backports.zstd")  # noqa: SLF001 - whichever there is
    frames = b"\x50\x2a\x4d\x18\x03\0\0\0abc" + b"".join(
        zstd.compress(b"%d" % number * 5000) for number in range(20)
    )
    content = b"".join(b"%d" % number * 5000 for number in range(20))
    part = Part(method=93, content=content)
    for chunk_bytes in (7, 65_536):
        read = Read(archive_of(replace(part, data=frames + b"junk")), chunk_bytes=chunk_bytes)
        assert read.digests == {"a.txt": sha1_of(content)}
    damaged = Read(archive_of(replace(part, data=frames[:-3])))
    assert set(damaged.problems) == {"a.txt"}


def test_nested_archives_of_tmp_take_linear_work() -> None:
    """Each is decoded once more to be opened, wherever it is in the directory."""
    calls = [
        calls_to_read(
            archive_of(*(named(f"{number}.zip", archive_of()) for number in range(count))), Mode.TMP
        )
        for count in (100, 200)
    ]
    assert calls[1] < 2.6 * calls[0]
