"""Memory does not grow with the size of an archive."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from bench.unzip.members import make_large_archive

if TYPE_CHECKING:
    from pathlib import Path

ALLOWED_GROWTH_BYTES = 12_000_000  # an allocator's mood


def peak_bytes(way: str, archive: Path, scratch: Path) -> int:
    """Most memory of a process that reads *archive*."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.unzip.variants", way, archive, scratch / "out"],
        check=True,
        capture_output=True,
        text=True,
    )
    return int(done.stdout.rpartition('"peak_bytes": ')[2].rstrip("}\n"))


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Archives of members of 8 MB and of 80 MB, stored and deflated."""
    folder = tmp_path_factory.mktemp("archives")
    paths = [folder / f"{member_bytes}.zip" for member_bytes in (8_000_000, 80_000_000)]
    for path in paths:
        make_large_archive(path, int(path.stem))
    return paths


@pytest.mark.parametrize(
    "way", ["bucketsum stream", "bucketsum stream, 2 threads", "bucketsum tmp, 2 threads"]
)
def test_ten_times_the_archive_takes_no_more_memory(
    way: str, archives: list[Path], tmp_path: Path
) -> None:
    """Ten times larger members need the same memory."""
    small, large = (peak_bytes(way, archive, tmp_path) for archive in archives)
    assert large < small + ALLOWED_GROWTH_BYTES
