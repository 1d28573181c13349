"""The sweep's workload ``unzip``: what the hash path does with an archive, without its rows."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from bucketsum.archives.decoders import ENGINES
from bucketsum.archives.model import Engine, Limits, Mode
from bucketsum.archives.reader import ArchiveReader
from bucketsum.digest import RunningDigest
from bucketsum.errors import BadSettings
from bucketsum.settings import archive_threads, has_second_core

if TYPE_CHECKING:
    from collections.abc import Callable

    from bucketsum.archives.reader import ArchiveSummary, MemberResult
    from bucketsum.digest import Digest
    from bucketsum.notifications import ObjectCreated
    from bucketsum.s3.range_reads import Read
    from bucketsum.s3.source import Source


def unzip_reader(mode: str, inflate: str, memory_mb: int) -> ArchiveReader:
    """The reader for a cell: ``stream``, ``tmp`` or ``discard``; ``isal`` or ``zlib``.

    Raises:
        BadSettings: It is another, or the layer has no such engine.
    """
    if mode not in tuple(Mode):
        raise BadSettings(f"mode is {mode!r}; allowed are {', '.join(Mode)}")
    if inflate not in ENGINES:
        raise BadSettings(f"inflate is {inflate!r}; this layer has {', '.join(ENGINES)}")
    limits = Limits(members=10_000_000, total_bytes=10**15, ratio=10**6)
    return ArchiveReader(
        Mode(mode),
        limits,
        threads=archive_threads(memory_mb),
        engine=Engine(inflate),
        aside=has_second_core(memory_mb),
    )


def unzip(
    source: Source,
    read: Read,
    arrival: ObjectCreated,
    reader: ArchiveReader,
    on_member: Callable[[MemberResult], None],
) -> tuple[Digest, ArchiveSummary]:
    """Read an archive as the hash path does, the time of which is the caller's to take.

    Every member is given to *on_member* as soon as it has been read, in no particular order.

    ArchiveSummary say what the article reports beside MB/s: members, directories and bytes. Where
    their status is not ``read``, the sample has failed.

    Raises:
        RetryLater: It could not be read to its end.
        NotHashed: It is gone, superseded or not readable.
    """
    digest = RunningDigest()
    with closing(source.open(arrival).chunks) as chunks:
        contents = reader.read(read, arrival.size_bytes, chunks, digest, on_member)
    return digest.digest(), contents
