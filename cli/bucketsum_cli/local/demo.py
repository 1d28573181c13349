"""The demonstration: real files into the stack, every recorded SHA-1 beside `sha1sum`'s."""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum_cli import emulator, output
from bucketsum_cli.commands.put import put_and_wait
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.files import LocalFile, files_under
from bucketsum_cli.local.demo_files import gather

if TYPE_CHECKING:
    from pathlib import Path

    from bucketsum.digests_table import Row
    from bucketsum_cli.stack import Stack

_WAIT_SECONDS: Final = 180
_EQUAL: Final = output.Column("equal", 5)


@dataclass(frozen=True, slots=True)
class Compared:
    """A file, what the bucket recorded of it, and what `sha1sum` says."""

    file: LocalFile
    row: Row | None
    expected_sha1: str

    @property
    def equal(self) -> bool:
        """Whether both agree."""
        return self.row is not None and self.row.sha1 == self.expected_sha1


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many files were compared, and how many are equal."""

    files: int
    equal: int

    @property
    def all_equal(self) -> bool:
        """Whether every one is."""
        return self.equal == self.files

    def say(self) -> None:
        """Show it in one line."""
        style = "bold green" if self.all_equal else "bold red"
        output.say(f"{self.equal} of {self.files} equal sha1sum", style)


def run_demo(project: Path, stack: Stack, *, as_json: bool) -> Verdict:
    """Put the files, wait for their rows and compare."""
    folder = project / emulator.FOLDER / "demo"
    with output.notes().status("gathering files ..."):
        gather(folder)
    started = time.monotonic()
    compared = _compare(stack, files_under([folder]).files)
    seconds = time.monotonic() - started
    verdict = Verdict(len(compared), sum(one.equal for one in compared))
    if as_json:
        counts = {"files": verdict.files, "equal": verdict.equal}
        output.print_json({**counts, "seconds": round(seconds, 1)})
    else:
        _print(compared, seconds)
    return verdict


def _compare(stack: Stack, files: list[LocalFile]) -> list[Compared]:
    puts, _ = put_and_wait(stack, files, _WAIT_SECONDS)
    row_of = {put.upload.file.key: put.row for put in puts}
    return [Compared(file, row_of.get(file.key), sha1sum(file.path)) for file in files]


def _print(compared: list[Compared], seconds: float) -> None:
    output.print_table(
        [output.KEY, output.SIZE, output.SHA1, output.SPEED, _EQUAL],
        (
            [
                one.file.key,
                output.size_text(one.file.size_bytes),
                (one.row and one.row.sha1) or output.Cell("not recorded", "red"),
                output.speed_text(one.row.mb_per_s if one.row else None),
                output.Cell("yes", "green") if one.equal else output.Cell("NO", "bold red"),
            ]
            for one in compared
        ),
    )
    size = output.size_text(sum(one.file.size_bytes for one in compared))
    output.say("")
    output.say(
        f"{len(compared)} objects, {size}, sent and hashed in {seconds:.1f} s "
        "(this machine's embedded AWS; says nothing about AWS's speed)"
    )


def sha1sum(path: Path) -> str:
    """What the system's own program says of *path*.

    Raises:
        CannotDoError: There is none, or it failed.
    """
    program = shutil.which("sha1sum") or shutil.which("shasum")
    if program is None:
        raise CannotDoError("neither sha1sum nor shasum is installed to compare with")
    with path.open("rb") as file:
        done = subprocess.run([program], stdin=file, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise CannotDoError(f"{program} failed for {path}: {done.stderr.strip()}")
    return done.stdout.split()[0]
