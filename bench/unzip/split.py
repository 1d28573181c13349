"""CPU time of the parts of reading an archive: ``python -m bench.unzip.split ARCHIVE``.

Each part is timed piece by piece, in the reader's piece sizes; the best of some turns counts. The
sum of the parts is the shortest time that a reader with these libraries can take; the rest of the
reader's time is its overhead.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.unzip.turns import output_of
from bench.unzip.variants import CHUNK_BYTES, VARIANTS
from bucketsum.archives.central_directory import read_directory
from bucketsum.archives.decoders import crc32, decoder_for
from bucketsum.archives.local_header import LOCAL_BYTES
from bucketsum.archives.member import FEED_BYTES
from bucketsum.archives.model import Engine, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bucketsum.archives.model import Member

    Bytes = bytes | memoryview

MODULE: Final = "bench.unzip.split"
_TURNS: Final = 3
_LIMITS: Final = Limits(members=500_000)


@dataclass(frozen=True, slots=True)
class Split:
    """CPU seconds of each part, and of `stream` and `zipfile` as a whole.

    Attributes:
        inflate: Decompressing with ISA-L, or with zlib if ISA-L is not installed.
        crc32: CRC-32 of the output.
        sha1_members: SHA-1 of the output.
        sha1_archive: SHA-1 of the archive.
        stream: bucketsum's mode `stream` as a whole.
        zlib: Decompressing with zlib and its CRC-32, as `zipfile` does.
        zipfile: `zipfile` to /dev/null.
    """

    inflate: float
    crc32: float
    sha1_members: float
    sha1_archive: float
    stream: float
    zlib: float
    zipfile: float

    @property
    def parts(self) -> float:
        """The sum of all parts of `stream`."""
        return self.inflate + self.crc32 + self.sha1_members + self.sha1_archive

    @property
    def overhead(self) -> float:
        """CPU time of `stream` beyond its parts: reading the file, headers, Python."""
        return self.stream - self.parts

    @property
    def best_ratio(self) -> float:
        """Time of `zipfile` to /dev/null ÷ that of a reader without overhead."""
        return self.zipfile / self.parts


def split_of(archive: Path) -> Split:
    """Measure in a process of its own, on one core."""
    return Split(**output_of(MODULE, [str(archive)], cores=1))


def _measured(archive: Path) -> Split:
    data = archive.read_bytes()
    members = list(_compressed(data))
    ours = [_parts(members, Engine.ISAL, crc32) for _ in range(_TURNS)]
    theirs = [_parts(members, Engine.ZLIB, zlib.crc32) for _ in range(_TURNS)]
    return Split(
        inflate=min(inflate for inflate, _, _ in ours),
        crc32=min(crc for _, crc, _ in ours),
        sha1_members=min(sha1 for _, _, sha1 in ours),
        sha1_archive=_least(lambda: _hash(data)),
        stream=_least(lambda: VARIANTS["bucketsum stream"](archive, archive.parent)),
        zlib=min(inflate + crc for inflate, crc, _ in theirs),
        zipfile=_least(lambda: VARIANTS["zipfile to /dev/null"](archive, archive.parent)),
    )


def _least(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(_TURNS):
        started = time.process_time()
        work()
        seconds.append(time.process_time() - started)
    return min(seconds)


def _compressed(data: bytes) -> Iterator[tuple[Member, memoryview]]:
    view = memoryview(data)
    directory = read_directory(lambda at, length: data[at : at + length], len(data), _LIMITS)
    for member in directory.members:
        at = member.header_offset
        extra_bytes = int.from_bytes(data[at + 28 : at + 30], "little")
        begin = at + LOCAL_BYTES + len(member.raw_name) + extra_bytes
        yield member, view[begin : begin + member.compressed_bytes]


def _parts(
    members: list[tuple[Member, memoryview]], engine: Engine, crc: Callable[[Bytes, int], int]
) -> tuple[float, float, float]:
    """CPU seconds of decompressing, CRC-32 and SHA-1, one piece after the other."""
    clock = time.thread_time_ns
    inflating = checking = hashing = 0
    for member, data in members:
        at = clock()
        decoder = decoder_for(member, _LIMITS, engine)
        running = hashlib.sha1(usedforsecurity=False)
        value = 0
        for begin in range(0, len(data), FEED_BYTES):
            for piece in decoder.decode(data[begin : begin + FEED_BYTES]):
                inflated = clock()
                value = crc(piece, value)
                checked = clock()
                running.update(piece)
                inflating += inflated - at
                checking += checked - inflated
                at = clock()
                hashing += at - checked
        inflating += clock() - at
    return inflating / 1e9, checking / 1e9, hashing / 1e9


def _hash(data: bytes) -> None:
    view = memoryview(data)
    running = hashlib.sha1(usedforsecurity=False)
    for at in range(0, len(data), CHUNK_BYTES):
        running.update(view[at : at + CHUNK_BYTES])


if __name__ == "__main__":
    print(json.dumps(asdict(_measured(Path(sys.argv[1])))))
