"""Programs that write an object to a pipe into `sha1sum`; the time includes their start."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.readers.harness import ReadTarget


def piped(target: ReadTarget, argv: list[str]) -> Callable[[], tuple[int, str]]:
    """Run *argv*, with the target's ``{bucket}``, ``{key}`` and ``{endpoint}`` filled in."""
    command = [
        word.format(bucket=target.bucket, key=target.key, endpoint=target.endpoint) for word in argv
    ]

    def read() -> tuple[int, str]:
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE) as sender,  # noqa: S603 - from the table
            subprocess.Popen(
                ["sha1sum"],  # noqa: S607 - the system's
                stdin=sender.stdout,
                stdout=subprocess.PIPE,
                text=True,
            ) as hasher,
        ):
            assert sender.stdout is not None  # noqa: S101 - a pipe, as above
            sender.stdout.close()
            sha1 = hasher.communicate()[0].split()[0]
            if sender.wait() != 0:
                raise ChildProcessError(f"{command[0]} ended with {sender.returncode}")
        return target.size_bytes, sha1  # the digest is compared, so the size is right if it is

    return read
