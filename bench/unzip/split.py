"""CPU time of the parts of reading an archive.

Each part is timed piece by piece, in the reader's piece sizes; the best of some turns counts. The
sum of the parts is the shortest time that a reader with these libraries can take; the rest of the
reader's time is its overhead.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from typing import TYPE_CHECKING, Final

from bench.tables.table import Column, Table, numbers
from bench.unzip.variants import CHUNK_BYTES, VARIANTS
from bucketsum.archives.central_directory import read_directory
from bucketsum.archives.decoders import crc32, decoder_for
from bucketsum.archives.local_header import LOCAL_BYTES
from bucketsum.archives.member import FEED_BYTES
from bucketsum.table.archive_values import Engine, Limits
from bucketsum_cli.terminal import output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from bench.unzip.archives import Archive
    from bucketsum.archives.model import Member

    Bytes = bytes | memoryview

_TURNS: Final = 3
_LIMITS: Final = Limits(members=500_000)


def table(archives: Sequence[Archive]) -> Table:
    """CPU milliseconds of each part, and of `stream` and `zipfile` as a whole."""
    titles = (
        "inflate", "CRC-32", "SHA-1 of members", "SHA-1 of archive", "all else",
        "stream", "zlib and CRC-32", "zipfile to /dev/null",
    )  # fmt: skip
    columns = (
        Column("archive", "archive"),
        *numbers(*titles, decimals=0),
        *numbers("× zipfile", "× at best", decimals=2),
    )
    return Table(
        "unzip",
        columns,
        tuple((archive.name, *split_of(archive.path)) for archive in archives),
        "CPU time of the parts of bucketsum's stream, in milliseconds",
        "`× at best` is the factor that a reader without any overhead would reach: `zipfile`'s "
        "time divided by the time of the four parts alone.",
    )


def split_of(archive: Path) -> tuple[float, ...]:
    """All numbers of one row."""
    output.note(f"the parts of {archive.name}")
    data = archive.read_bytes()
    members = list(_compressed(data))
    ours = [_parts(members, Engine.ISAL, crc32) for _ in range(_TURNS)]
    theirs = [_parts(members, Engine.ZLIB, zlib.crc32) for _ in range(_TURNS)]
    parts = (*map(min, zip(*ours, strict=True)), _least(lambda: _hash(data)))
    stream = _least(lambda: VARIANTS["bucketsum stream"](archive, archive.parent))
    zipfile = _least(lambda: VARIANTS["zipfile to /dev/null"](archive, archive.parent))
    zlib_ms = min(inflate + crc for inflate, crc, _ in theirs)
    overhead = stream - sum(parts)
    return *parts, overhead, stream, zlib_ms, zipfile, zipfile / stream, zipfile / sum(parts)


def _least(work: Callable[[], object]) -> float:
    milliseconds = []
    for _ in range(_TURNS):
        started = time.process_time()
        work()
        milliseconds.append(1000 * (time.process_time() - started))
    return min(milliseconds)


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
    """CPU milliseconds of decompressing, CRC-32 and SHA-1, one piece after the other."""
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
    return inflating / 1e6, checking / 1e6, hashing / 1e6


def _hash(data: bytes) -> None:
    view = memoryview(data)
    running = hashlib.sha1(usedforsecurity=False)
    for at in range(0, len(data), CHUNK_BYTES):
        running.update(view[at : at + CHUNK_BYTES])
