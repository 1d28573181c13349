"""Unzipping by other languages: programs built here, their commands, and the missing ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.sandbox.requirements import tool
from bench.sandbox.server import FOLDER
from bench.tables.spread import Spread
from bench.tables.table import Column, Table, numbers
from bench.unzip import variants
from bench.unzip.turns import run_on
from bucketsum_cli.terminal import output
from bucketsum_lab.workloads.fetch.data_set import item_of
from bucketsum_lab.workloads.unzip.generated_archive import GeneratedArchive

if TYPE_CHECKING:
    from bucketsum_lab.workloads.fetch.model import Item

ARCHIVE_BYTES: Final = 290_000_000
"""The size that most archives of Bengtsson (2017) have."""
QUICK_BYTES: Final = 20_000_000
_GO: Final = Path(__file__).with_name("unzip.go")
_ZIPFILE: Final = "zipfile.extractall"
_OURS: Final = ("bucketsum stream", "bucketsum tmp")


@dataclass(frozen=True, slots=True)
class Program:
    """A program that unzips.

    Attributes:
        command: ``{archive}`` and ``{folder}`` are replaced; the folder does not exist.
        prints: Whether it prints the SHA-1s of the archive and of its members.
    """

    name: str
    command: tuple[str, ...]
    prints: bool = False


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Programs that could be built, and the reasons for the others."""

    programs: tuple[Program, ...]
    missing: tuple[str, ...]


def built(folder: Path) -> Toolchain:
    """All programs; those in Go are compiled into *folder*."""
    here = (sys.executable, "-m", variants.__name__)
    programs = [
        Program(name, (*here, name, "{archive}", "{folder}")) for name in (_ZIPFILE, *_OURS)
    ]
    missing = []
    if unzip := tool("unzip"):
        programs.append(Program("unzip", (unzip, "-qq", "-d", "{folder}", "{archive}")))
    else:
        missing.append("unzip: apt-get install unzip")
    if go := tool("go"):
        binary = str(folder / "unzip-go")
        subprocess.run([go, "build", "-o", binary, str(_GO)], check=True, cwd=_GO.parent)  # noqa: S603 - the project's own source
        programs += [
            Program("Go archive/zip to disk", (binary, "extract", "{archive}", "{folder}")),
            Program("Go archive/zip, SHA-1 of all", (binary, "sha1", "{archive}"), prints=True),
        ]
    else:
        missing.append("Go: its archive/zip is not compared; https://go.dev/dl")
    return Toolchain(tuple(programs), tuple(missing))


def table(turns: int, origin: str, *, quick: bool) -> Table:
    """Each program once per turn on one core, with the archive in the page cache."""
    size_bytes = QUICK_BYTES if quick else ARCHIVE_BYTES
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="languages-", dir=FOLDER) as scratch:
        folder = Path(scratch)
        toolchain = built(folder)
        for reason in toolchain.missing:
            output.note(f"missing: {reason}")
        item = _archive(folder / "archive.zip", size_bytes)
        timings = [
            (program, _once(program, folder, item))
            for _ in range(turns)
            for program in toolchain.programs
        ]
    rows = tuple(_rows(toolchain.programs, timings, size_bytes))
    headings = (Column("program", "program"), *numbers("MB/s", decimals=1))
    missing = "".join(f" Missing: {reason}." for reason in toolchain.missing)
    return Table(
        "fetch-languages",
        (*headings, *numbers("MB per CPU second", decimals=1), *numbers("CPU s", decimals=2)),
        rows,
        f"An archive of {size_bytes // 1_000_000} MB in the page cache, unzipped on one core",
        f"Measured on this machine, not on AWS. {origin}.{missing}",
    )


Timing = tuple[Program, tuple[float, float]]


def _archive(path: Path, size_bytes: int) -> Item:
    with path.open("wb") as file:
        for chunk in GeneratedArchive(size_bytes).chunks():
            file.write(chunk)
    return item_of(path.name, size_bytes)


def _once(program: Program, folder: Path, item: Item) -> tuple[float, float]:
    """Wall and CPU seconds of one run, with the start of the program."""
    places = {"archive": str(folder / item.name), "folder": str(folder / "out")}
    command = [argument.format(**places) for argument in program.command]
    before = os.times()
    printed = run_on(1, command)
    after = os.times()
    shutil.rmtree(places["folder"], ignore_errors=True)
    if program.prints and printed.split() != [item.sha1, item.members_sha1]:
        raise ValueError(f"{program.name} printed wrong digests: {printed}")
    cpu = after.children_user + after.children_system - before.children_user
    return after.elapsed - before.elapsed, cpu - before.children_system


def _rows(
    programs: Sequence[Program], timings: Sequence[Timing], size_bytes: int
) -> Iterator[tuple[str, Spread, Spread, Spread]]:
    for program in programs:
        own = [times for each, times in timings if each is program]
        speeds = Spread.of(size_bytes / 1e6 / wall for wall, _ in own)
        of_cpu = Spread.of(size_bytes / 1e6 / cpu for _, cpu in own)
        yield program.name, speeds, of_cpu, Spread.of(cpu for _, cpu in own)
