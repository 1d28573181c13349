"""What a 2 GB archive takes in memory: ``python -m bench.unzip.memory``.

The archive is 1 GB stored and 1 GB deflated, a member each. It is read by a process in a control
group that may not take more than `MEMORY_MB`, files that it writes and are not on disk yet
included, and that is killed if it does.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bucketsum_cli import output
from bucketsum_cli.local.cgroups import cgroup_roots, remove_roots
from bucketsum_cli.local.worker import Cgroup

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORY_MB: Final = 128
MEMBER_BYTES: Final = 1_000_000_000
WAYS: Final = ("bucketsum stream", "bucketsum stream, 2 threads", "bucketsum tmp, 2 threads")

_SOURCE_BYTES: Final = 3_000_000
_NOISE_BYTES: Final = 1_000_000
_LOCAL: Final = struct.Struct("<4sHHHHHLLLHH")
_ENTRY: Final = struct.Struct("<4sHHHHHHLLLHHHHHLL")
_END: Final = struct.Struct("<4sHHHHLLH")


def archive_pieces(member_bytes: int = MEMBER_BYTES) -> Iterator[bytes]:
    """A valid archive of two members: source code and noise, compressed once and repeated."""
    sources = (path.read_bytes() for path in sorted(Path(os.__file__).parent.glob("*.py")))
    piece = b"".join(sources)[:_SOURCE_BYTES] + os.urandom(_NOISE_BYTES)
    engine = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = engine.compress(piece) + engine.flush(zlib.Z_FULL_FLUSH)  # can follow itself
    offset, entries = 0, b""
    for name, method, unit, end in ((b"stored", 0, piece, b""), (b"deflated", 8, block, b"\x03\0")):
        times = member_bytes // len(unit)
        crc32 = 0
        for _ in range(times):
            crc32 = zlib.crc32(piece, crc32)
        sizes = times * len(unit) + len(end), times * len(piece)
        fields = (20, 0, method, 0, 0, crc32, *sizes, len(name), 0)
        yield _LOCAL.pack(b"PK\x03\x04", *fields) + name
        for _ in range(times):
            yield unit
        yield end
        entries += _ENTRY.pack(b"PK\x01\x02", 20, *fields, 0, 0, 0, 0, offset) + name
        offset += _LOCAL.size + len(name) + sizes[0]
    yield entries + _END.pack(b"PK\x05\x06", 0, 0, 2, 2, len(entries), offset, 0)


def measured(way: str, archive: Path, scratch: Path, roots: dict[str, str]) -> list[str]:
    """Read *archive* in one way, in a box of its own."""
    with subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-c", _WAITS, way, archive, scratch / "out"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        box = Cgroup(roots, str(child.pid), MEMORY_MB)
        box.limit_memory(child.pid)
        told = child.communicate(b"go\n")[0]
    box.remove()
    if child.returncode:
        return [way, f"ended with {child.returncode}", "", ""]
    timing = json.loads(told)
    size_mb = archive.stat().st_size / 1e6
    return [
        way,
        f"{timing['peak_bytes'] / 1e6:.1f}",
        f"{timing['seconds']:.1f}",
        f"{size_mb / timing['seconds']:.1f}",
    ]


_WAITS: Final = (
    "import sys; from pathlib import Path; from bench.unzip.ways import main; sys.stdin.readline();"
    "main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))"
)
"""Begins once it is in its box."""


def run() -> None:
    """Make the archive, and read it in each mode."""
    roots = cgroup_roots(f"bucketsum-bench-{os.getpid()}")
    if roots is None:
        raise SystemExit("this machine lets us limit no process's memory")
    folder = Path(".bucketsum", "bench-unzip")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            archive = Path(scratch, "2gb.zip")
            with archive.open("wb") as file:
                file.writelines(archive_pieces())
            size = output.size_text(archive.stat().st_size)
            output.say(f"an archive of {size}, in {MEMORY_MB} MiB of memory")
            columns = [
                output.Column("way"),
                *(output.Column(title, 10, right=True) for title in ("peak MB", "seconds", "MB/s")),
            ]
            output.print_table(
                columns, (measured(way, archive, Path(scratch), roots) for way in WAYS)
            )
    finally:
        remove_roots(roots)


if __name__ == "__main__":
    run()
