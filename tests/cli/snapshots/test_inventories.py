"""An inventory of S3 is a listing of some time ago; `make trino` asks these questions, too."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import Mock

import pytest
from tests.cli.snapshots.hostile_rows import Hostile

from bucketsum.backfill.inventory import InventoryFile, Manifest
from bucketsum.errors import BadInventory
from bucketsum.events.object_events import DeletedBy
from bucketsum.table.items import item_of
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import Row, Status
from bucketsum_cli.snapshots.folder import Listed
from bucketsum_cli.snapshots.inventories import columns_of, links_at
from bucketsum_cli.snapshots.tables import open_snapshot

BEFORE, UNTIL, SINCE = (f"2026-11-2{day}T10:00:00.000Z" for day in (0, 5, 6))
KEYS: Final = Listed("p", "", "s3://lists/manifest.json", UNTIL)
ROW: Final = Row(
    "p", "k", "null", Status.HASHED, 1, "1" * 32, BEFORE, BEFORE, etag="e", sha1="a" * 40
)
NEW: Final = replace(ROW, arrived_at=SINCE, sequencer="2" * 32)
FIRST, SECOND = replace(ROW, entry="v1"), replace(NEW, entry="v2", etag="f")


def deleted(at: str) -> Row:
    """The row, whose object was deleted *at* a time."""
    return replace(ROW, deletion=Deletion(at, DeletedBy.REQUEST, "3" * 32, None))


def entry(version: str = "null", *, latest: bool = True) -> dict[str, Any]:
    """An entry of the inventory."""
    return {
        "bucket": "p", "key": "k", "version": version, "latest": latest, "size_bytes": 1,
        "etag": "e", "created_at": BEFORE[:19], "storage_class": "STANDARD",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "entries", "versions"),
    [
        ([ROW], [entry()], [("null", "hashed", True)]),
        ([ROW], [], [("null", "lost", False)]),
        ([NEW], [], [("null", "hashed", True)]),
        ([replace(ROW, etag="f")], [entry()],
         [("null", "not recorded", False), ("null", "not recorded", True)]),
        ([replace(NEW, etag="f")], [entry()], [("null", "hashed", True)]),
        ([deleted(BEFORE)], [entry()],
         [("null", "deleted", False), ("null", "not recorded", True)]),
        ([deleted(SINCE)], [entry()], [("null", "deleted", False)]),
        ([FIRST, SECOND], [entry("v1")], [("v1", "hashed", False), ("v2", "hashed", True)]),
        ([SECOND], [entry("v1")], [("v1", "not recorded", False), ("v2", "hashed", True)]),
        ([FIRST, SECOND], [entry("v1", latest=False)],
         [("v1", "hashed", False), ("v2", "hashed", True)]),
        ([FIRST, replace(SECOND, etag="e")], [entry("v1", latest=False), entry("v2")],
         [("v1", "hashed", False), ("v2", "hashed", True)]),
    ],
)  # fmt: skip
def test_an_inventory_says_nothing_about_what_is_newer(
    tmp_path: Path,
    rows: list[Row],
    entries: list[dict[str, Any]],
    versions: list[tuple[str, str, bool]],
) -> None:
    """Newer objects are not lost; those deleted or overwritten later are not present."""
    snapshot = Hostile([item_of(row) for row in rows], entries).write(tmp_path / "s", [KEYS])
    answer = open_snapshot(snapshot).engine.run(
        "SELECT version, state, is_current FROM versions ORDER BY version, is_current"
    )
    assert [*answer] == versions


@pytest.mark.parametrize(
    ("file_format", "types"),
    [("CSV", ("string",) * 5), ("ORC", ("string", "bigint", "timestamp", "string", "boolean"))],
)
def test_columns_have_the_names_and_types_of_the_files(
    file_format: str, types: tuple[str, ...]
) -> None:
    """Athena reads ORC by the order of the columns, so all have one."""
    columns = ("Key", "Size", "LastModifiedDate", "ETag", "IsDeleteMarker")
    manifest = Manifest("b", "p", columns, (), file_format)
    names = ("key", "size", "last_modified_date", "e_tag", "is_delete_marker")
    assert columns_of(manifest) == dict(zip(names, types, strict=True))


def test_a_key_with_an_end_of_line_is_no_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would name another file, perhaps of another bucket."""
    manifest = Manifest("b", "p", (), (InventoryFile("x\ns3://other/y", 1, ""),))
    monkeypatch.setattr("bucketsum_cli.snapshots.inventories.read_manifest", lambda *_: manifest)
    with pytest.raises(BadInventory, match="has an end of line"):
        links_at(Mock(), "s3://b/manifest.json")
