"""Memory does not grow with the size of an archive."""

import os
import subprocess
import sys
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import inflate64
import pytest
from tests.support import archive_peak
from tests.support.zip_maker import Part, archive_of

from bucketsum.archives.lzma_decoder import lzma_decoded
from bucketsum.archives.zip_model import StreamEndsEarly
from bucketsum.table.archive_settings import Limits

ALLOWED_GROWTH_BYTES = 12_000_000  # an allocator's mood


def make_archive(path: Path, member_bytes: int) -> None:
    """Create an archive of one member for each method, all of source code and noise."""
    sources = (file.read_bytes() for file in sorted(Path(os.__file__).parent.glob("*.py")))
    piece = b"".join(sources)[:3_000_000] + os.urandom(1_000_000)
    content = piece * (member_bytes // len(piece))
    deflater = inflate64.Deflater()
    by_method = {
        0: content,
        8: zlib.compress(content, level=1, wbits=-zlib.MAX_WBITS),
        9: deflater.deflate(content) + deflater.flush(),
    }
    parts = (Part(b"%d" % method, content, method, data=data) for method, data in by_method.items())
    path.write_bytes(archive_of(*parts))


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Archives of members of 4 MB and of 40 MB: stored, Deflate and Deflate64."""
    folder = tmp_path_factory.mktemp("archives")
    paths = [folder / f"{member_bytes}.zip" for member_bytes in (4_000_000, 40_000_000)]
    for path in paths:
        make_archive(path, int(path.stem))
    return paths


@pytest.mark.parametrize(("mode", "threads"), [("stream", 1), ("stream", 2), ("tmp", 2)])
def test_ten_times_the_archive_takes_no_more_memory(
    mode: str, threads: int, archives: list[Path]
) -> None:
    """Ten times larger members need the same memory."""
    command = [sys.executable, "-m", archive_peak.__name__, mode, str(threads), *map(str, archives)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    small, large = map(int, shown.split())
    assert large < small + ALLOWED_GROWTH_BYTES


def test_lzma_keeps_no_chunk() -> None:
    """A member's first chunk, which has the header, goes when the next one is read."""
    header = b"\x10\x05\x05\0\x5d\0\0\x01\0"
    alive: list[bool] = []

    def chunks() -> Iterator[memoryview]:
        first = memoryview(header)
        seen = weakref.ref(first)
        yield first
        del first
        alive.append(seen() is not None)

    member: Any = SimpleNamespace(flags=2, size_bytes=1000)
    with pytest.raises(StreamEndsEarly):
        list(lzma_decoded(chunks(), member, Limits()))
    assert alive == [False]
