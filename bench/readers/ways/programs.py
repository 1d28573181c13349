"""Programs that write an object to a pipe, with `sha1sum` behind it, as people do by hand.

Their start is part of what is measured, for it is part of what it takes.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.readers.harness import Target


def piped(target: Target, argv: list[str]) -> Callable[[], tuple[int, str]]:
    """*argv*, in which ``{bucket}``, ``{key}`` and ``{endpoint}`` stand for themselves."""
    command = [
        one.format(bucket=target.bucket, key=target.key, endpoint=target.endpoint) for one in argv
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
            assert sender.stdout is not None  # noqa: S101 - asked for above
            sender.stdout.close()
            sha1 = hasher.communicate()[0].split()[0]
            if sender.wait() != 0:
                raise ChildProcessError(f"{command[0]} ended with {sender.returncode}")
        return target.size_bytes, sha1  # the digest is compared, so the size is right if it is

    return read
