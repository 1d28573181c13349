"""A folder is a whole snapshot of this form, or a named error; nothing half-done stays."""

import base64
import gzip
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.cli.deployed import hashed
from tests.cli.snapshots.hostile_rows import Hostile, write_lines

from bucketsum.table.items import item_of
from bucketsum.table.rows import RowKey
from bucketsum_cli.snapshots import database
from bucketsum_cli.snapshots.folder import new_folder, read_snapshot, snapshots
from bucketsum_cli.snapshots.keeping import delete_snapshot
from bucketsum_cli.snapshots.tables import open_snapshot
from bucketsum_cli.terminal.errors import CannotDoError

ITEMS = [item_of(hashed(RowKey("photos", f"{n}.jpg", "null"), b"x")) for n in range(5)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A snapshot of five rows."""
    return Hostile(ITEMS).write(tmp_path / "s", ()).folder


@pytest.fixture(scope="module")
def with_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, with its tables."""
    snapshot = Hostile(ITEMS).write(tmp_path_factory.mktemp("opened") / "s", ())
    open_snapshot(snapshot).local.close()
    return snapshot.folder


@pytest.fixture
def opened(with_tables: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(with_tables, tmp_path / "opened")


def write_export(folder: Path, *, count: int = 5, **summary: object) -> None:
    """Write the five rows as DynamoDB's export writes them, in two files, one of them empty."""
    listed = []
    for name, items in (("a.json.gz", ITEMS), ("b.json.gz", [])):
        file = write_lines(folder, f"data/{name}", [{"Item": item} for item in items])
        md5 = base64.b64encode(bytes.fromhex(file.md5)).decode()
        key = f"exports/AWSDynamoDB/01-2/data/{name}"
        listed.append(
            {"itemCount": file.rows, "md5Checksum": md5, "etag": "e-1", "dataFileS3Key": key}
        )
    (folder / "manifest-files.json").write_text("\n".join(map(json.dumps, listed)) + "\n")
    table = "arn:aws:dynamodb:eu-west-1:123456789012:table/digests"
    values = {
        "version": "2020-06-30", "tableArn": table, "exportTime": "2026-11-04T07:28:34.028Z",
        "itemCount": count, "outputFormat": "DYNAMODB_JSON", **summary,
    }  # fmt: skip
    (folder / "manifest-summary.json").write_text(json.dumps(values))


@pytest.mark.parametrize("summary", [{}, {"exportType": "FULL_EXPORT"}])
def test_an_export_of_dynamodb_is_a_snapshot(tmp_path: Path, summary: dict[str, Any]) -> None:
    """The files that DynamoDB wrote are read as they are, of either age of its manifests."""
    write_export(tmp_path, **summary)
    snapshot = read_snapshot(tmp_path)
    assert (snapshot.via, snapshot.region, snapshot.account) == (
        "export",
        "eu-west-1",
        "123456789012",
    )
    assert snapshot.rows == 5
    assert len(list(open_snapshot(snapshot).engine.run("SELECT * FROM objects"))) == 5


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"outputFormat": "ION"}, "of the kind ION"),
        ({"exportType": "INCREMENTAL_EXPORT"}, "of the kind INCREMENTAL_EXPORT"),
        ({"count": 6}, "has 6 items, manifest-files.json has 5"),
        ({"tableArn": 5}, "manifest-summary.json is damaged"),
        ({"exportTime": "yesterday"}, "manifest-summary.json is damaged"),
        ({"exportTime": "2026-11-04T07:28:34"}, "manifest-summary.json is damaged"),
    ],
)
def test_an_export_of_another_kind_is_refused(
    tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    """Only a whole table can answer."""
    write_export(tmp_path, **change)
    with pytest.raises(CannotDoError, match=re.escape(reason)):
        read_snapshot(tmp_path)


def cut_off(folder: Path) -> None:
    """Leave half of a file."""
    file = folder / "data" / "0.json.gz"
    file.write_bytes(file.read_bytes()[:-9])


def change_form(folder: Path) -> None:
    """Make the snapshot one of a later version."""
    file = folder / "snapshot.json"
    file.write_text(file.read_text().replace('"form": 1', '"form": 2'))


def lose_a_row(folder: Path) -> None:
    """Replace a file by one with fewer rows, and its checksum too."""
    (folder / "data" / "0.json.gz").write_bytes(gzip.compress(b""))
    listed = json.loads((folder / "snapshot.json").read_text())
    listed["files"][0]["md5"] = write_lines(folder, "data/0.json.gz", []).md5
    (folder / "snapshot.json").write_text(json.dumps(listed))


def link_a_file(folder: Path) -> None:
    """Replace a file by a link to an equal one elsewhere."""
    file = folder / "data" / "0.json.gz"
    file.symlink_to(file.rename(folder.parent / "elsewhere"))


def listing_with(**changes: object) -> Callable[[Path], None]:
    """Change the list: *name* is of its first file, the others are of the snapshot."""

    def change(folder: Path) -> None:
        listed = json.loads((folder / "snapshot.json").read_text())
        if "name" in changes:
            listed["files"][0]["name"] = changes["name"]
        else:
            listed |= changes
        (folder / "snapshot.json").write_text(json.dumps(listed))

    return change


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (link_a_file, "0.json.gz: it is not a regular file"),
        (listing_with(name="data/../../x"), "snapshot.json is damaged"),
        (listing_with(name="/etc/passwd"), "snapshot.json is damaged"),
        (listing_with(stack=1), "snapshot.json is damaged"),
        (listing_with(ended_at=None), "snapshot.json is damaged"),
        (listing_with(ended_at="yesterday"), "snapshot.json is damaged"),
        (listing_with(begun_at=None), "snapshot.json is damaged"),
        (listing_with(listed=[{"bucket": "photos", "prefix": None}]), "snapshot.json is damaged"),
        (listing_with(listed=[{"bucket": ["x"], "prefix": ""}]), "snapshot.json is damaged"),
        (listing_with(name="data/\0"), "snapshot.json is damaged"),
        (listing_with(name="data/\ud800"), "snapshot.json is damaged"),
        (cut_off, "0.json.gz: it is not the file that was written: its MD5 differs"),
        (lambda folder: (folder / "data/1.json.gz").unlink(), "1.json.gz: No such file"),
        (change_form, "form 2, this one reads 1"),
        (lose_a_row, "0.json.gz has 0 rows, its list says 2"),
        (
            lambda folder: (folder / "snapshot.json").write_text('{"form": 1}'),
            "snapshot.json is damaged",
        ),
        (lambda folder: (folder / "snapshot.json").unlink(), "is not a snapshot"),
    ],
)
def test_a_damaged_snapshot_is_refused(
    folder: Path, damage: Callable[[Path], None], reason: str
) -> None:
    """No question is answered from a part of the rows."""
    damage(folder)
    with pytest.raises(CannotDoError, match=re.escape(reason)):
        open_snapshot(read_snapshot(folder))
    assert not list(folder.glob("*duckdb*")), "half of the tables"


