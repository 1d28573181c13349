"""A zip archive in a file → its members in a folder, decoded and hashed by several threads."""

from __future__ import annotations

import errno
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Final

from bucketsum.archives.central_directory import LOCAL_BYTES
from bucketsum.archives.member import FEED_BYTES, LimitCounter, digest_of_member
from bucketsum.archives.model import ArchiveStatus, ArchiveStopped, Engine, Member, MemberDigest
from bucketsum.archives.stream import check_header, check_name

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from bucketsum.archives.central_directory import Directory
    from bucketsum.archives.member import Write

BLOCK_BYTES: Final = 4096
"""What a file system gives at least to each file and folder."""

_BATCH_MEMBERS: Final = 64
_BATCH_BYTES: Final = 1024 * 1024
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Planned:
    """A member, and where the next, or the directory, begins."""

    member: Member
    end: int


def check_room(
    directory: Directory, archive_bytes: int, folder: Path, *, keeps: bool = True
) -> None:
    """Refuse an archive that does not fit into *folder*, where *keeps* with all its members.

    Raises:
        ArchiveStopped: It needs more than is free; the text says how much.
    """
    sizes = (member.size_bytes for member in directory.members)
    blocks = sum(-(-size // BLOCK_BYTES) + 1 for size in sizes)  # and its place in a folder
    needed = archive_bytes + keeps * blocks * BLOCK_BYTES
    usage = shutil.disk_usage(folder)
    if needed > usage.free:
        raise ArchiveStopped(
            ArchiveStatus.NO_ROOM,
            f"it needs {needed} bytes of /tmp, {usage.free} are free: raise EphemeralStorageSize "
            f"to {-(-(needed + usage.used) // _MIB)} (10240 at most), or set ArchiveMode to stream",
        )


class ArchiveFile:
    """An archive in a file, whose members can be read in any order and by several threads."""

    def __init__(
        self, path: Path, directory: Directory, tally: LimitCounter, engine: Engine
    ) -> None:
        self._path = path
        self._planned = _planned(directory)
        self._tally = tally
        self._engine = engine

    def extracted(self, folder: Path | None, threads: int) -> Generator[MemberDigest]:
        """Hash every member that is not a folder, large ones first.

        Memory is a piece and a decoder for each thread.

        Args:
            folder: Where members go; None discards them. No member's name becomes a path: a file
                is named by where its member is in the archive, and each thread has a folder of
                its own, which others need not wait for.
            threads: How many work at the same time.

        Raises:
            ArchiveStopped: A header contradicts the directory, or a limit was reached.
        """
        pool = ThreadPoolExecutor(threads)
        handle = os.open(self._path, os.O_RDONLY)
        try:
            digest = partial(self._digests, handle, folder)
            for digests in pool.map(digest, _batches(self._planned)):
                yield from digests
        finally:
            self._tally.stop()
            pool.shutdown(cancel_futures=True)
            os.close(handle)

    def content_of(self, member: Member) -> bytes:
        """All that *member* comes to, in memory."""
        content = bytearray()
        planned = next(one for one in self._planned if one.member is member)
        with self._path.open("rb") as file:
            views = _views(file.fileno(), planned)
            digest_of_member(
                member, views, LimitCounter(self._tally.limits), content.extend, self._engine
            )
        return bytes(content)

    def _digests(
        self, handle: int, folder: Path | None, batch: Sequence[_Planned]
    ) -> list[MemberDigest]:
        try:
            return [
                digest for one in batch if (digest := self._digest(handle, folder, one)) is not None
            ]
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise ArchiveStopped(
                ArchiveStatus.NO_ROOM,
                f"{error.strerror} in the function's storage: raise EphemeralStorageSize",
            ) from None

    def _digest(self, handle: int, folder: Path | None, one: _Planned) -> MemberDigest | None:
        views = _views(handle, one)
        if one.member.is_directory:
            return None
        if folder is None:
            return digest_of_member(one.member, views, self._tally, None, self._engine)
        with _new_file(folder / str(get_ident()), str(one.member.header_offset)) as write:
            return digest_of_member(one.member, views, self._tally, write, self._engine)


def _planned(directory: Directory) -> list[_Planned]:
    """Large ones first, so that none is left to one thread at the end; the others as they lie."""
    planned = [_Planned(member, end) for member, end in directory.by_offset()]
    return sorted(planned, key=lambda one: -(one.member.compressed_bytes // _BATCH_BYTES))


def _batches(planned: Sequence[_Planned]) -> Iterator[list[_Planned]]:
    """Small members go together: handing over work has its price."""
    batch: list[_Planned] = []
    batch_bytes = 0
    for one in planned:
        batch.append(one)
        batch_bytes += one.member.compressed_bytes
        if len(batch) == _BATCH_MEMBERS or batch_bytes >= _BATCH_BYTES:
            yield batch
            batch, batch_bytes = [], 0
    if batch:
        yield batch


@contextmanager
def _new_file(folder: Path, name: str) -> Iterator[Write]:
    """A file that was not there before; nothing that is there already is ever opened."""
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


def _views(handle: int, one: _Planned) -> Iterator[memoryview]:
    """The compressed bytes of a member, once its header agrees with the directory."""
    member, at = one.member, one.member.header_offset
    header = _exactly(handle, LOCAL_BYTES, at)
    name_bytes, extra_bytes = check_header(member, header, at, one.end)
    at += LOCAL_BYTES
    rest = _exactly(handle, name_bytes + extra_bytes, at)
    check_name(member, header, rest[:name_bytes], rest[name_bytes:])
    return _pieces(handle, at + name_bytes + extra_bytes, member.compressed_bytes)


def _pieces(handle: int, at: int, count: int) -> Iterator[memoryview]:
    end = at + count
    while at < end:
        data = _exactly(handle, min(FEED_BYTES, end - at), at)
        yield memoryview(data)
        at += len(data)


def _exactly(handle: int, count: int, at: int) -> bytes:
    data = os.pread(handle, count, at)
    if len(data) < count:
        raise ArchiveStopped(ArchiveStatus.TRUNCATED, f"it ends after {at + len(data)} bytes")
    return data
