"""An archive → its own digest and every member's, in one of three ways, archives in it included.

``stream`` decodes while the object arrives; ``tmp`` keeps it and its members in a folder, and
works with several threads; ``discard`` keeps the object and throws away what members come to.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from bucketsum.archives.background import BackgroundCalls
from bucketsum.archives.central_directory import Directory, read_directory
from bucketsum.archives.decoders import ENGINES
from bucketsum.archives.extract import ArchiveFile, check_room
from bucketsum.archives.member import LimitCounter
from bucketsum.archives.model import (
    ArchiveStatus,
    ArchiveStopped,
    Engine,
    Limits,
    Member,
    MemberDigest,
    Mode,
)
from bucketsum.archives.names import NameCollision, name_collisions, name_warnings
from bucketsum.archives.stream import Cursor, digests_in
from bucketsum.archives.workspace import workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from bucketsum.archives.member import Write
    from bucketsum.digest import RunningDigest
    from bucketsum.s3.range_reads import Read

NESTED_SEPARATOR: Final = "!/"
"""Between an archive's path and that of a member in it."""


@dataclass(frozen=True, slots=True)
class MemberResult:
    """A member's digest, and what else there is to say of it.

    Attributes:
        path: Its name, behind the names of the archives that it is in; unique in its archive.
        digest: What came of reading it.
        remarks: What is unusual about it, as ``climbs`` or ``duplicate``.
        inside: What became of it as an archive, where it was opened as one.
    """

    path: str
    digest: MemberDigest
    remarks: tuple[str, ...] = ()
    inside: ArchiveSummary | None = None


@dataclass(frozen=True, slots=True)
class ArchiveSummary:
    """What became of an archive's members.

    Attributes:
        status: What became of them as a whole.
        mode: How it was read.
        members: How many were read, those of nested archives not included.
        unreadable: How many of these have no digest.
        directories: How many folders they are in.
        member_bytes: What they came to.
        ratio: Of that to the archive's size.
        reason: Why *status* is not ``read``.
        remarks: What is unusual about the archive, as ``prefixed``.
    """

    status: ArchiveStatus
    mode: Mode
    members: int
    unreadable: int
    directories: int
    member_bytes: int
    ratio: float
    reason: str | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchiveReader:
    """How archives are to be read.

    Attributes:
        mode: In which of the three ways.
        limits: How much they may ask for.
        suffixes: What is an archive, in lower case; also in an archive, to `Limits.depth`.
        threads: How many work at the same time, other than in ``stream``.
        root: Where folders are made; None is the system's /tmp.
        engine: What inflates, one of `ENGINES`.
        aside: Whether a second core hashes the archive, and in ``stream`` its large members.
    """

    mode: Mode
    limits: Limits
    suffixes: tuple[str, ...] = ()
    threads: int = 2
    root: Path | None = None
    engine: Engine = ENGINES[0]
    aside: bool = False

    def takes(self, key: str) -> bool:
        """Whether an object of this key is treated as an archive."""
        return key.lower().endswith(self.suffixes)

    def read(
        self,
        read: Read,
        size_bytes: int,
        chunks: Iterator[bytes],
        digest: RunningDigest,
        on_member: Callable[[MemberResult], None],
        in_time: Callable[[], bool] = lambda: True,
    ) -> ArchiveSummary:
        """Take all of *chunks*, whatever the archive is like; its own digest is told by *digest*.

        What iterating *chunks*, *read* and *on_member* raise passes through unchanged.

        Args:
            read: Reads anywhere in the archive.
            size_bytes: How large it is.
            chunks: All of it, in order; never changed afterwards, as two may still be read.
            digest: Is given every chunk.
            on_member: Is given every member as soon as it has been read.
            in_time: Whether there is time for more.
        """
        tally = LimitCounter(self.limits, in_time)
        if not self.aside:
            task = _Task(self, tally, on_member)
            return self._read(read, size_bytes, digest.passing(chunks), task)
        with BackgroundCalls() as aside:
            task = _Task(self, tally, on_member, aside=aside)
            return self._read(read, size_bytes, aside.passing(digest.update, chunks), task)

    def _read(
        self, read: Read, size_bytes: int, passing: Iterator[bytes], task: _Task
    ) -> ArchiveSummary:
        stopped: ArchiveStopped | None = None
        try:
            directory = task.directory(read, size_bytes)
            if self.mode is Mode.STREAM:
                task.stream(directory, passing)
            else:
                self._through_tmp(task, directory, size_bytes, passing)
        except ArchiveStopped as error:
            stopped = error
        for _ in passing:  # what is left: the end of the archive, or all that nobody wanted
            continue
        return task.contents(self.mode, size_bytes, stopped)

    def _through_tmp(
        self, task: _Task, directory: Directory, size_bytes: int, passing: Iterator[bytes]
    ) -> None:
        with workspace(self.root) as folder:
            check_room(directory, size_bytes, folder, keeps=self.mode is Mode.TMP)
            archive = folder / "archive"
            with archive.open("wb", buffering=0) as file:
                for chunk in passing:
                    file.write(chunk)
            task.extract(directory, archive, folder / "m" if self.mode is Mode.TMP else None)


