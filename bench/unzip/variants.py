"""Programs that unzip one archive.

``python -m bench.unzip.variants VARIANT ARCHIVE FOLDER`` runs one and prints its time and memory.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Final

from bench.tables.process import ProcessMeter
from bucketsum.archives.archive_reader import ArchiveReader
from bucketsum.archives.background import BackgroundCalls
from bucketsum.digest import RunningDigest
from bucketsum.table.archive_settings import ArchiveSettings, Engine, Limits, Mode

FOLDER: Final = Path(".bucketsum", "bench-unzip")
"""Created archives, what is extracted from them, and the program in Go."""

GO: Final = FOLDER / "unzip-go"
CHUNK_BYTES: Final = 1024 * 1024
_LIMITS: Final = Limits(members=500_000, total_bytes=10**13, ratio=10**6)


def _extractall(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as zf:
        zf.extractall(folder)


def _reader_and_writer(archive: Path, folder: Path) -> None:
    """One thread decompresses, and another one writes, as a comment on Bengtsson proposes."""
    folder.mkdir()
    with BackgroundCalls() as writer, zipfile.ZipFile(archive) as zf:
        for number, info in enumerate(zf.infolist()):
            if not info.is_dir():
                writer.do((folder / str(number)).write_bytes, zf.read(info))


def _members(archive: Path) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(archive) as zf:
        for info in zf.infolist():
            if not info.is_dir():
                with zf.open(info) as source:
                    yield source


def _devnull(archive: Path, _: Path) -> None:
    for source in _members(archive):
        with Path(os.devnull).open("wb") as target:
            shutil.copyfileobj(source, target)


def _zipfile_sha1(archive: Path, _: Path) -> None:
    """Bucketsum's result with the standard library: every member's SHA-1 and the archive's."""
    with archive.open("rb") as file:
        hashlib.file_digest(file, "sha1")
    for source in _members(archive):
        sha1 = hashlib.sha1(usedforsecurity=False)
        while piece := source.read(65_536):
            sha1.update(piece)


def _unzip(archive: Path, folder: Path) -> None:
    subprocess.run(["unzip", "-qq", "-d", folder, archive], check=True)  # noqa: S603, S607


def _unzip_devnull(archive: Path, _: Path) -> None:
    with Path(os.devnull).open("wb") as null:
        subprocess.run(["unzip", "-p", archive], check=True, stdout=null)  # noqa: S603, S607


def _go(mode: str, archive: Path, folder: Path) -> None:
    """Run unzip.go, which prints the SHA-1s of the archive and of its members, or extracts them."""
    subprocess.run([GO, mode, archive, folder], check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def _stream_unzip(archive: Path, _: Path) -> None:
    from stream_unzip import stream_unzip  # noqa: PLC0415 - only for this variant

    for _name, _size, pieces in stream_unzip(_chunks(archive), chunk_size=CHUNK_BYTES):
        for _piece in pieces:
            pass


def _chunks(archive: Path) -> Iterator[bytes]:
    with archive.open("rb", buffering=0) as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def _bucketsum(mode: Mode, engine: Engine, threads: int, archive: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)

    def read(offset: int, length: int) -> bytes:
        with archive.open("rb") as file:
            file.seek(offset)
            return file.read(length)

    settings = ArchiveSettings(mode, _LIMITS, threads=threads, second_core=threads > 1)
    reader = ArchiveReader(settings, folder, engine)
    opened = reader.open(read, archive.stat().st_size)
    for _ in opened.members(_chunks(archive), RunningDigest()):
        continue
    summary = opened.summary
    if summary.reason or summary.unreadable:
        raise SystemExit(summary.reason or f"{summary.unreadable} members are unreadable")


COMPARED: Final[dict[str, Callable[[Path, Path], None]]] = {
    "zipfile.extractall": _extractall,
    "zipfile to /dev/null": _devnull,
    "zipfile, SHA-1 of all": _zipfile_sha1,
    "zipfile, 2 threads: read, write": _reader_and_writer,
    "unzip": _unzip,
    "unzip to /dev/null": _unzip_devnull,
    "stream-unzip, discarded": _stream_unzip,
    "Go archive/zip to disk": partial(_go, "extract"),
    "Go archive/zip, SHA-1 of all": partial(_go, "sha1"),
    "bucketsum stream": partial(_bucketsum, Mode.STREAM, Engine.ISAL, 1),
    "bucketsum stream, 2 threads": partial(_bucketsum, Mode.STREAM, Engine.ISAL, 2),
    "bucketsum stream, zlib": partial(_bucketsum, Mode.STREAM, Engine.ZLIB, 1),
    "bucketsum tmp": partial(_bucketsum, Mode.TMP, Engine.ISAL, 1),
    "bucketsum tmp, 2 threads": partial(_bucketsum, Mode.TMP, Engine.ISAL, 2),
    "bucketsum discard": partial(_bucketsum, Mode.DISCARD, Engine.ISAL, 1),
    "bucketsum discard, 2 threads": partial(_bucketsum, Mode.DISCARD, Engine.ISAL, 2),
}
"""Each takes an archive and a folder that does not exist; bucketsum's variants also hash."""


def main(variant: str, archive: Path, folder: Path) -> None:
    """Unzip once, and print time and memory."""
    meter = ProcessMeter()
    COMPARED[variant](archive, folder)
    print(json.dumps(meter.stop()))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
