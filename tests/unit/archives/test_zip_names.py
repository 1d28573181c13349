"""Names by strangers: recorded as they are, remarked on, and never used as a path."""

import os
import re
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.archive_reading import Read
from tests.support.zip_maker import archive_of, named

from bucketsum.archives.member_rows import MEMBER_MARK, archive_entry, member_entry
from bucketsum.archives.names import PATH_BYTES_MAX, encoded_name, name_warnings, shortened
from bucketsum.table.archive_settings import Mode

HOSTILE = {
    "../../etc/passwd": "climbs",
    "a/../../b": "climbs",
    "..\\..\\windows": "climbs",
    "/etc/passwd": "absolute",
    "\\server\\share": "absolute",
    "C:\\windows": "drive",
    "c:evil": "drive",
    "a\\b": "backslash",
    "a\0.txt": "control-characters",
    "a\x1b[2J": "control-characters",
    "a\nb": "control-characters",
    "invoice\u202efdp.exe": "bidirectional",
    "n" * 1000: "too-long",
    "d/" + "n" * 300: "too-long",
    "": "empty-name",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_remarked(name: str) -> None:
    """Each kind has its word, for whoever uses names after us."""
    assert HOSTILE[name] in name_warnings(name)


@pytest.mark.parametrize(
    "name", ["a.txt", "d/e f/g.tar.gz", "..a/b..", "é/ü", "日本/語", ".hidden"]
)
def test_ordinary_names_are_not(name: str) -> None:
    """Dots, spaces and letters of any script are nothing special."""
    assert name_warnings(name) == ()


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_escapes_its_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No name becomes a path: each member goes to a number below the archive's own folder."""
    opened: list[str] = []
    open_it = os.open

    def watched(path: str, flags: int, *rest: int, **more: int) -> int:
        if flags & os.O_CREAT:
            opened.append(os.path.realpath(path))
        return open_it(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", watched)
    read = Read(archive_of(named(name)), Mode.TMP, root=tmp_path)
    assert read.contents.members == 1
    members = {path for path in opened if "/m/" in path}
    [path] = members
    assert re.match(rf"{re.escape(str(tmp_path))}/bucketsum-archive-\w+/m/\d+/\d+$", path)


def decoded_name(raw: bytes, flags: int, extra: bytes, system: int) -> str:
    """A name's text."""
    data, encoding = encoded_name(raw, flags, extra, system)
    return data.decode(encoding)


@given(st.binary(max_size=60), st.sampled_from([0, 0x800]), st.sampled_from([0, 3]))
def test_every_name_has_a_text(raw: bytes, flags: int, system: int) -> None:
    """No bytes are refused, and the text can be stored as UTF-8."""
    decoded_name(raw, flags, b"", system).encode("utf-8")


def test_names_are_decoded_as_told() -> None:
    """By the UTF-8 bit, Info-ZIP's own field where it holds, or Unix; else by the first PC's."""
    raw = "ü".encode("cp437")
    field = struct.pack("<HHBL", 0x7075, 7, 1, zlib.crc32(raw)) + "ü".encode()
    other = struct.pack("<HHBL", 0x7075, 7, 1, 0) + "é".encode()
    assert decoded_name("ü".encode(), 0x800, b"", 0) == "ü"
    assert decoded_name("ü".encode(), 0, b"", 3) == "ü"
    assert decoded_name("ü".encode(), 0, b"", 0) == "ü".encode().decode("cp437")
    assert decoded_name(raw, 0, field, 0) == "ü"
    assert decoded_name(raw, 0, other, 3) == "ü"
    ascii_field = struct.pack("<HHBL", 0x7075, 14, 1, zlib.crc32(b"_15.txt")) + "€15.txt".encode()
    assert decoded_name(b"_15.txt", 0, ascii_field, 0) == "€15.txt"
    assert decoded_name(b"\xff", 0x800, b"", 0) == b"\xff".decode("cp437")


@given(st.text(max_size=60), st.sampled_from(["null", "v" * 32, "v" * 1000]))
def test_rows_keys_fit(path: str, version: str) -> None:
    """However long names are, DynamoDB takes their keys, and different names differ."""
    entry = member_entry(version, "00AB", path * 60)
    if len(version) < 900:
        assert len(entry.encode()) <= 1024
    assert archive_entry(entry) == version
    assert shortened(path * 60 + "a", 100) != shortened(path * 60 + "b", 100)


@pytest.mark.parametrize("length", [1100, 5000])
@pytest.mark.parametrize("character", ["q", "é", "日", "🦊"])
def test_a_name_like_a_cut_one_has_a_row_of_its_own(length: int, character: str) -> None:
    """A member can have the very name that a longer one gets when it is cut: both have rows."""

    def entry(path: str) -> str:
        return member_entry("v" * 32, "00AB", path)

    name = character * length
    key = entry(name).partition(MEMBER_MARK)[2]
    names = dict.fromkeys([name, shortened(name, PATH_BYTES_MAX), key])
    members = Read(archive_of(*(named(name) for name in names))).members
    assert len({entry(member.path) for member in members}) == len(names)
    assert all(len(entry(member.path).encode()) <= 1024 for member in members)
