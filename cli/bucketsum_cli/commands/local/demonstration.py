"""The demonstration: the recorded SHA-1 of real files compared with `sha1sum`."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from bucketsum.table.rows import Row
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.put import put_and_wait
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.objects.files import LocalFile, files_under
from bucketsum_cli.terminal import columns, formatting, output
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.live_progress import spinner
from bucketsum_cli.terminal.tables import print_table

ENOUGH_BYTES: Final = 500_000_000

_MOST_TURNS: Final = 100  # an environment of 5 MB would do
ODD_NAMES: Final = (
    "a name with spaces.txt",
    "1+1=2.txt",
    "100%25 sure.txt",
    "naïve café.txt",
    "日本語/ファイル.txt",
)

_WAIT_SECONDS: Final = 180
_EQUAL: Final = columns.Column("equal")


_Compared: TypeAlias = "tuple[LocalFile, Row | None, bool]"
"""A file, its row, and whether it has the SHA-1 that `sha1sum` computes."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """The result of `local demo`."""

    file_count: Annotated[int, "Number of files."]
    equal_count: Annotated[int, "Number of files whose recorded SHA-1 is that of `sha1sum`."]
    seconds: float


def run_demo(project: LocalProject, stack: Stack, *, as_json: bool) -> tuple[int, int]:
    """Put the files, wait for their rows and compare; returns the numbers of files and matches."""
    folder = project.home / "files" / "demo"
    with spinner("gathering files ..."):
        gather(folder)
    started = time.monotonic()
    files = _compare(stack, files_under([folder]).files)
    seconds = time.monotonic() - started
    equal = sum(is_equal for _, _, is_equal in files)
    if as_json:
        output.print_json(Demonstration(len(files), equal, round(seconds, 1)))
    else:
        _print(files, seconds)
    return len(files), equal


def _compare(stack: Stack, files: list[LocalFile]) -> list[_Compared]:
    uploads, _ = put_and_wait(stack, files, _WAIT_SECONDS)
    rows = {upload.file.key: upload.row for upload in uploads}
    return [
        (file, row := rows.get(file.key), row is not None and row.sha1 == sha1sum(file.path))
        for file in files
    ]


def _print(files: list[_Compared], seconds: float) -> None:
    print_table(
        [columns.KEY, columns.SIZE, columns.SHA1, columns.SPEED, _EQUAL],
        (
            [
                file.key,
                formatting.size_text(file.size_bytes),
                (row and row.sha1) or columns.Cell("not recorded", "red"),
                formatting.speed_text(row.mb_per_s if row else None, missing=""),
                columns.Cell("yes", "green") if is_equal else columns.Cell("NO", "bold red"),
            ]
            for file, row, is_equal in files
        ),
    )
    size = formatting.size_text(sum(file.size_bytes for file, _, _ in files))
    output.say("")
    output.say(
        f"{len(files)} objects, {size}, sent and hashed in {seconds:.1f} s "
        "(local emulator on this machine; says nothing about AWS's speed)"
    )


def sha1sum(path: Path) -> str:
    """Compute the SHA-1 of *path* with the system's own program.

    Raises:
        CannotDoError: There is no such program, or it failed.
    """
    program = shutil.which("sha1sum")
    if program is None:
        raise CannotDoError("sha1sum is not installed to compare with")
    with path.open("rb") as file:
        done = subprocess.run([program], stdin=file, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise CannotDoError(f"{program} failed for {path}: {done.stderr.strip()}")
    return done.stdout.split()[0]


def gather(folder: Path, environment: Path | None = None) -> None:
    """Fill *folder* once with files of at least `ENOUGH_BYTES` in all.

    They are the wheels of *environment* (by default the running one), one archive of its files
    (a multipart upload), an empty file, and texts with names that need care.

    Raises:
        CannotDoError: There are no wheels: the environment was not made by ``make setup``.
    """
    environment = environment or Path(sys.prefix)
    wheels = sorted(environment.glob("wheels/*.whl"))
    if not wheels:
        raise CannotDoError(
            f"{environment} has no wheels for the demonstration; run the demonstration through "
            "`make demo` in a clone of bucketsum"
        )
    ready = folder.with_suffix(".ready")
    if ready.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    for wheel in wheels:
        _link(wheel, folder / "wheels" / wheel.name)
    for name in ODD_NAMES:
        text = folder / "odd names" / name
        text.parent.mkdir(parents=True, exist_ok=True)
        text.write_text(f"The name of this file is {text.name}\n", encoding="utf-8")
    (folder / "empty").touch()
    wheel_bytes = sum(wheel.stat().st_size for wheel in wheels)
    _archive(environment, folder / "environment.tar", ENOUGH_BYTES - wheel_bytes)
    ready.touch()


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copyfile(source, target)


def _archive(environment: Path, target: Path, wanted_bytes: int) -> None:
    """Archive the installed files repeatedly until the file has *wanted_bytes*."""
    files = [path for path in sorted(environment.glob("lib/**/*")) if path.is_file()]
    with tarfile.open(target, "w") as archive:
        for turn, path in itertools.product(range(_MOST_TURNS), files):
            if archive.offset >= wanted_bytes:
                return
            archive.add(path, arcname=f"{turn}/{path.relative_to(environment)}")
