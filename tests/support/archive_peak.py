"""Peak memory of a process that reads archives; its arguments are those of `main`."""

import sys
from pathlib import Path

from bench.tables.process import peak_bytes

from bucketsum.archives.archive_reader import ArchiveReader
from bucketsum.digest import RunningDigest
from bucketsum.table.archive_settings import ArchiveSettings, Limits, Mode


def main(mode: Mode, threads: int, *paths: Path) -> None:
    """Print the peak in bytes after each archive."""
    for path in paths:
        read_all(mode, threads, path)
        sys.stdout.write(f"{peak_bytes()}\n")


def read_all(mode: Mode, threads: int, path: Path) -> None:
    """Read the archive at *path* to its end."""
    limits = Limits(members=10, total_bytes=10**13, ratio=10**6)
    settings = ArchiveSettings(mode, limits, threads=threads, second_core=threads > 1)
    with path.open("rb") as file, path.open("rb", buffering=0) as chunks:

        def read(offset: int, length: int) -> bytes:
            file.seek(offset)
            return file.read(length)

        archive = ArchiveReader(settings, path.parent).open(read, path.stat().st_size)
        for _ in archive.members(iter(lambda: chunks.read(1 << 20), b""), RunningDigest()):
            continue
    assert archive.summary.reason is None
    assert not archive.summary.unreadable


if __name__ == "__main__":
    main(Mode(sys.argv[1]), int(sys.argv[2]), *map(Path, sys.argv[3:]))
