"""What runs in the box: one reader, in a fresh process, told on its standard input what to read.

Line 1 in: the job as JSON. Out: ``{"ready": true}`` once all is imported and made, and for a warm
run read once. Line 2 in: begin. Out: the measurement. Nothing heavy is imported here: what this
process takes in memory is the reader's.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


class Target:
    """What to read, and from where.

    Attributes:
        endpoint: Address of the server.
        certificates: File with the authority to trust.
        bucket: The object's bucket.
        key: Its key.
        size_bytes: Its size.
        memory_mb: Memory size of the function.
    """

    def __init__(self, fields: dict[str, object]) -> None:
        self.endpoint = str(fields["endpoint"])
        self.certificates = str(fields["certificates"])
        self.bucket = str(fields["bucket"])
        self.key = str(fields["key"])
        self.size_bytes = int(str(fields["size_bytes"]))
        self.memory_mb = int(str(fields["memory_mb"]))


def cpu_seconds() -> float:
    """Processor time of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak_bytes() -> int:
    """Most memory that was resident: of this process, or of the largest that it has waited for.

    Not this process's own `ru_maxrss`: it begins with what the starter had resident.
    """
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - pathlib takes memory
        (own,) = (int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    return 1024 * max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def main() -> None:
    """Prepare, wait, read, tell."""
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # what a reader prints is not an answer
    job = json.loads(sys.stdin.readline())
    module, _, name = job["reader"].partition(":")
    prepare = getattr(importlib.import_module(module), name)
    read = prepare(Target(job["target"]), **job["options"])
    if job["warm"]:
        read()
    say(answers, {"ready": True})
    if not sys.stdin.readline():  # the runner is gone
        return
    cpu_before, before = cpu_seconds(), time.perf_counter()
    size_bytes, sha1 = read()
    seconds = time.perf_counter() - before
    say(
        answers,
        {
            "size_bytes": size_bytes,
            "sha1": sha1,
            "seconds": seconds,
            "cpu_seconds": cpu_seconds() - cpu_before,
            "peak_bytes": peak_bytes(),
        },
    )
    os._exit(0)  # a reader's threads and connections end here, unmeasured


def say(answers: TextIO, answer: dict[str, object]) -> None:
    """Write one line of JSON."""
    print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
