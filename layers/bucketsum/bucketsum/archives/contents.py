"""The members of an archive as they are read, those of nested archives included."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Final

from bucketsum.archives.central_directory import Directory, read_directory
from bucketsum.archives.cursor import Cursor
from bucketsum.archives.limits import LimitCounter
from bucketsum.archives.member import Decoding, HashedMember
from bucketsum.archives.names import (
    PATH_BYTES_MAX,
    UniquePaths,
    folder_count,
    name_warnings,
    shortened,
)
from bucketsum.archives.stream import streamed_members
from bucketsum.archives.zip_model import ArchiveStopped, Member, MemberDigest, MemberResult
from bucketsum.s3.range_reads import Read
from bucketsum.table.archive_settings import Limits, Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.row_parts import ArchiveRecord

NESTED_SEPARATOR: Final = "!/"
"""Between a nested archive's path and that of a member in it."""

_OF_THE_WHOLE: Final = frozenset(
    {
        ArchiveStatus.TOO_MANY_MEMBERS,
        ArchiveStatus.TOO_LARGE,
        ArchiveStatus.TOO_DENSE,
        ArchiveStatus.OUT_OF_TIME,
    }
)
"""Statuses of a nested archive that end the outer one too, whose limits count both."""


class Contents:
    """The members of an archive, or of a nested archive."""

    def __init__(
        self, limits: Limits, suffixes: tuple[str, ...], outer: Contents | None = None
    ) -> None:
        """Begin with nothing; *limits* are those of the outermost archive."""
        self._limits = limits
        self._suffixes = suffixes
        self.paths: UniquePaths = outer.paths if outer else UniquePaths()
        self.depth: int = outer.depth + 1 if outer else 0
        self._prefix = ""
        self._collisions: Mapping[int, str] = {}
        self._members = self._unreadable = self._member_bytes = self._folders = 0
        self._remarks: tuple[str, ...] = ()
        self.stopped: ArchiveStopped | None = None
        self.size_bytes = 0
        self.directory = Directory((), 0, 0)

    def open(self, read: Read, size_bytes: int, counter: LimitCounter, prefix: str = "") -> None:
        """Read the central directory; if it is invalid, or time is up, the summary says so.

        If it is nested, its members' paths begin with *prefix*.
        """
        self.size_bytes = size_bytes
        self._prefix = prefix
        try:
            directory = read_directory(read, size_bytes, counter)
            members = directory.members
            self._collisions = self.paths.collisions(counter.examined(reversed(members)), prefix)
            self._folders = folder_count(counter.examined(members), self._limits.members)
        except ArchiveStopped as error:
            self.stopped = error.with_traceback(None)  # which would keep the content
            return
        self.directory = directory
        self._remarks = directory.remarks
        if self._folders == self._limits.members:
            self._remarks += ("many-folders",)

    def opens(self, member: Member) -> bool:
        """Whether *member* is to be opened as a nested archive."""
        return (
            self.depth < self._limits.depth
            and member.size_bytes <= self._limits.nested_bytes
            and member.name.lower().endswith(self._suffixes)
        )

    def results(
        self, hashed: Iterable[HashedMember], decoding: Decoding
    ) -> Generator[MemberResult]:
        """The members' results; a nested archive comes after its members.

        If there is no directory to begin with, *hashed* is not iterated.
        """
        if self.stopped:
            return
        try:
            decoding.counter.add_members(len(self.directory.members))
            for digest, content in hashed:
                if digest.sha1 is None:  # there can be many without anything decoded
                    decoding.counter.require_time()
                yield from self._result(digest, content, decoding)
                del digest, content  # not kept while the next member is read
            self.stopped = self.directory.problem
        except ArchiveStopped as error:
            self.stopped = error.with_traceback(None)  # which would keep the content

    def _result(
        self, digest: MemberDigest, content: memoryview | None, decoding: Decoding
    ) -> Generator[MemberResult]:
        member = digest.member
        is_nothing = digest.sha1 and not digest.size_bytes
        if member.ends_as_folder and is_nothing and "contradictory" not in digest.remarks:
            return  # a folder whose nothing was compressed
        self._members += 1
        self._member_bytes += digest.size_bytes if digest.sha1 else 0
        self._unreadable += digest.sha1 is None
        name = member.name
        collisions = self._collisions
        if "unlisted" in digest.remarks:
            collisions = self.paths.collisions((member,), self._prefix)
        remarks = name_warnings(name) + (("symlink",) if member.is_symlink else ())
        if name.endswith("/") or member.ends_as_folder:
            remarks += ("named-as-folder",)
        elif member.is_marked_as_folder:
            remarks += ("marked-as-folder",)
        remarks += digest.remarks
        suffix = collisions.get(member.place)
        if suffix is not None:
            name += suffix
            remarks += ("duplicate" if suffix else "case-collision",)
        path = shortened(self._prefix + name, PATH_BYTES_MAX)
        inside = None
        if content is not None and digest.sha1:
            inside = yield from self._nested(path, content, decoding)
        yield MemberResult(path, digest, remarks, inside)

    def _nested(
        self, path: str, content: memoryview, decoding: Decoding
    ) -> Generator[MemberResult, None, ArchiveRecord]:
        nested = Contents(self._limits, self._suffixes, outer=self)
        nested.open(
            lambda offset, length: content[offset : offset + length],
            len(content), decoding.counter, path + NESTED_SEPARATOR,
        )  # fmt: skip
        cursor = Cursor((content,))
        hashed = streamed_members(cursor, nested.directory, decoding, nested.opens)
        yield from nested.results(hashed, decoding)
        if nested.stopped and nested.stopped.status in _OF_THE_WHOLE:
            raise nested.stopped
        return nested.summary(Mode.STREAM)

    def summary(self, mode: Mode) -> ArchiveRecord:
        """The summary of the members, which were read in *mode*."""
        stopped = self.stopped
        return ArchiveRecord(
            status=stopped.status if stopped else ArchiveStatus.READ,
            mode=mode,
            members=self._members,
            unreadable=self._unreadable,
            directories=self._folders,
            member_bytes=self._member_bytes,
            ratio=self._member_bytes / self.size_bytes if self.size_bytes else 0.0,
            reason=f"{stopped.status}: {stopped}" if stopped else None,
            remarks=self._remarks,
        )
