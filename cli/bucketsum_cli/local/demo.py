"""The demonstration: real files, every recorded SHA-1 compared with `sha1sum`'s."""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum_cli import output, tables
from bucketsum_cli.commands.put import put_and_wait
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.local.demo_files import gather
from bucketsum_cli.objects.files import LocalFile, files_under

if TYPE_CHECKING:
    from pathlib import Path

    from bucketsum.digest_rows import Row
    from bucketsum_cli.emulator import LocalProject
    from bucketsum_cli.stack import Stack

_WAIT_SECONDS: Final = 180
_EQUAL: Final = tables.Column("equal", 5)


@dataclass(frozen=True, slots=True)
class ComparedFile:
    """A file, its row, and its SHA-1 by `sha1sum`."""

    file: LocalFile
    row: Row | None
    expected_sha1: str

    @property
    def equal(self) -> bool:
        """Whether both digests are the same."""
        return self.row is not None and self.row.sha1 == self.expected_sha1


@dataclass(frozen=True, slots=True)
class Comparison:
    """Numbers of files that were compared, and that are equal."""

    files: int
    equal: int

    @property
    def all_equal(self) -> bool:
        """Whether all files are equal."""
        return self.equal == self.files

    def say(self) -> None:
        """Show the counts in one line."""
        style = "bold green" if self.all_equal else "bold red"
        output.say(f"{self.equal} of {self.files} equal sha1sum", style)


def run_demo(project: LocalProject, stack: Stack, *, as_json: bool) -> Comparison:
    """Put the files, wait for their rows and compare."""
    folder = project.home / "files" / "demo"
    with output.notes().status("gathering files ..."):
        gather(folder)
    started = time.monotonic()
    files = _compare(stack, files_under([folder]).files)
    seconds = time.monotonic() - started
    comparison = Comparison(len(files), sum(file.equal for file in files))
    if as_json:
        counts = {"file_count": comparison.files, "equal_count": comparison.equal}
        output.print_json({**counts, "seconds": round(seconds, 1)})
    else:
        _print(files, seconds)
    return comparison


def _compare(stack: Stack, files: list[LocalFile]) -> list[ComparedFile]:
    uploaded, _ = put_and_wait(stack, files, _WAIT_SECONDS)
    row_of = {file.upload.file.key: file.row for file in uploaded}
    return [ComparedFile(file, row_of.get(file.key), sha1sum(file.path)) for file in files]


def _print(files: list[ComparedFile], seconds: float) -> None:
    tables.print_table(
        [tables.KEY, tables.SIZE, tables.SHA1, tables.SPEED, _EQUAL],
        (
            [
                compared.file.key,
                output.size_text(compared.file.size_bytes),
                (compared.row and compared.row.sha1) or tables.Cell("not recorded", "red"),
                output.speed_text(compared.row.mb_per_s if compared.row else None),
                tables.Cell("yes", "green") if compared.equal else tables.Cell("NO", "bold red"),
            ]
            for compared in files
        ),
    )
    size = output.size_text(sum(compared.file.size_bytes for compared in files))
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
    program = shutil.which("sha1sum") or shutil.which("shasum")
    if program is None:
        raise CannotDoError("neither sha1sum nor shasum is installed to compare with")
    with path.open("rb") as file:
        done = subprocess.run([program], stdin=file, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise CannotDoError(f"{program} failed for {path}: {done.stderr.strip()}")
    return done.stdout.split()[0]
