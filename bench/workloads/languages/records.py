"""The same block file read in Python and in C++."""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from bench.sandbox.requirements import tool
from bench.sandbox.server import FOLDER
from bench.tables.table import Spread, SpreadColumn, Table, numbers
from bench.unzip.turns import run_on
from bucketsum_cli.terminal import output
from bucketsum_lab.workloads.records.block_file import BlockFile, BlockLayout, write_block_file
from bucketsum_lab.workloads.records.data_set import DataSet, queries, verify
from bucketsum_lab.workloads.records.measurement import Phase


def main(path: Path, ids: Path) -> None:
    """Read and verify the records of *ids*, one per line; print the times as JSON."""
    record_ids = [*map(int, ids.read_text().split())]
    load, fetch = Phase(), Phase()
    with load.timed():
        file = BlockFile(path)
    with closing(file), fetch.timed():
        for record_id in record_ids:
            verify(file.record(record_id), record_id)
    seconds = (load.seconds, load.cpu_seconds, fetch.seconds, fetch.cpu_seconds)
    times = {"records": len(record_ids), **dict(zip(_PARTS, seconds, strict=True))}
    sys.stdout.write(json.dumps(times) + "\n")


NAME: Final = "records-languages"
SIZE_BYTES: Final = 240_560_000
READS: Final = 215_000
"""As in Fernandez and Turner (2023): 2.48 million records, of which so many are read."""
BLOCK_BYTES: Final = (512, 4_096, 32_768)
QUICK_SIZE_BYTES: Final = 2_000_000
QUICK_READS: Final = 2_000
MISSING: Final = "C++: g++ is not installed; apt-get install g++"

_SOURCE: Final = Path(__file__).with_name("block_reader.cpp")
_PARTS: Final = ("load_seconds", "load_cpu_seconds", "fetch_seconds", "fetch_cpu_seconds")


def readers(folder: Path) -> Mapping[str, Sequence[str]]:
    """Command of each reader by its name; the C++ reader is compiled into *folder* if possible."""
    commands: dict[str, Sequence[str]] = {"Python": (sys.executable, "-m", __name__)}
    if compiler := tool("g++"):
        binary = str(folder / "block_reader")
        subprocess.run([compiler, "-O2", "-std=c++17", "-o", binary, str(_SOURCE)], check=True)  # noqa: S603 - the project's own source
        commands["C++"] = (binary,)
    return commands


def table(turns: int, origin: str, *, quick: bool) -> Table:
    """Each reader once per turn with each block size, on one core, the file in the page cache."""
    size_bytes, reads = (QUICK_SIZE_BYTES, QUICK_READS) if quick else (SIZE_BYTES, READS)
    data_set = DataSet(size_bytes)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="records-", dir=FOLDER) as scratch:
        folder = Path(scratch)
        commands = readers(folder)
        if "C++" not in commands:
            output.note(f"missing: {MISSING}")
        ids = folder / "ids"
        ids.write_text("\n".join(map(str, queries(reads, data_set.records))))
        times: dict[tuple[int, str], list[dict[str, float]]] = defaultdict(list)
        path = folder / "records.blocks"
        for block_bytes in BLOCK_BYTES:
            write_block_file(path, BlockLayout(block_bytes, data_set.records), data_set.chunks())
            for name, command in [*commands.items()] * turns:
                printed = run_on(1, [*command, str(path), str(ids)])
                times[block_bytes, name].append(json.loads(printed))
    missing = "" if "C++" in commands else f" Missing: {MISSING}."
    return Table(
        NAME,
        (
            SpreadColumn("block", "{:,} B".format),
            "reader",
            *numbers("dictionary s", "dictionary CPU s", "fetch s", "fetch CPU s", decimals=3),
            *numbers("records/s", decimals=0),
        ),
        tuple(_row(*of, seconds) for of, seconds in times.items()),
        f"{reads:,} of {data_set.records:,} records from a block file in the page cache, one core",
        f"Measured on this machine, not on AWS. {origin}.{missing}",
    )


def _row(block_bytes: int, name: str, times: Sequence[dict[str, float]]) -> tuple[object, ...]:
    spreads = (Spread.of(run[part] for run in times) for part in _PARTS)
    speed = Spread.of(run["records"] / run["fetch_seconds"] for run in times)
    return block_bytes, name, *spreads, speed


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
