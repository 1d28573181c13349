"""GNU parallel and unzip: as in elsotanillo (2020), with the results checked."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bucketsum_lab.workloads.fetch.model import (
    FOLDER_PROCESSORS,
    ArchiveItem,
    ArchiveWork,
    ItemFailed,
    Schedule,
)
from bucketsum_lab.workloads.fetch.processing import check

PROGRAMS: Final = ("parallel", "unzip", "bash")
_COMMANDS: Final = {
    ArchiveWork.COUNT_LINES: "set -o pipefail; unzip -p {} | wc -l",
    # as docs/how-to/choose-settings.md computes members-sha1; the members are on the disk, too
    ArchiveWork.UNZIP_SHA1: (
        "set -eo pipefail; folder={}.members; unzip -qq -d $folder {}; "
        "find $folder -type f -print0 | xargs -0 sha1sum | cut -c1-40 | LC_ALL=C sort "
        "| sha1sum | cut -c1-40; rm -r $folder"
    ),
}


def missing_programs() -> list[str]:
    """Programs that are not installed here."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


def add() -> None:
    """Register the schedule ``shell`` if its programs are installed on this machine."""
    if not missing_programs():
        FOLDER_PROCESSORS[Schedule.SHELL] = process_in_shell


def process_in_shell(
    folder: Path, work: ArchiveWork, workers: int, items: Sequence[ArchiveItem]
) -> float:
    """Run *workers* jobs at once in *folder*, which has the archives, and check the results.

    Returns the seconds that it took.

    Raises:
        ItemFailed: A command failed, or a result is wrong.
    """
    started = time.perf_counter()
    command = [
        *("parallel", "--will-cite", "--keep-order", "--halt", "now,fail=1"),
        *("--jobs", str(workers), _COMMANDS[work], ":::"),
        *(item.name for item in items),
    ]
    results = _output(command, folder).split()
    seconds = time.perf_counter() - started
    if len(results) != len(items):
        raise ItemFailed("NotUnzipped", f"{len(results)} results of {len(items)} archives")
    for item, result in zip(items, results, strict=True):
        if work is ArchiveWork.COUNT_LINES:
            check(item, "lines", int(result), item.lines)
        else:
            check(item, "members-sha1", result, item.members_sha1)
    return seconds


def _output(command: list[str], folder: Path) -> str:
    environment = os.environ | {"PARALLEL_SHELL": shutil.which("bash") or "bash"}
    process = subprocess.Popen(  # noqa: S603 - commands of this module, names without a slash
        command, cwd=folder, env=environment, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        out, errors = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if process.returncode:
        last = (errors.strip().splitlines() or [f"exit status {process.returncode}"])[-1]
        raise ItemFailed("NotUnzipped", f"parallel: {last}")
    return out
