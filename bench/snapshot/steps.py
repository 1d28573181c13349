"""The steps that are measured, each in a process of its own, and plain Python for some of them."""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from bench.snapshot.rows import BUCKET, lines
from bench.tables.process import ProcessMeter
from bucketsum_cli.commands.find_list import WANTED
from bucketsum_cli.snapshots import scan
from bucketsum_cli.snapshots.folder import ROWS, new_folder, read_snapshot
from bucketsum_cli.snapshots.sides_database import SidesDatabase
from bucketsum_cli.snapshots.storage_prices import put_prices
from bucketsum_cli.snapshots.tables import open_snapshot

SCAN: Final = "scan"
SCANNED_ROWS: Final = 2000
"""Of moto's table, whose rows are in this process."""

_KEYS: Final = ("object", "entry")


def _ask(query: str, **question: str | int | bool) -> Callable[[Path, Path], Iterable[object]]:
    def step(folder: Path, _other: Path) -> Iterable[object]:
        database = open_snapshot(read_snapshot(folder))
        put_prices(database)
        if query == "find":
            wanted = (
                {"place": place, "name": "", "digest": row["sha1"]}
                for place, row in zip(range(100_000), _rows(folder), strict=False)
            )
            database.local.put_table("wanted", WANTED, wanted)
        return database.ask(query, **question)

    return step


def _load(folder: Path, _other: Path) -> Iterable[object]:
    return open_snapshot(read_snapshot(folder)).engine.run("SELECT 1")


def _compare(folder: Path, other: Path) -> Iterable[object]:
    sides = SidesDatabase()
    for table, side in (("left_side", folder), ("right_side", other)):
        keys = {"bucket": BUCKET, "prefix": "", "pattern": ""}
        sides.put_objects(table, read_snapshot(side), "side", keys)
    return sides.ask("compare", rows=20)


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted((folder / ROWS).iterdir()):
        with gzip.open(file, "rt", encoding="utf-8") as texts:
            for text in texts:
                yield _plain(text)


def _plain(line: str) -> dict[str, Any]:
    item = json.loads(line)["Item"]
    return {name: next(iter(value.values())) for name, value in item.items()}


def _python_duplicates(folder: Path, _other: Path) -> Iterable[object]:
    groups: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for row in _rows(folder):
        groups[row["sha1"], int(row["size_bytes"])].append(row["object"])
    wasted = (((len(keys) - 1) * at[1], keys) for at, keys in groups.items() if len(keys) > 1)
    return sorted(wasted, reverse=True)[:20]


def _python_export(folder: Path, _other: Path) -> Iterable[object]:
    return sorted((row["object"], row["sha1"]) for row in _rows(folder))


def _python_compare(folder: Path, other: Path) -> Iterable[object]:
    left = {row["object"]: row["sha1"] for row in _rows(folder)}
    return Counter(left.pop(row["object"], None) == row["sha1"] for row in _rows(other)).items()


STEPS: Final[dict[str, Callable[[Path, Path], Iterable[object]]]] = {
    "load": _load,
    "duplicates": _ask(
        "duplicates", bucket="", prefix="", least_bytes=1, with_members=False, groups=20
    ),
    "export": _ask("export", bucket=BUCKET, prefix="", with_members=False),
    "find": _ask("find", bucket=""),
    "totals": _ask("totals"),
    "compare": _compare,
    "python duplicates": _python_duplicates,
    "python export": _python_export,
    "python compare": _python_compare,
}


def _scan(folder: Path) -> dict[str, float]:
    """Scan moto's table, which is filled before."""
    import boto3  # noqa: PLC0415 - the memory of the other steps is measured without them
    from moto import mock_aws  # noqa: PLC0415 - likewise

    with mock_aws(), new_folder(folder.with_name("scanned")) as (partial, _):
        table = boto3.resource("dynamodb").create_table(
            TableName="digests", BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in _KEYS],
            KeySchema=[{"AttributeName": _KEYS[0], "KeyType": "HASH"},
                       {"AttributeName": _KEYS[1], "KeyType": "RANGE"}],
        )  # fmt: skip
        with table.batch_writer() as writer:
            for line in lines(SCANNED_ROWS):
                writer.put_item(Item=_plain(line))
        client = boto3.client("dynamodb")
        meter = ProcessMeter()
        scan.scan(client, "digests", SCANNED_ROWS, partial, ROWS)
        return meter.stop()


def main(step: str, folder: str, other: str) -> None:
    """Print the time and memory of *step* over the snapshots in *folder* and *other*."""
    if step == SCAN:
        result = _scan(Path(folder))
    else:
        meter = ProcessMeter()
        for _ in STEPS[step](Path(folder), Path(other)):
            pass
        result = meter.stop()
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
