"""What must hold of any bytes that are read as an archive, for a fuzzer or a test to try."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Final

from tests.support.sha1 import sha1_of

from bucketsum.archives.model import ArchiveStatus, Limits, Mode
from bucketsum.archives.reader import ArchiveReader
from bucketsum.digest import RunningDigest

if TYPE_CHECKING:
    from bucketsum.archives.reader import ArchiveSummary, MemberResult

LIMITS: Final = Limits(members=200, total_bytes=1 << 20, ratio=50, window_bytes=1 << 20, depth=1)
_READER: Final = ArchiveReader(Mode.STREAM, LIMITS, (".zip", "z"))


def read_stream(
    data: bytes, chunk_bytes: int, reader: ArchiveReader = _READER
) -> tuple[ArchiveSummary, list[MemberResult], str]:
    """Read *data* as an archive; also its own SHA-1."""
    chunks = (data[at : at + chunk_bytes] for at in range(0, len(data), chunk_bytes))
    digest = RunningDigest()
    found: list[MemberResult] = []
    contents = reader.read(
        lambda offset, length: data[offset : offset + length],
        len(data),
        chunks,
        digest,
        found.append,
    )
    return contents, found, digest.digest().sha1


def check(data: bytes) -> None:
    """Read *data*, and hold what comes out against the rules and against `zipfile`.

    Raises:
        AssertionError: A rule is broken.
        Exception: So is the first of them: whatever the bytes, nothing is raised.
    """
    contents, found, sha1 = read_stream(data, 1 + len(data) % 61)
    assert sha1 == sha1_of(data), "an archive's own SHA-1 is always right"
    total = sum(one.digest.size_bytes for one in found)
    assert total <= LIMITS.total_bytes + (1 << 17), "no more comes out than is allowed"
    assert len(found) <= LIMITS.members, "no more members are read than are allowed"
    assert (contents.reason is None) == (contents.status is ArchiveStatus.READ)
    paths = [one.path for one in found]
    assert len(set(paths)) == len(paths) or LIMITS.depth, "no two members share a path"
    for one in found:
        assert (one.digest.sha1 is None) == (one.digest.reason is not None)
    if contents.status is ArchiveStatus.READ:
        _agree_with_zipfile(data, found)


def _agree_with_zipfile(data: bytes, found: list[MemberResult]) -> None:
    """What `zipfile` can read of an archive that we took, we read the same."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except Exception:  # noqa: BLE001 - it refuses some names and extra fields that we take
        return
    ours = {
        one.digest.member.header_offset: one.digest
        for one in found
        if "!/" not in one.path or one.digest.member.name == one.path
    }
    for info in archive.infolist():
        # its own is_dir() has no answer for an empty name
        if info.filename.endswith("/") or info.file_size > LIMITS.total_bytes:
            continue
        digest = ours.get(info.header_offset)
        try:
            content = archive.read(info)
        except Exception:  # noqa: BLE001, S112 - what it cannot read, it says nothing of
            continue
        assert digest is not None, f"{info.filename!r} is missing"
        if digest.sha1 is not None:
            assert digest.sha1 == sha1_of(content), f"{info.filename!r} differs"
