"""A zip archive in a file → its members in a folder, decoded and hashed by several threads."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import get_ident
from typing import Final, NamedTuple

from bucketsum.archives.bounded_decoder import FEED_BYTES
from bucketsum.archives.central_directory import Directory, Placed
from bucketsum.archives.limits import RATIO_FREE_BYTES, LimitCounter
from bucketsum.archives.member import (
    Decoding,
    HashedMember,
    Write,
    digest_of_member,
    hashed_content,
)
from bucketsum.archives.placed import hashed_at
from bucketsum.archives.plain import plain_member
from bucketsum.archives.zip_model import ArchiveStopped, Member
from bucketsum.table.archive_settings import STORAGE_MIB_MAX, Limits
from bucketsum.table.archive_status import ArchiveStatus

BLOCK_BYTES: Final = 4096
"""Least disk space of a file or folder."""

_BATCH_MEMBERS: Final = 64
_BATCH_BYTES: Final = 1024 * 1024
_MIB: Final = 1024 * 1024


class _ReadMembers(NamedTuple):
    """Results of members that were read together, and the error that ended the batch early."""

    hashed: Sequence[tuple[Placed, HashedMember]]
    error: ArchiveStopped | None = None


def check_room(
    directory: Directory, archive_bytes: int, folder: Path, limits: Limits, *, keeps: bool = True
) -> None:
    """Refuse an archive that does not fit into *folder*; with *keeps*, its members must fit too.

    No member counts for more than can come out of the bytes up to the next one.

    Raises:
        ArchiveStopped: It needs more than is free; the text says how much.
    """
    sizes = (
        min(member.size_bytes, max(RATIO_FREE_BYTES, limits.ratio * placed.room_bytes))
        for placed in directory.by_offset()
        for member in placed.members
    )
    blocks = sum(-(-size // BLOCK_BYTES) + 1 for size in sizes)  # and its place in a folder
    needed = archive_bytes + keeps * blocks * BLOCK_BYTES
    usage = shutil.disk_usage(folder)
    if needed > usage.free:
        needed_mib = -(-(needed + usage.used) // _MIB)
        if needed_mib > STORAGE_MIB_MAX:
            reason = f"it needs more than the {STORAGE_MIB_MAX} MiB that /tmp can have"
            raise ArchiveStopped(ArchiveStatus.NO_ROOM, f"{reason}: set ArchiveMode to stream")
        raise ArchiveStopped(
            ArchiveStatus.NO_ROOM,
            f"it needs {needed} bytes of /tmp, {usage.free} are free: raise EphemeralStorageSize "
            f"to {needed_mib}, or set ArchiveMode to stream",
        )


class ArchiveFile:
    """An archive in a file, whose members can be read in any order and by several threads."""

    def __init__(self, path: Path, directory: Directory, decoding: Decoding) -> None:
        self._path = path
        # Large members first, so that none is left to one thread at the end; others as they lie.
        self._places = sorted(
            directory.by_offset(), key=lambda placed: -(placed.room_bytes // _BATCH_BYTES)
        )
        self._decoding = decoding

    def members(
        self, folder: Path | None, threads: int, keeps: Callable[[Member], bool]
    ) -> Generator[HashedMember]:
        """Hash every member that is not a folder, large ones first.

        Memory is a piece and a decoder for each thread, and one content that is kept.

        They go to *folder*; None discards them. No member's name becomes a path: a file is named by
        its member's offset, and each thread has a folder of its own, so that threads do not wait
        for each other. A member whose content *keeps* keeps in memory is decoded once more for it.

        Raises:
            ArchiveStopped: A header contradicts the directory, or a limit was reached.
        """
        pool = ThreadPoolExecutor(threads)
        handle = os.open(self._path, os.O_RDONLY)
        try:
            read = partial(self._read_batch, handle, folder)
            for batch in pool.map(read, _batches(self._places)):
                for placed, hashed in batch.hashed:
                    again = hashed.digest.sha1 and keeps(hashed.digest.member)
                    yield self._kept(handle, placed, keeps) if again else hashed
                if batch.error:
                    raise batch.error
        finally:
            self._decoding.counter.stop()
            pool.shutdown(cancel_futures=True)
            os.close(handle)

    def _kept(self, handle: int, placed: Placed, keeps: Callable[[Member], bool]) -> HashedMember:
        limits = self._decoding.counter.limits  # its output was counted before
        decoding = replace(self._decoding, counter=LimitCounter(limits))
        read = partial(hashed_content, decoding=decoding, keeps=keeps)
        *_, hashed = hashed_at(placed, _FileSource(handle, placed.offset), read)
        return hashed

    def _read_batch(
        self, handle: int, folder: Path | None, batch: Iterable[Placed]
    ) -> _ReadMembers:
        hashed: list[tuple[Placed, HashedMember]] = []
        try:
            for placed in batch:
                source = _FileSource(handle, placed.offset)
                if plain := plain_member(placed, source, self._decoding):
                    hashed.append((placed, self._written(folder, plain)))
                    continue
                read = partial(self._hashed, folder)
                hashed.extend((placed, member) for member in hashed_at(placed, source, read))
        except ArchiveStopped as error:
            return _ReadMembers(hashed, error)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            reason = f"{error.strerror} in the function's storage: raise EphemeralStorageSize"
            return _ReadMembers(hashed, ArchiveStopped(ArchiveStatus.NO_ROOM, reason))
        return _ReadMembers(hashed)

    def _written(self, folder: Path | None, plain: HashedMember) -> HashedMember:
        if folder is not None and plain.content is not None:
            offset = plain.digest.member.header_offset
            with _new_file(folder / str(get_ident()), str(offset)) as write:
                write(plain.content)
        return HashedMember(plain.digest)

    def _hashed(
        self, folder: Path | None, claims: tuple[Member, ...], compressed: Iterable[memoryview]
    ) -> HashedMember:
        if folder is None:
            return HashedMember(digest_of_member(claims, compressed, self._decoding))
        with _new_file(folder / str(get_ident()), str(claims[0].header_offset)) as write:
            return HashedMember(digest_of_member(claims, compressed, self._decoding, write))


def _batches(places: Iterable[Placed]) -> Iterator[list[Placed]]:
    """Small members together: handing over work has a price."""
    batch: list[Placed] = []
    batch_bytes = 0
    for placed in places:
        batch.append(placed)
        batch_bytes += placed.room_bytes
        if len(batch) == _BATCH_MEMBERS or batch_bytes >= _BATCH_BYTES:
            yield batch
            batch, batch_bytes = [], 0
    if batch:
        yield batch


@contextmanager
def _new_file(folder: Path, name: str) -> Iterator[Write]:
    """Create a file; an existing one is never opened."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        handle = os.open(folder / name, flags, 0o600)
    except FileNotFoundError:
        folder.mkdir(parents=True)
        handle = os.open(folder / name, flags, 0o600)

    def write(piece: bytes | memoryview) -> None:
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(handle, rest) :]

    try:
        yield write
    finally:
        os.close(handle)


class _FileSource:
    """Bytes of a file from *offset* on."""

    def __init__(self, handle: int, offset: int) -> None:
        self._handle = handle
        self.offset = offset

    def peek(self, count: int) -> bytes:
        """The next *count* bytes, which stay the next."""
        return _exactly(self._handle, count, self.offset)

    def skip_to(self, offset: int) -> None:
        """Skip everything before *offset*."""
        self.offset = offset

    def views(self, count: int) -> Iterator[memoryview]:
        """The next *count* bytes."""
        end = self.offset + count
        while self.offset < end:
            data = self.peek(min(FEED_BYTES, end - self.offset))
            self.offset += len(data)
            yield memoryview(data)


def _exactly(handle: int, count: int, at: int) -> bytes:
    data = os.pread(handle, count, at)
    if len(data) < count:
        raise ArchiveStopped(ArchiveStatus.TRUNCATED, f"it ends after {at + len(data)} bytes")
    return data
