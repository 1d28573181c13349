"""Many small objects at the same time, until the last row is written."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from bench.targets.result import Result
from bucketsum_cli.files import files_under
from bucketsum_cli.upload import put_files, wait_for_rows

if TYPE_CHECKING:
    from bucketsum_cli.stack import Stack

OBJECTS: Final = 1000
_SIZE_BYTES: Final = 10_000
_TIMEOUT_SECONDS: Final = 300


def measure(stack: Stack) -> Result:
    """Upload all objects as fast as the local emulator accepts them.

    Raises:
        RuntimeError: A row is missing.
    """
    with TemporaryDirectory() as folder:
        for number in range(OBJECTS):
            content = number.to_bytes(8, "big") * (_SIZE_BYTES // 8)
            Path(folder, f"{number:04}").write_bytes(content)
        files = files_under([Path(folder)], "bench/burst/").files
        started = time.perf_counter()
        uploads = put_files(stack, files).uploads
        sent = time.perf_counter() - started
        rows = wait_for_rows(stack.digests_table(), uploads, _TIMEOUT_SECONDS)
        seconds = time.perf_counter() - started
    if len(rows) != OBJECTS:
        raise RuntimeError(f"{len(rows)} of {OBJECTS} rows after {_TIMEOUT_SECONDS} s")
    return Result(
        name=f"{OBJECTS:,} objects of {_SIZE_BYTES // 1000} kB, all recorded",
        value=seconds,
        unit="s",
        target=60,
        detail=f"{sent:.1f} s of it until the last PUT",
    )
