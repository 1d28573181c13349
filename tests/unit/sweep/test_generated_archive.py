"""generated_archive: archives with known contents, similar to those of Bengtsson (2017)."""

import io
import zipfile
from pathlib import PurePosixPath

import pytest
from tests.support.sha1 import sha1_of

from bucketsum_lab.workloads.unzip.generated_archive import (
    CONTENT_RATIO,
    FILES,
    FOLDERS,
    GeneratedArchive,
    members_sha1,
)
from bucketsum_lab.workloads.unzip.workload import ARCHIVE_BYTES_MIN


def generated(size_bytes: int) -> tuple[GeneratedArchive, bytes]:
    """The archive and its bytes."""
    archive = GeneratedArchive(size_bytes)
    return archive, b"".join(archive.chunks())


@pytest.mark.parametrize("size_bytes", [ARCHIVE_BYTES_MIN, 1_234_567, 10_000_000])
def test_zipfile_finds_the_promised_contents(size_bytes: int) -> None:
    """Its size to the byte; members, folders, bytes and SHA-1s, every CRC right."""
    archive, content = generated(size_bytes)
    assert len(content) == size_bytes
    with zipfile.ZipFile(io.BytesIO(content)) as zf:
        assert zf.testzip() is None
        infos = zf.infolist()
        contents = [zf.read(info) for info in infos]
    sha1s = [sha1_of(content) for content in contents]
    folders = {folder for info in infos for folder in PurePosixPath(info.filename).parents}
    known = archive.contents
    assert len({info.filename for info in infos}) == len(infos) == known.members == FILES
    assert len(folders - {PurePosixPath()}) == known.directories == FOLDERS
    assert sum(info.file_size for info in infos) == known.member_bytes
    assert members_sha1(sha1s) == known.members_sha1
    assert sum(content.count(b"\n") for content in contents) == archive.lines


def test_it_is_like_the_archives_of_bengtsson() -> None:
    """Many small files, one or two really large ones, and text that deflate can do something to."""
    size_bytes = 10_000_000
    archive, content = generated(size_bytes)
    with zipfile.ZipFile(io.BytesIO(content)) as zf:
        sizes = sorted(info.compress_size for info in zf.infolist())
    assert sum(sizes[-2:]) > 0.8 * size_bytes
    assert sizes[len(sizes) // 2] < size_bytes / 1000
    assert archive.contents.member_bytes / size_bytes == pytest.approx(CONTENT_RATIO, rel=0.02)


def test_it_is_the_same_every_time() -> None:
    """Its SHA-1 is computed once and holds for every sample."""
    assert generated(ARCHIVE_BYTES_MIN)[1] == generated(ARCHIVE_BYTES_MIN)[1]
    assert (
        generated(ARCHIVE_BYTES_MIN)[1] != generated(ARCHIVE_BYTES_MIN + 1)[1][:ARCHIVE_BYTES_MIN]
    )


def test_members_are_identified_by_their_sorted_sha1s() -> None:
    """As `sha1sum FILES | cut -c1-40 | LC_ALL=C sort | sha1sum` prints; in any order."""
    first, second = sha1_of(b"one"), sha1_of(b"other")
    lines = "".join(f"{sha1}\n" for sha1 in sorted([first, second]))
    assert members_sha1([first, second]) == members_sha1([second, first]) == sha1_of(lines.encode())
    assert members_sha1([first, first]) != members_sha1([first])
