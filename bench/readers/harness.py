"""The process that runs one reader in the sandbox; it takes its job on standard input.

Line 1 in: the job as JSON. Out: ``{"ready": true}`` after imports and set-up, and for a warm run
after a first reading. Line 2 in: begin. Out: the measurement. This module imports little, because
its memory counts as the reader's.
"""

from __future__ import annotations

import importlib
import json
import os
import sys

from bench.tables.process import Meter, answer, answers


class Target:
    """The object to read, its server, and the memory size of the function."""

    def __init__(self, fields: dict[str, object]) -> None:
        self.endpoint = str(fields["endpoint"])
        self.certificates = str(fields["certificates"])
        self.bucket = str(fields["bucket"])
        self.key = str(fields["key"])
        self.size_bytes = int(str(fields["size_bytes"]))
        self.memory_mb = int(str(fields["memory_mb"]))


def main() -> None:
    """Prepare, wait, read, answer."""
    stream = answers(2)
    job = json.loads(sys.stdin.readline())
    module, _, name = job["reader"].partition(":")
    prepare = getattr(importlib.import_module(f"{__package__}.implementations.{module}"), name)
    read = prepare(Target(job["target"]), **job["options"])
    if job["warm"]:
        read()
    answer(stream, {"ready": True})
    if not sys.stdin.readline():  # the runner has ended
        return
    meter = Meter()
    size_bytes, sha1 = read()
    answer(stream, {"size_bytes": size_bytes, "sha1": sha1, **meter.stop()})
    os._exit(0)  # the reader's threads and connections end here, unmeasured


if __name__ == "__main__":
    main()
