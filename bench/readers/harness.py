"""The process that runs one reader in the sandbox, as `measure_one` says.

This module imports little, because its memory counts as the reader's.
"""

from __future__ import annotations

from bench.readers import implementations
from bench.tables.process import measure_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def prepared(job: dict[str, Any]) -> Callable[[], dict[str, object]]:
    """The reader of *job* after imports and set-up, and for a warm run after a first reading."""
    prepare = getattr(implementations, job["reader"])
    read = prepare(implementations.ReadTarget(job["target"]), **job["options"])
    if job["warm"]:
        read()
    return lambda: dict(zip(("size_bytes", "sha1"), read(), strict=True))


if __name__ == "__main__":
    measure_one(2, prepared)
