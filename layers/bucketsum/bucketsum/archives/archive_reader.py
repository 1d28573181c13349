"""An archive → its own digest and every member's, nested archives included.

``stream`` decodes while the object arrives; ``tmp`` writes it and its members to a folder, and
works with several threads; ``discard`` writes the object and discards its members' content.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from bucketsum.archives.background import BackgroundCalls
from bucketsum.archives.contents import Contents
from bucketsum.archives.cursor import Cursor
from bucketsum.archives.decoders import ENGINES
from bucketsum.archives.extract import ArchiveFile, check_room
from bucketsum.archives.limits import LimitCounter
from bucketsum.archives.member import Decoding, HashedMember
from bucketsum.archives.stream import streamed_members
from bucketsum.archives.workspace import workspace
from bucketsum.archives.zip_model import MemberResult
from bucketsum.digest import RunningDigest
from bucketsum.s3.range_reads import Read
from bucketsum.table.archive_settings import ArchiveSettings, Engine, Mode
from bucketsum.table.row_parts import ArchiveRecord


@dataclass(frozen=True, slots=True)
class ArchiveReader:
    """Reads the members of archives.

    Attributes:
        root: Where folders are made; None is the system's /tmp.
        engine: Decompression library for Deflate, one of `ENGINES`.
    """

    settings: ArchiveSettings
    root: Path | None = None
    engine: Engine = ENGINES[0]

    def open(self, read: Read, size_bytes: int) -> Archive:
        """The archive of *size_bytes* whose ranges *read* returns; nothing is read yet."""
        return Archive(self, read, size_bytes)


class Archive:
    """An archive: iterate `members` once, then take the `summary`."""

    def __init__(self, reader: ArchiveReader, read: Read, size_bytes: int) -> None:
        self._reader = reader
        self._read = read
        self._size_bytes = size_bytes
        self._contents = Contents(reader.settings.limits, reader.settings.suffixes)

    @property
    def summary(self) -> ArchiveRecord:
        """The members that were read, as a whole."""
        return self._contents.summary(self._reader.settings.mode)

    def members(
        self,
        chunks: Iterable[bytes],
        digest: RunningDigest,
        in_time: Callable[[], bool] = lambda: True,
    ) -> Generator[MemberResult]:
        """Hash every member while *chunks* pass, and yield each as soon as it has been read.

        At the end all chunks have been consumed, even if the archive is invalid, and *digest* is
        the archive's own. Errors of *chunks* and of reading ranges pass through unchanged. Chunks
        must never change afterwards, as two may still be in use.

        The first chunk comes before the central directory, which can be crafted to take long:
        *in_time*, whether there is time for members, can judge by it, and is asked meanwhile.
        """
        settings = self._reader.settings
        counter = LimitCounter(settings.limits, in_time)
        with BackgroundCalls() if settings.second_core else nullcontext() as background:
            if background:
                passing = background.passing(digest.update, chunks)
            else:
                passing = digest.passing(chunks)
            decoding = Decoding(counter, self._reader.engine, background)
            passing = chain([*islice(passing, 1)], passing)
            self._contents.open(self._read, self._size_bytes, counter)
            with closing(self._hashed(passing, decoding)) as hashed:
                yield from self._contents.results(hashed, decoding)
            for _ in passing:  # the end of the archive, or all of an invalid one
                continue

    def _hashed(self, chunks: Iterator[bytes], decoding: Decoding) -> Generator[HashedMember]:
        contents = self._contents
        if self._reader.settings.mode is Mode.STREAM or contents.directory.is_searched:
            return streamed_members(Cursor(chunks), contents.directory, decoding, contents.opens)
        return self._extracted(chunks, decoding)

    def _extracted(self, chunks: Iterator[bytes], decoding: Decoding) -> Generator[HashedMember]:
        contents, settings = self._contents, self._reader.settings
        keeps = settings.mode is Mode.TMP
        with workspace(self._reader.root) as folder:
            check_room(
                contents.directory, contents.size_bytes, folder, settings.limits, keeps=keeps
            )
            path = folder / "archive"
            with path.open("wb", buffering=0) as file:
                for chunk in chunks:
                    file.write(chunk)
            # Each thread hashes its own members: on the one other core they would wait in a row.
            own = replace(decoding, background=None)
            archive = ArchiveFile(path, contents.directory, own)
            members = folder / "m" if keeps else None
            with closing(archive.members(members, settings.threads, contents.opens)) as hashed:
                yield from hashed
