"""Settings of a hasher that needs no environment; a test replaces what it is about."""

from __future__ import annotations

from typing import Final

from bucketsum.s3.read_plan import ReadPolicy
from bucketsum.settings import Settings

SETTINGS: Final = Settings(
    digests_table="digests",
    arrivals_queue_url="arrivals",
    dead_letter_queue_url="dead-letters",
    max_receives=5,
    chunk_bytes=65_536,
    extra_algorithms=(),
    memory_mb=512,
    read_policy=ReadPolicy(None, 65_536, 512),
    threads=4,
)
