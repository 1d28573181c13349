"""Unzipping by other languages: programs built here, their commands, and the missing ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.sandbox.requirements import tool
from bench.sandbox.server import FOLDER
from bench.tables.spread import Spread
from bench.tables.table import Table, numbers
from bench.unzip import variants
from bench.unzip.turns import run_on
from bucketsum_cli.terminal import output
from bucketsum_lab.workloads.fetch.data_set import item_of
from bucketsum_lab.workloads.unzip.generated_archive import GeneratedArchive

if TYPE_CHECKING:
    from bucketsum_lab.workloads.fetch.model import ArchiveItem

ARCHIVE_BYTES: Final = 290_000_000
"""The size that most archives of Bengtsson (2017) have."""
QUICK_BYTES: Final = 20_000_000
_GO: Final = Path(__file__).with_name("unzip.go")
_ZIPFILE: Final = "zipfile.extractall"
_OURS: Final = ("bucketsum stream", "bucketsum tmp")
PRINTS_SHA1: Final = "Go archive/zip, SHA-1 of all"
"""The program that prints the SHA-1s of the archive and of its members."""


def built(folder: Path) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The command of each program by its name, and what is missing; Go compiles into *folder*.

    ``{archive}`` and ``{folder}`` are to be replaced; the folder does not exist.
    """
    here = (sys.executable, "-m", variants.__name__)
    commands: dict[str, tuple[str, ...]] = {
        name: (*here, name, "{archive}", "{folder}") for name in (_ZIPFILE, *_OURS)
    }
    missing = []
    if unzip := tool("unzip"):
        commands["unzip"] = (unzip, "-qq", "-d", "{folder}", "{archive}")
    else:
        missing.append("unzip: apt-get install unzip")
    if go := tool("go"):
        binary = str(folder / "unzip-go")
        subprocess.run([go, "build", "-o", binary, str(_GO)], check=True, cwd=_GO.parent)  # noqa: S603 - the project's own source
        commands["Go archive/zip to disk"] = (binary, "extract", "{archive}", "{folder}")
        commands[PRINTS_SHA1] = (binary, "sha1", "{archive}")
    else:
        missing.append("Go: its archive/zip is not compared; https://go.dev/dl")
    return commands, missing


def table(turns: int, origin: str, *, quick: bool) -> Table:
    """Each program once per turn on one core, with the archive in the page cache."""
    size_bytes = QUICK_BYTES if quick else ARCHIVE_BYTES
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="languages-", dir=FOLDER) as scratch:
        folder = Path(scratch)
        commands, missing = built(folder)
        for reason in missing:
            output.note(f"missing: {reason}")
        item = _archive(folder / "archive.zip", size_bytes)
        rounds = [
            {name: _once(name, command, folder, item) for name, command in commands.items()}
            for _ in range(turns)
        ]
    rows = tuple(_row(name, [times[name] for times in rounds], size_bytes) for name in commands)
    remarks = "".join(f" Missing: {reason}." for reason in missing)
    return Table(
        "fetch-languages",
        (
            "program",
            *numbers("MB/s", "MB per CPU second", decimals=1),
            *numbers("CPU s", decimals=2),
        ),
        rows,
        f"An archive of {size_bytes // 1_000_000} MB in the page cache, unzipped on one core",
        f"Measured on this machine, not on AWS. {origin}.{remarks}",
    )


def _archive(path: Path, size_bytes: int) -> ArchiveItem:
    with path.open("wb") as file:
        for chunk in GeneratedArchive(size_bytes).chunks():
            file.write(chunk)
    return item_of(path.name, size_bytes)


def _once(
    name: str, command: Iterable[str], folder: Path, item: ArchiveItem
) -> tuple[float, float]:
    """Wall and CPU seconds of one run, with the start of the program."""
    places = {"archive": str(folder / item.name), "folder": str(folder / "out")}
    before = os.times()
    printed = run_on(1, [argument.format(**places) for argument in command])
    after = os.times()
    shutil.rmtree(places["folder"], ignore_errors=True)
    if name == PRINTS_SHA1 and printed.split() != [item.sha1, item.members_sha1]:
        raise ValueError(f"{name} printed wrong digests: {printed}")
    cpu = after.children_user + after.children_system - before.children_user
    return after.elapsed - before.elapsed, cpu - before.children_system


def _row(
    name: str, times: Sequence[tuple[float, float]], size_bytes: int
) -> tuple[str, Spread, Spread, Spread]:
    speeds = Spread.of(size_bytes / 1e6 / wall for wall, _ in times)
    of_cpu = Spread.of(size_bytes / 1e6 / cpu for _, cpu in times)
    return name, speeds, of_cpu, Spread.of(cpu for _, cpu in times)
