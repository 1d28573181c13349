"""The steps that are measured, each in a process of its own, and the same in plain DuckDB."""

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from bench.snapshot import plain
from bench.snapshot.rows import BUCKET, row_of
from bench.tables.process import ProcessMeter
from bucketsum_cli.commands.find_list import WANTED
from bucketsum_cli.snapshots.folder import read_snapshot
from bucketsum_cli.snapshots.manifest_lines import lines_of
from bucketsum_cli.snapshots.sides_database import SidesDatabase
from bucketsum_cli.snapshots.storage_prices import put_prices
from bucketsum_cli.snapshots.tables import open_snapshot

PLAIN: Final = "plain "
_WANTED: Final = 100_000
_Step = Callable[[Path, Path], Iterable[object]]


def _ask(query: str, **question: str | int | bool) -> _Step:
    def step(folder: Path, _other: Path) -> Iterable[object]:
        database = open_snapshot(read_snapshot(folder))
        put_prices(database)
        if query == "find":
            digests = _wanted(folder).read_text().split()[1:]
            rows = ({"place": n, "name": "", "digest": d, "sha1": d} for n, d in enumerate(digests))
            database.local.put_table("wanted", WANTED, rows)
        return database.ask(query, **question)

    return step


def _count(folder: Path, _other: Path) -> Iterable[object]:
    database = open_snapshot(read_snapshot(folder))
    database.engine.lock()
    return database.engine.select("SELECT count(*) FROM objects")


def _export(folder: Path, _other: Path) -> Iterable[object]:
    question = {"bucket": BUCKET, "prefix": "", "with_members": False}
    return lines_of(open_snapshot(read_snapshot(folder)), question, "sum", "sha1")


def _compare(folder: Path, other: Path) -> Iterable[object]:
    sides = SidesDatabase()
    for table, side in (("left_side", folder), ("right_side", other)):
        keys = {"bucket": BUCKET, "prefix": "", "pattern": ""}
        sides.put_objects(table, read_snapshot(side), "side", keys)
    return sides.ask("compare", rows=20)


def _wanted(folder: Path) -> Path:
    """A list of digests, of which most are there."""
    file = folder.with_name("wanted.csv")
    if not file.exists():
        file.write_text("\n".join(["sha1", *(str(row_of(n).sha1) for n in range(_WANTED))]))
    return file


STEPS: Final[dict[str, _Step]] = {
    "load": lambda folder, _other: [open_snapshot(read_snapshot(folder))],
    "count": _count,
    "duplicates": _ask(
        "duplicates", bucket="", prefix="", least_bytes=1, with_members=False, groups=20
    ),
    "coverage": _ask("coverage", bucket="", prefix=""),
    "export": _export,
    "find": _ask("find", bucket=""),
    "compare": _compare,
}


def answer(step: str, folder: Path, other: Path) -> Iterable[object]:
    """The answer of a step, or, if it begins with `PLAIN`, that of plain DuckDB."""
    if not step.startswith(PLAIN):
        return STEPS[step](folder, other)
    question = step.removeprefix(PLAIN)
    if question not in plain.QUERIES:
        return [plain.database_of(folder)]
    return plain.answer(question, folder, other, _wanted(folder))


def main(step: str, folder: str, other: str) -> None:
    """Print the time and memory of *step* over the snapshots in *folder* and *other*."""
    meter = ProcessMeter()
    for _ in answer(step, Path(folder), Path(other)):
        pass
    print(json.dumps(meter.stop()))


if __name__ == "__main__":
    main(*sys.argv[1:])
