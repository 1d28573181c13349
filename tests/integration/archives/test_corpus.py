"""Archives by every program at hand: each member's digest is that of the file it was made of."""

import hashlib
import io
import random
import shlex
import subprocess
import zipfile
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from tests.integration.archives.archivers import ARCHIVERS
from tests.support.archive_reading import Read
from tests.support.programs import is_here

from bucketsum.archives.zip_model import Problem
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus

NOT_OF_THE_FOLDER = "META-INF/"  # jar adds a manifest of its own
INSTALLED: Final = [name for name, archiver in ARCHIVERS.items() if is_here(archiver.program)]
ORACLES: Final[dict[str, tuple[str, ...]]] = {
    "unzip -tq": ("7z-lzma", "python-lzma"),
    "7z t -bd": (),
}
"""Programs that test archives → the archives whose method they do not know."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of many kinds: empty, one byte, text, noise, many blocks, odd names, folders."""
    root = tmp_path_factory.mktemp("files")
    noise = random.Random(20261101).randbytes(300_000)  # noqa: S311 - the same each time
    files = {
        "empty": b"",
        "one": b"1",
        "text.txt": b"all work and no play\n" * 40_000,
        "noise.bin": noise,
        "deep/er/and/deeper.txt": b"deep",
        "with space & (signs).txt": b"signs",
        "ünïcode 日本.txt": b"unicode",
        "mixed": noise[:1000] * 90 + bytes(500_000),
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (root / "hollow").mkdir()
    (root / "link").symlink_to("text.txt")
    return root


@cache
def made(name: str, folder: Path, out: Path) -> bytes:
    """The archive that the archiver *name* makes."""
    ARCHIVERS[name].make(folder, out)
    return out.read_bytes()


@pytest.fixture(params=INSTALLED)
def archive(
    request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, bytes]:
    """An archive of *folder*, with its maker's name."""
    name: str = request.param
    folder_out = tmp_path_factory.getbasetemp() / "archives"
    folder_out.mkdir(exist_ok=True)
    return name, made(name, folder, folder_out / f"{name}.zip")


@pytest.mark.parametrize("mode", list(Mode))
def test_digests_are_those_of_the_files(
    archive: tuple[str, bytes], folder: Path, mode: Mode, tmp_path: Path
) -> None:
    """Every archiver and every mode agree with the files; encrypted members are named as such."""
    name, data = archive
    read = Read(data, mode, root=tmp_path, chunk_bytes=10_007)
    assert read.contents.status is ArchiveStatus.READ, read.contents.reason
    got = {
        path.removeprefix("./"): digest
        for path, digest in read.digests.items()
        if not path.startswith(NOT_OF_THE_FOLDER)
    }
    files = {
        str(path.relative_to(folder)): hashlib.sha1(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "link"
    }
    got.pop("link", None)  # a file's copy or a link's text, as the archiver likes
    if ARCHIVERS[name].encrypted:
        problems = {path.removeprefix("./"): problem for path, problem in read.problems.items()}
        assert all(problem == Problem.ENCRYPTED for problem in problems.values())
        got = {path: digest for path, digest in got.items() if digest}
        assert {*got, *problems} - {"link"} == {*files}
        files = {path: digest for path, digest in files.items() if path in got}
    assert got == files


@pytest.mark.parametrize(
    ("archive", "oracle"),
    [
        (name, oracle)
        for oracle, unknown in ORACLES.items()
        for name in INSTALLED
        if is_here(oracle.split()[0]) and not ARCHIVERS[name].encrypted and name not in unknown
    ],
    indirect=["archive"],
)
@pytest.mark.parametrize("damage", [None, 0.1, 0.3, 0.5])
def test_other_programs_agree_on_what_is_whole(
    archive: tuple[str, bytes], oracle: str, damage: float | None, tmp_path: Path
) -> None:
    """Both sides agree on every archive: it is whole, or it is damaged."""
    _, data = archive
    command = shlex.split(oracle)
    if damage is not None:
        data = _damaged(data, damage)
    path = tmp_path / "archive.zip"
    path.write_bytes(data)
    done = subprocess.run([*command, path], check=False, capture_output=True)
    if "unsupported compression" in done.stdout.decode(errors="replace"):
        pytest.skip(f"this {command[0]} knows fewer methods")
    read = Read(data)
    whole = read.contents.status is ArchiveStatus.READ and not read.problems
    if damage is None:
        assert whole
        assert done.returncode == 0
    elif done.returncode != 0:
        assert not whole


def _damaged(data: bytes, where: float) -> bytes:
    """One bit of a member's content flipped."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        large = [info for info in archive.infolist() if info.compress_size > 100]
        info = large[int(where * len(large))]
    header = data[info.header_offset : info.header_offset + 30]
    start = info.header_offset + 30 + int.from_bytes(header[26:28], "little")
    start += int.from_bytes(header[28:30], "little")
    at = start + int(info.compress_size * where)
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]