@pytest.mark.parametrize(
    "forgery",
    [
        "CREATE OR REPLACE VIEW objects AS FROM read_text('/etc/passwd')",
        "DROP TABLE deletions; CREATE VIEW deletions AS FROM read_text('/etc/passwd')",
        "CREATE SCHEMA other; CREATE VIEW other.objects AS FROM read_text('/etc/passwd')",
        "CREATE MACRO starts_with(a, b) AS true",
        "ALTER TABLE versions ADD COLUMN more VARCHAR DEFAULT 'x'",
        "ALTER TABLE versions DROP COLUMN is_current",
    ],
)
def test_views_of_a_stranger_are_not_asked(opened: Path, forgery: str) -> None:
    """A view could read a file of this machine; the tables are then made again."""
    [tables] = opened.glob("*.duckdb")
    own = [*open_snapshot(read_snapshot(opened)).engine.run("FROM objects ORDER BY key")]
    with duckdb.connect(str(tables)) as forged:
        forged.execute(forgery)
    before = tables.read_bytes()
    engine = open_snapshot(read_snapshot(opened)).engine
    assert [*engine.run("FROM objects ORDER BY key")] == own
    assert tables.read_bytes() != before
    assert not [*engine.run("SELECT 1 FROM duckdb_views() WHERE sql LIKE '%passwd%'")]


