"""Reads an archive that is in memory, in each mode."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self
from unittest.mock import patch

from tests.support.archive_rules import read_stream
from tests.support.sha1 import sha1_of

from bucketsum.archives import archive_reader, member
from bucketsum.archives.archive_reader import ArchiveReader
from bucketsum.archives.background import WAITING_BYTES, BackgroundCalls
from bucketsum.table.archive_settings import ArchiveSettings, Engine, Limits, Mode


class LateCalls(BackgroundCalls):
    """A second core that is always late: it makes a call when somebody waits for it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.wait()

    def do(self, call: Callable[[bytes | memoryview], object], data: bytes | memoryview) -> None:
        """See `BackgroundCalls.do`."""
        if self._waiting_bytes + len(data) > WAITING_BYTES:
            self.wait()
        self._calls.append((call, data))
        self._waiting_bytes += len(data)

    def wait(self) -> None:
        """Make the calls now."""
        while self._calls:
            call, data = self._calls.popleft()
            self._waiting_bytes -= len(data)
            call(data)


class Read:
    """The result of reading *data* in *mode*.

    Attributes:
        contents: As a whole.
        members: Its members.
        sha1: The archive's own.
    """

    def __init__(
        self,
        data: bytes,
        mode: Mode = Mode.STREAM,
        *,
        limits: Limits | None = None,
        chunk_bytes: int = 65_536,
        root: Path | None = None,
        engine: Engine = Engine.ISAL,
    ) -> None:
        limits = limits or Limits()
        settings = ArchiveSettings(mode, limits, (".zip", ".jar"))
        reader = ArchiveReader(settings, root, engine)
        self.contents, self.members, self.sha1 = read_stream(data, chunk_bytes, reader)
        assert self.sha1 == sha1_of(data), "an archive's own SHA-1 is always right"
        if mode is Mode.STREAM:
            with (
                patch.object(member, "BACKGROUND_FROM_BYTES", 1),
                patch.object(archive_reader, "BackgroundCalls", LateCalls),
            ):
                two_cores = replace(reader, settings=replace(settings, second_core=True))
                beside = read_stream(data, chunk_bytes, two_cores)
            assert beside == (self.contents, self.members, self.sha1), (
                "a second core changes nothing"
            )

    @property
    def digests(self) -> dict[str, str | None]:
        """Path → SHA-1."""
        return {member.path: member.digest.sha1 for member in self.members}

    @property
    def problems(self) -> dict[str, str | None]:
        """Path → why there is none."""
        reasons = {member.path: member.digest.reason for member in self.members}
        return {path: reason.partition(":")[0] for path, reason in reasons.items() if reason}

    @property
    def remarks(self) -> dict[str, tuple[str, ...]]:
        """Path → what is unusual, where anything is."""
        return {member.path: member.remarks for member in self.members if member.remarks}
