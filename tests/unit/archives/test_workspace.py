"""workspace: folders under /tmp are removed, also those of dead processes."""

import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from tests.support.archive_reading import Read
from tests.support.sha1 import sha1_of
from tests.support.zip_maker import Part, archive_of, named

from bucketsum.archives.workspace import workspace
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus

Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 - as shutil has it

DIES = """
import os, sys
from pathlib import Path
from bucketsum.archives.workspace import workspace
with workspace(Path(sys.argv[1])) as folder:
    (folder / "large").write_bytes(b"x" * 1000)
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_folder_goes_whatever_happens(tmp_path: Path) -> None:
    """Also where its use ends with an error."""

    def fail() -> None:
        with workspace(tmp_path) as folder:
            (folder / "deep" / "er").mkdir(parents=True)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_what_the_dead_left_is_removed_and_what_the_living_use_is_not(tmp_path: Path) -> None:
    """A killed process cannot clean up; the next workspace does it, and only for the dead."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", DIES, tmp_path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": "layers/bucketsum"},
        )
        for _ in range(2)
    ]  # fmt: skip
    try:
        folders = [
            tmp_path / (process.stdout.readline().strip() if process.stdout else "")
            for process in started
        ]
        started[0].send_signal(signal.SIGKILL)
        started[0].wait()
        assert (folders[0] / "large").exists()
        with workspace(tmp_path) as own:
            assert set(tmp_path.iterdir()) == {folders[1], own}
    finally:
        for process in started:
            process.communicate("")


def test_a_folder_that_another_process_takes_for_abandoned_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its creation and its lock, a workspace of another process may remove it."""
    make_folder = tempfile.mkdtemp
    removed: list[str] = []

    def first_removed(**options: Any) -> str:  # noqa: ANN401 - mkdtemp's
        folder: str = make_folder(**options)
        if not removed:
            removed.append(folder)
            shutil.rmtree(folder)
        return folder

    monkeypatch.setattr(tempfile, "mkdtemp", first_removed)
    with workspace(tmp_path) as folder:
        assert folder.is_dir()
        assert str(folder) not in removed


def test_archive_without_room_is_refused_before_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text says how much it takes; nothing is written, and its own SHA-1 is computed."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(512 << 20, 12 << 20, 500 << 20))
    parts = [Part(name=b"%d" % n, data=b"x" * 100, size=600_000_000) for n in range(9)]
    read = Read(archive_of(named("a"), *parts), Mode.TMP, root=tmp_path)
    assert read.contents.status is ArchiveStatus.NO_ROOM
    assert "raise EphemeralStorageSize to 589," in (read.contents.reason or "")
    assert read.members == []


def test_archive_without_room_in_any_function_is_refused_without_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A need beyond the largest /tmp, which may be a lie, is not repeated in the text."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(512 << 20, 12 << 20, 500 << 20))
    parts = [Part(name=b"%d" % n, content=b"", data=b"x" * 100, size=2**32 - 2) for n in range(160)]
    read = Read(archive_of(*parts), Mode.TMP, root=tmp_path)
    assert read.contents.reason == (
        "no-room: it needs more than the 10240 MiB that /tmp can have: set ArchiveMode to stream"
    )


def test_impossible_sizes_are_no_reason_to_have_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A size in a header beyond all that can come out is the member's problem, as in `stream`."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(512 << 20, 12 << 20, 500 << 20))
    extra = struct.pack("<HHQQ", 1, 16, 1 << 63, 1 << 63)
    data = bytearray(archive_of(named("a"), Part(name=b"b", size=0xFFFF_FFFF, extra=extra)))
    for at in (data.rindex(b"PK\3\4") + 18, data.rindex(b"PK\1\2") + 20):
        data[at : at + 4] = b"\xff" * 4
    read = Read(bytes(data), Mode.TMP, root=tmp_path)
    assert read.contents.status is ArchiveStatus.READ
    assert read.digests == {"a": sha1_of(b"hello"), "b": sha1_of(b"hello")}
    assert read.remarks == {"b": ("wrong-size", "overlapping")}


def test_disk_that_fills_up_ends_members_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Headers may lie about what fits; the disk does not."""

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    read = Read(archive_of(named("a")), Mode.TMP, root=tmp_path)
    assert read.contents.status is ArchiveStatus.NO_ROOM
    assert list(tmp_path.iterdir()) == []
