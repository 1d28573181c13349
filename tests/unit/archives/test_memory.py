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


@pytest.mark.parametrize(
    "way", ["bucketsum stream", "bucketsum stream, 2 threads", "bucketsum tmp, 2 threads"]
)
def test_ten_times_the_archive_takes_no_more_memory(way: str, tmp_path: Path) -> None:
    """Stored and deflated members of 8 MB and of 80 MB need the same memory."""
    peaks = []
    for member_bytes in (8_000_000, 80_000_000):
        archive = tmp_path / f"{member_bytes}.zip"
        make_large_archive(archive, member_bytes)
        peaks.append(peak_bytes(way, archive, tmp_path))
    assert peaks[1] < peaks[0] + ALLOWED_GROWTH_BYTES
