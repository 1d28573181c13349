"""Memory does not grow with the size of an archive."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.support import archive_peak

ALLOWED_GROWTH_BYTES = 12_000_000  # an allocator's mood


def make_archive(path: Path, member_bytes: int) -> None:
    """Create an archive of a stored and a deflated member, both of source code and noise."""
    sources = (file.read_bytes() for file in sorted(Path(os.__file__).parent.glob("*.py")))
    piece = b"".join(sources)[:3_000_000] + os.urandom(1_000_000)
    with zipfile.ZipFile(path, "w", compresslevel=1) as archive:
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            member = zipfile.ZipInfo(f"{method}")
            member.compress_type = method
            with archive.open(member, "w") as target:
                for _ in range(member_bytes // len(piece)):
                    target.write(piece)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Archives of members of 4 MB and of 40 MB, stored and deflated."""
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
