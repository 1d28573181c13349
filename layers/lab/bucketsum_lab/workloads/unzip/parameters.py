"""Parameters of the workload ``unzip``, and its statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bucketsum.table.archive_settings import Engine, Mode
from bucketsum_lab.protocol.parameters import Parameter
from bucketsum_lab.protocol.run_records import WorkloadStatistics

NULL: Final = "null"
"""As stream, but members are not hashed: the time of decompression alone."""

MODE: Final = Parameter(
    "mode",
    (*Mode, NULL),
    meaning="stream (no disk), tmp (archive and members on disk), discard (only archive on disk), "
    "null (no disk, members not hashed)",
)
INFLATE: Final = Parameter("inflate", tuple(Engine), meaning="decompression library ({})")
AUTO_THREADS: Final = "auto"
"""As the hasher: see `archive_threads`."""

THREADS: Final = Parameter(
    "archive_threads",
    (AUTO_THREADS, 1, 2, 4, 8, 16, 32, 64),
    "{} threads",
    meaning="threads that read the archive on the disk ({}); `auto`: one for each vCPU, at least 2",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnzipStatistics(WorkloadStatistics):
    """The contents of the archive."""

    members: int
    directories: int
    member_bytes: int
