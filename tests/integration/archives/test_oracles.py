"""Members of a damaged archive that another program reads have their SHA-1."""

import io
import random
import re
import shlex
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from tests.integration.archives.archivers import ARCHIVERS
from tests.support.archive_reading import Read
from tests.support.archive_seeds import Unseekable
from tests.support.programs import is_here
from tests.support.sha1 import sha1_of

from bucketsum.table.archive_settings import Limits, Mode

PROGRAMS: Final = {
    "zipfile": "", "unzip": "unzip -o -qq IN", "7z": "7z x -y IN", "bsdtar": "bsdtar -xf IN",
}  # fmt: skip
MAKERS: Final = (
    "python", "python-stored-streamed", "python-lzma", "infozip", "infozip-streamed",
    "infozip-bzip2", "7z-deflate64", "bsdtar-streamed", "jar",
)  # fmt: skip
CONTENTS: Final = {
    "text.txt": b"all work and no play " * 30,
    "d/noise.bin": random.Random(1).randbytes(300),  # noqa: S311 - the same each time
    "d/one": b"1",
    "zeros": bytes(3000),
}
WANTED: Final = {sha1_of(content) for content in CONTENTS.values()}


@cache
def made(maker: str) -> bytes:
    """An archive of `CONTENTS`."""
    if maker == "python-stored-streamed":
        target = Unseekable()
        with zipfile.ZipFile(target, "w") as archive:
            for name, content in CONTENTS.items():
                archive.writestr(name, content)
        return target.getvalue()
    with tempfile.TemporaryDirectory() as root:
        for name, content in CONTENTS.items():
            path = Path(root, "in", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        out = Path(root, "out.zip")
        ARCHIVERS[maker].make(Path(root, "in"), out)
        return out.read_bytes()


def flipped(data: bytes, randomness: random.Random) -> bytes:
    """*data* with another bit of a header."""
    headers = [at for mark in (b"PK\3\4", b"PK\1\2", b"PK\5\6") for at in _all(data, mark)]
    at = min(randomness.choice(headers) + randomness.randrange(56), len(data) - 1)
    return data[:at] + bytes([data[at] ^ 1 << randomness.randrange(8)]) + data[at + 1 :]


def _all(data: bytes, mark: bytes) -> Iterator[int]:
    at = data.find(mark)
    while at >= 0:
        yield at
        at = data.find(mark, at + 1)


def without(data: bytes, at: int) -> bytes:
    """*data* without a byte."""
    return data[:at] + data[at + 1 :]


DAMAGES: Final[dict[str, Callable[[bytes, random.Random], bytes]]] = {
    "a bit of a header": flipped,
    "a byte lost": lambda data, randomness: without(data, randomness.randrange(len(data))),
    "the end cut off": lambda data, randomness: data[: randomness.randrange(40, len(data))],
    "an archive before": lambda data, _: made("python") + data,
    "bytes after": lambda data, _: data + bytes(70_000),
}


def read_by(program: str, data: bytes) -> set[str]:
    """SHA-1s of the files that *program* reads without a complaint about their content."""
    if program == "zipfile":
        return _read_by_zipfile(data)
    with tempfile.TemporaryDirectory() as root:
        path = Path(root, "in.zip")
        path.write_bytes(data)
        (out := Path(root, "out")).mkdir()
        command = [str(path) if part == "IN" else part for part in shlex.split(PROGRAMS[program])]
        done = subprocess.run(
            command, cwd=out, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=60
        )
        subprocess.run(shlex.split("chmod -R u+rwX .."), cwd=out, check=True)
        lines = (done.stdout + done.stderr).decode(errors="replace").splitlines()
        complaints = [
            line
            for line in lines
            if re.search("CRC|ERROR|end of|: .*(fail|error|Trunc|Unsup)", line)
        ]
        files = (path for path in out.rglob("*") if path.is_file() and not path.is_symlink())
        return {
            sha1_of(path.read_bytes())
            for path in files
            if not any(path.name in line for line in complaints)
        }


def _read_by_zipfile(data: bytes) -> set[str]:
    read: set[str] = set()
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError):
        return read
    for info in archive.infolist():
        try:
            read.add(sha1_of(archive.read(info)))
        except Exception:  # noqa: BLE001, S112 - it raises whatever its libraries raise
            continue
    return read


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_another_program_reads_has_its_sha1(
    program: str, maker: str, damage: str, tmp_path: Path
) -> None:
    """Of every damaged archive, in both modes, and with chunks of any size."""
    for name in (program, ARCHIVERS[maker].program if maker in ARCHIVERS else "zipfile"):
        if name != "zipfile" and not is_here(name):
            pytest.skip(f"{name} is not installed")
    randomness = random.Random(zlib.crc32(f"{program}{maker}{damage}".encode()))  # noqa: S311
    cases = (
        (DAMAGES[damage](made(maker), randomness), randomness.choice([61, 65_536]))
        for _ in range(60 if program == "zipfile" else 10)
    )
    limits = Limits(ratio=10_000)
    for data, chunk_bytes in dict.fromkeys(cases):
        read = Read(data, limits=limits, chunk_bytes=chunk_bytes)
        other = Read(data, Mode.TMP, limits=limits, root=tmp_path)
        assert sorted(map(repr, read.members)) == sorted(map(repr, other.members))
        missed = WANTED - {*read.digests.values()}
        if missed:
            assert not missed & read_by(program, data), read.problems
