"""Memory of Lambda functions, and the choices that depend on it."""

from __future__ import annotations

from typing import Final

CHUNK_BYTES_MIN: Final = 16 * 1024
CHUNK_BYTES_MAX: Final = 512 * 1024 * 1024

BASE_MEMORY_BYTES: Final = 90_000_000
"""Memory of the runtime, boto3 and Powertools before the first chunk; see `make bench`."""

MEMORY_MB_PER_CPU: Final = 1769
"""[A] Memory in MB with which a function has one vCPU."""


def archive_threads(memory_mb: int) -> int:
    """Threads that read an archive in /tmp: one per CPU, at least two to overlap disk and CPU."""
    return max(2, -(-memory_mb // MEMORY_MB_PER_CPU))


def has_second_core(memory_mb: int) -> bool:
    """Whether Lambda gives a function of this memory CPU time on a second core."""
    return memory_mb > MEMORY_MB_PER_CPU
