"""Archives that `zipfile` writes are read as `zipfile` reads them, in chunks of any size."""

import io
import random
import zipfile
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from tests.support.archive_reading import Read
from tests.support.archive_rules import opened, read_stream
from tests.support.archive_seeds import Unseekable
from tests.support.sha1 import sha1_of
from tests.support.zip_maker import Part, archive_of

from bucketsum.archives import decoders
from bucketsum.archives.archive_reader import ArchiveReader
from bucketsum.archives.zip_model import Problem
from bucketsum.digest import RunningDigest
from bucketsum.table.archive_settings import ArchiveSettings, Engine, Limits, Mode
from bucketsum.table.archive_status import ArchiveStatus

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
CONTENTS = st.binary(max_size=300) | st.builds(
    lambda piece, times: piece * times, st.binary(min_size=1, max_size=9), st.integers(0, 60_000)
)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0/\\"), min_size=1, max_size=20)


def written(members: dict[str, tuple[int, bytes]], *, streamed: bool = False) -> bytes:
    """An archive of *members*, each with its method and content."""
    target = Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, (method, content) in members.items():
            archive.writestr(name, content, compress_type=method)
    return target.getvalue()


@given(
    members=st.dictionaries(NAMES, st.tuples(st.sampled_from(METHODS), CONTENTS), max_size=6),
    streamed=st.booleans(),
    chunk_bytes=st.sampled_from([1, 7, 4096, 65_536, 1 << 20]),
    engine=st.sampled_from(Engine),
)
@examples(max_examples=60)
def test_members_are_what_went_in(
    members: dict[str, tuple[int, bytes]], *, streamed: bool, chunk_bytes: int, engine: Engine
) -> None:
    """Neither chunk size, method, data descriptors nor the engine change a digest."""
    data = written(members, streamed=streamed)
    if chunk_bytes == 1 and len(data) > 20_000:
        chunk_bytes = 13
    read = Read(data, limits=Limits(ratio=10_000), chunk_bytes=chunk_bytes, engine=engine)
    assert read.contents.status is ArchiveStatus.READ
    assert read.digests == {name: sha1_of(content) for name, (_, content) in members.items()}
    assert read.contents.member_bytes == sum(len(content) for _, content in members.values())


@pytest.mark.parametrize("streamed", [True, False])
def test_zip64_is_read(*, streamed: bool) -> None:
    """64-bit sizes are taken where there are any."""
    target = Unseekable() if streamed else io.BytesIO()
    with (
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("wide", "w", force_zip64=True) as member,
    ):
        member.write(b"x" * 1000)
    assert Read(target.getvalue()).digests == {"wide": sha1_of(b"x" * 1000)}


@pytest.mark.no_cover  # each member runs the same lines
def test_more_members_than_16_bits_count() -> None:
    """From 65,536 members on the end is Zip64's; below, its count is whole."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for number in range(65_540):
            archive.writestr(zipfile.ZipInfo(str(number)), b"")
    reader = ArchiveReader(ArchiveSettings(Mode.STREAM, Limits(members=70_000)))
    contents, members, sha1 = read_stream(target.getvalue(), 65_536, reader)
    assert (contents.status, sha1) == (ArchiveStatus.READ, sha1_of(target.getvalue()))
    assert contents.members == len(members) == 65_540


def test_members_come_while_the_archive_arrives() -> None:
    """It is never kept as a whole."""
    data = written({str(number): (0, bytes(1000)) for number in range(100)})
    position = 0

    def chunks() -> Iterator[bytes]:
        nonlocal position
        for position in range(0, len(data), 500):
            yield data[position : position + 500]

    archive = opened(data)
    seen = [position for _ in archive.members(chunks(), RunningDigest())]
    assert seen[0] < 2_000
    assert all(later > earlier for earlier, later in pairwise(seen))


def test_standard_library_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the layer's wheels deflate is read as before; what needs them says so."""
    members = {"d": (zipfile.ZIP_DEFLATED, b"x" * 500_000), "s": (zipfile.ZIP_STORED, b"y")}
    data = written(members)
    monkeypatch.setattr(decoders, "_ISAL", None)
    monkeypatch.setattr(decoders, "_optional", lambda _: None)
    read = Read(data, limits=Limits(ratio=10_000))
    assert read.digests == {"d": sha1_of(b"x" * 500_000), "s": sha1_of(b"y")}


def test_zstandard_is_read() -> None:
    """Also in several blocks; a window that memory does not allow is refused."""
    zstd = decoders._optional("compression.zstd") or decoders._optional("backports.zstd")  # noqa: SLF001 - whichever there is
    content = random.Random(1).randbytes(3_000_000)  # noqa: S311 - the same each time
    data = archive_of(
        Part(method=93, content=content, data=zstd.compress(content, level=19)),
    )
    assert Read(data).digests == {"a.txt": sha1_of(content)}
    read = Read(data, limits=Limits(window_bytes=1 << 20))
    assert read.problems == {"a.txt": Problem.MEMORY}