@pytest.mark.parametrize("end", [".wal", ".wal.checkpoint", ".wal.recovery", ".tmp", ""])
def test_what_duckdb_would_read_beside_the_tables_is_refused(opened: Path, end: str) -> None:
    """A link there leads a query to any file of this machine."""
    [tables] = opened.glob("*.duckdb")
    link = tables.with_name(f"{tables.name}{end}")
    link.unlink(missing_ok=True)
    link.symlink_to("/etc/passwd")
    with pytest.raises(CannotDoError, match="is not a file of a snapshot"):
        open_snapshot(read_snapshot(opened))


def test_a_folder_that_cannot_be_written_is_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tables are made elsewhere, for this process."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    before = sorted(folder.rglob("*"))
    assert len(list(open_snapshot(read_snapshot(folder)).engine.run("FROM objects"))) == 5
    assert sorted(folder.rglob("*")) == before


def test_what_was_interrupted_is_no_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is left of it; another program's folder is never written into; `last` skips both."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path))
    root = tmp_path / "snapshots"

    def interrupted(error: BaseException) -> None:
        with new_folder(root / "one") as (partial, _):
            (partial / "data" / "0.json.gz").write_bytes(b"half")
            raise error

    with pytest.raises(KeyboardInterrupt):
        interrupted(KeyboardInterrupt())
    with pytest.raises(CannotDoError, match="No space left on device; name another folder"):
        interrupted(OSError(28, "No space left on device"))
    assert list(root.iterdir()) == []
    (root / "one").mkdir()
    with pytest.raises(CannotDoError, match="one exists; name a new folder with --to"):
        interrupted(ValueError())
    other = Hostile(ITEMS).write(root / "other", ())
    change_form(other.folder)
    whole = Hostile(ITEMS).write(root / "whole", ())
    assert snapshots() == [whole]
    assert "other was written by another version" in capsys.readouterr().err.replace("\n", " ")
    delete_snapshot(whole)
    assert sorted(path.name for path in root.iterdir()) == ["one", "other"]


@pytest.mark.parametrize("is_export", [False, True])
def test_files_of_the_person_outlive_a_snapshot(
    folder: Path, tmp_path: Path, *, is_export: bool
) -> None:
    """Only the files of the snapshot are deleted, wherever the person put or linked others."""
    if is_export:
        (folder / "snapshot.json").unlink()
        write_export(folder)
    snapshot = read_snapshot(folder)
    open_snapshot(snapshot)
    precious = tmp_path / "precious"
    precious.mkdir()
    shutil.rmtree(folder / "listing", ignore_errors=True)
    (folder / "listing").symlink_to(precious)
    theirs = {folder / "thesis.txt", folder / "data" / "notes", precious / "0.json.gz"}
    for file in theirs:
        file.write_text("mine")
    if is_export:  # the first form's, which the export does not list
        theirs |= {path for path in (folder / "data").iterdir() if path.name[0] not in "ab"}
    assert not delete_snapshot(snapshot)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == theirs


def test_tables_that_cannot_be_made_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of DuckDB while the tables are made leaves the snapshot whole."""
    with monkeypatch.context() as patch:
        patch.setattr(database, "_MEMORY_MB", "nonsense")
        with pytest.raises(CannotDoError, match="DuckDB: "):
            open_snapshot(read_snapshot(folder))
    assert not list(folder.glob("*duckdb*")), "half of the tables"
    assert len(list(open_snapshot(read_snapshot(folder)).engine.run("SELECT * FROM objects"))) == 5


def test_tables_that_a_full_disk_ends_leave_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB cannot even detach them then: the first error is shown, and no part of them stays."""
    execute = database.DuckDb.execute

    def full(local: database.DuckDb, sql: Any, values: Any = None) -> None:  # noqa: ANN401 - as it is
        if "DETACH" in str(sql):
            raise CannotDoError("full at the first" if "CHECKPOINT" in sql else "full again")
        execute(local, sql, values)

    before = sorted(folder.rglob("*"))
    with monkeypatch.context() as patch:
        patch.setattr(database.DuckDb, "execute", full)
        with pytest.raises(CannotDoError, match="full at the first"):
            open_snapshot(read_snapshot(folder))
    assert sorted(folder.rglob("*")) == before
