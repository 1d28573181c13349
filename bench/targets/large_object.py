"""Peak memory of a 128 MB function that hashes a 2 GB object."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from bench.box.confinement import kills_of
from bench.targets.result import Result
from bucketsum_cli.files import files_under
from bucketsum_cli.upload import put_files, wait_for_rows

if TYPE_CHECKING:
    from bucketsum_cli.emulator import LocalProject
    from bucketsum_cli.stack import Stack

SIZE_BYTES: Final = 2_000_000_000
MEMORY_MB: Final = 128
_BLOCK_BYTES: Final = 1_000_000
_TIMEOUT_SECONDS: Final = 900


def measure(project: LocalProject, stack: Stack) -> Result:
    """Hash the object once, and read the worker's peak resident memory from the kernel.

    Raises:
        RuntimeError: Control groups are not writable here, or the recorded digest is wrong or
            missing.
    """
    with TemporaryDirectory(dir=project.home) as folder:
        expected = _write(Path(folder, "large"))
        uploads = put_files(stack, files_under([Path(folder, "large")], "bench/").files).uploads
        rows = wait_for_rows(stack.digests_table(), uploads, _TIMEOUT_SECONDS)
    recorded = [row.sha1 for row in rows.values()]
    if recorded != [expected]:
        raise RuntimeError(f"recorded {recorded} for an object with SHA-1 {expected}")
    (row,) = rows.values()
    return Result(
        name=f"peak memory of a {MEMORY_MB} MB function hashing 2 GB",
        value=_highest_rss_bytes(project) / 1e6,
        unit="MB",
        target=100,
        detail=f"{row.mb_per_s:.0f} MB/s, {row.setup}, {_out_of_memory_kills(project)} kills",
    )


def _write(path: Path) -> str:
    """Fill *path* and return its SHA-1."""
    block = os.urandom(_BLOCK_BYTES)
    sha1 = hashlib.sha1(usedforsecurity=False)
    with path.open("wb") as file:
        for number in range(SIZE_BYTES // _BLOCK_BYTES):
            content = number.to_bytes(8, "big") + block[8:]
            sha1.update(content)
            file.write(content)
    return sha1.hexdigest()


def _memory_groups(project: LocalProject) -> list[Path]:
    roots = json.loads((project.home / "worker.json").read_text())["cgroup_roots"]
    if roots is None:
        raise RuntimeError(
            "control groups are not writable, so memory cannot be limited to 128 MB; run as root, "
            "or with cgroup v2 delegated to this user"
        )
    return [group for group in Path(roots["memory"]).iterdir() if group.is_dir()]


def _highest_rss_bytes(project: LocalProject) -> int:
    """The highest VmHWM of all running workers."""
    highest = [
        int(line.split()[1]) * 1024
        for group in _memory_groups(project)
        for pid in (group / "cgroup.procs").read_text().split()
        for line in Path("/proc", pid, "status").read_text().splitlines()
        if line.startswith("VmHWM:")
    ]
    return max(highest)


def _out_of_memory_kills(project: LocalProject) -> int:
    return sum(kills_of(group) for group in _memory_groups(project))
