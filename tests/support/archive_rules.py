"""Rules that hold for any bytes read as an archive, for a fuzzer or a test."""

import io
import zipfile
from typing import Final

from tests.support.sha1 import sha1_of

from bucketsum.archives.archive_reader import Archive, ArchiveReader
from bucketsum.archives.zip_model import MemberResult
from bucketsum.digest import RunningDigest
from bucketsum.table.archive_settings import ArchiveSettings, Limits, Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.row_parts import ArchiveRecord

LIMITS: Final = Limits(members=200, total_bytes=1 << 20, ratio=50, window_bytes=1 << 20, depth=1)
_STREAM: Final = ArchiveReader(ArchiveSettings(Mode.STREAM))
_READER: Final = ArchiveReader(ArchiveSettings(Mode.STREAM, LIMITS, (".zip", "z")))


def opened(data: bytes, reader: ArchiveReader = _STREAM) -> Archive:
    """The archive that *data* is."""

    def read(offset: int, length: int) -> bytes:
        assert length > 0, "an empty range is never asked for"
        return data[offset : offset + length]

    return reader.open(read, len(data))


def read_stream(
    data: bytes, chunk_bytes: int, reader: ArchiveReader = _READER
) -> tuple[ArchiveRecord, list[MemberResult], str]:
    """Read *data* as an archive; also its own SHA-1."""
    chunks = (data[at : at + chunk_bytes] for at in range(0, len(data), chunk_bytes))
    digest = RunningDigest()
    archive = opened(data, reader)
    members = list(archive.members(chunks, digest))
    return archive.summary, members, digest.digest().sha1


def check(data: bytes) -> None:
    """Read zip archives; results must agree with zipfile.

    No exception may be raised, and the limits on members and bytes must hold.

    Raises:
        AssertionError: A rule is broken.
        Exception: The reader raised it, which breaks a rule too.
    """
    chunk_bytes = max(1 + len(data) % 61, len(data) // 4096)  # so that large ones end soon
    contents, members, sha1 = read_stream(data, chunk_bytes)
    assert sha1 == sha1_of(data), "an archive's own SHA-1 is always right"
    total = sum(member.digest.size_bytes for member in members if member.digest.sha1)
    assert total <= LIMITS.total_bytes + (1 << 17), "no more comes out than is allowed"
    assert len(members) <= LIMITS.members, "no more members are read than are allowed"
    assert (contents.reason is None) == (contents.status is ArchiveStatus.READ)
    paths = [member.path for member in members]
    assert len(set(paths)) == len(paths), "no two members share a path"
    for member in members:
        assert (member.digest.sha1 is None) == (member.digest.reason is not None)
    if contents.status in (ArchiveStatus.READ, ArchiveStatus.BROKEN):
        _agree_with_zipfile(data, members)


def _agree_with_zipfile(data: bytes, members: list[MemberResult]) -> None:
    """Every member that `zipfile` reads too has the SHA-1 of what it reads."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except Exception:  # noqa: BLE001 - it refuses some names and extra fields that we take
        return
    ours = {
        (member.digest.member.header_offset, member.path): member.digest.sha1 for member in members
    }
    for info in archive.infolist():
        sha1 = ours.get((info.header_offset, info.filename))
        if sha1 is None or info.file_size > LIMITS.total_bytes:
            continue
        try:
            content = archive.read(info)
        except Exception:  # noqa: BLE001, S112 - what it cannot read, it says nothing of
            continue
        if content:  # of what has size 0, it reads nothing
            assert sha1 == sha1_of(content), f"{info.filename!r} differs"