class _Task:
    """The reading of one archive, or of one within another."""

    def __init__(
        self,
        reader: ArchiveReader,
        tally: LimitCounter,
        on_member: Callable[[MemberResult], None],
        prefix: str = "",
        depth: int = 0,
        aside: BackgroundCalls | None = None,
    ) -> None:
        self._reader = reader
        self._tally = tally
        self._on_member = on_member
        self._prefix = prefix
        self._depth = depth
        self._aside = aside
        self._counts: Counter[str] = Counter()
        self._folders: set[str] = set()
        self._clashes: Mapping[int, NameCollision] = {}
        self._remarks: tuple[str, ...] = ()
        self._kept = bytearray()

    def directory(self, read: Read, size_bytes: int) -> Directory:
        """Read the directory, and what its names say."""
        directory = read_directory(read, size_bytes, self._reader.limits)
        self._remarks = directory.remarks
        self._tally.add_members(len(directory.members))
        self._clashes = name_collisions(directory.members)
        for member in directory.members:
            _add_folders(self._folders, member.name)
        return directory

    def stream(self, directory: Directory, chunks: Iterator[bytes]) -> None:
        """Read the members while *chunks* come."""
        cursor = Cursor(chunks)
        engine, aside = self._reader.engine, self._aside
        for digest in digests_in(cursor, directory, self._tally, self._write_for, engine, aside):
            self._take(digest, lambda: bytes(self._kept))

    def extract(self, directory: Directory, archive: Path, folder: Path | None) -> None:
        """Read the members of the file *archive*, and keep them in *folder*."""
        reader = self._reader
        file = ArchiveFile(archive, directory, self._tally, reader.engine)
        with closing(file.extracted(folder, reader.threads)) as digests:
            for digest in digests:
                self._take(digest, partial(file.content_of, digest.member))

    def contents(
        self, mode: Mode, size_bytes: int, stopped: ArchiveStopped | None
    ) -> ArchiveSummary:
        """What became of it all."""
        member_bytes = self._counts["bytes"]
        return ArchiveSummary(
            status=stopped.status if stopped else ArchiveStatus.READ,
            mode=mode,
            members=self._counts["members"],
            unreadable=self._counts["unreadable"],
            directories=len(self._folders),
            member_bytes=member_bytes,
            ratio=member_bytes / size_bytes if size_bytes else 0.0,
            reason=f"{stopped.status}: {stopped}" if stopped else None,
            remarks=self._remarks,
        )

    def _take(self, digest: MemberDigest, content: Callable[[], bytes]) -> None:
        member = digest.member
        self._counts["members"] += 1
        self._counts["bytes"] += digest.size_bytes
        self._counts["unreadable"] += digest.sha1 is None
        remarks = name_warnings(member.name) + (("symlink",) if member.is_symlink else ())
        clash = self._clashes.get(member.header_offset)
        if clash:
            remarks += (clash.remark,)
        path = self._prefix + (clash.path if clash else member.name)
        inside = None
        if digest.sha1 and self._opens(member):
            inside = self._nested(path, content())
        self._on_member(MemberResult(path, digest, remarks, inside))

    def _opens(self, member: Member) -> bool:
        limits = self._reader.limits
        return (
            self._depth < limits.depth
            and member.size_bytes <= limits.nested_bytes
            and self._reader.takes(member.name)
        )

    def _write_for(self, member: Member) -> Write | None:
        self._kept = bytearray()
        return self._kept.extend if self._opens(member) else None

    def _nested(self, path: str, content: bytes) -> ArchiveSummary:
        task = _Task(
            self._reader,
            self._tally,
            self._on_member,
            prefix=path + NESTED_SEPARATOR,
            depth=self._depth + 1,
        )
        stopped: ArchiveStopped | None = None
        try:
            directory = task.directory(
                lambda offset, length: content[offset : offset + length], len(content)
            )
            task.stream(directory, iter((content,)))
        except ArchiveStopped as error:
            if error.status in _OF_THE_WHOLE:
                raise
            stopped = error
        return task.contents(Mode.STREAM, len(content), stopped)


_OF_THE_WHOLE: Final = frozenset(
    {
        ArchiveStatus.TOO_MANY_MEMBERS,
        ArchiveStatus.TOO_LARGE,
        ArchiveStatus.TOO_DENSE,
        ArchiveStatus.OUT_OF_TIME,
    }
)
"""What ends the reading of the outer archive too: its limits count what is in it."""


def _add_folders(folders: set[str], name: str) -> None:
    folder = name.rpartition("/")[0]
    while folder and folder not in folders:
        folders.add(folder)
        folder = folder.rpartition("/")[0]
