"""Each command answers for the state of an object, and none without a listing of what it judges."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run
from tests.cli.snapshots.hostile_rows import Hostile

from bucketsum.table.items import item_of
from bucketsum.table.row_parts import Difference
from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import comparable_sequencer
from bucketsum_cli.snapshots.folder import Listed

AT = "2026-11-20T10:00:00.000Z"
SHA1 = hashlib.sha1(b"x").hexdigest()
ROW = Row(
    "p", "good", "null", Status.HASHED, 1, comparable_sequencer("1"), AT, AT, etag="e", sha1=SHA1
)
ROTTEN = replace(ROW, key="rotten", difference=Difference("sha1:00", AT))
LOST = replace(ROW, key="lost")


def entry(key: str) -> dict[str, Any]:
    """An entry of the listing."""
    return {
        "bucket": "p",
        "key": key,
        "version": "null",
        "latest": True,
        "size_bytes": 1,
        "etag": "e",
        "created_at": "2026-11-20T10:00:00",
        "storage_class": "STANDARD",
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good object that is listed twice, known rot, and an object that is lost."""
    items = [item_of(row) for row in (ROW, ROTTEN, LOST)]
    listing = [entry(key) for key in ("good", "good", "rotten")]
    return Hostile(items, listing).write(tmp_path / "s", [Listed("p", "")]).folder


def test_known_rot_differs_and_is_not_a_copy(run: Run, folder: Path, tmp_path: Path) -> None:
    """Nor is the lost object; a version that is listed twice is there once."""
    lines = tmp_path / "list.sha1"
    lines.write_text(f"{SHA1}  good\n{SHA1}  rotten\n")
    compared = run("compare", folder, lines, "--json")
    assert (compared.status, compared.document["counts"]) == (1, {"equal": 1, "differs": 1})
    assert run("duplicates", "--snapshot", folder, "--json").document["groups"] == []
    exported = run("export", "p", "--snapshot", folder)
    assert (exported.status, exported.out) == (1, f"{SHA1}  good\n")
    covered = run("coverage", "--snapshot", folder, "--json")
    states = {part["state"]: part["objects"] for part in covered.document["parts"]}
    assert (covered.status, states) == (1, {"hashed": 1, "differs": 1, "lost": 1})
    lines.write_text(f"{'a' * 64}  x\n")
    run("find", "--list", lines, "--snapshot", folder).assert_refused("no row has a digest of sha2")


def test_what_was_not_listed_is_not_judged(run: Run, tmp_path: Path) -> None:
    """Rows alone do not say what S3 has now; nothing selected is not complete."""
    bare = Hostile([item_of(ROW)]).write(tmp_path / "bare", ()).folder
    lines = tmp_path / "list.sha1"
    lines.write_text(f"{SHA1}  good\n")
    for command in (
        ("compare", f"{bare}#p", lines),
        ("coverage", "--snapshot", bare),
        ("export", "p", "--snapshot", bare),
        ("duplicates", "--snapshot", bare),
    ):
        run(*command).assert_refused("has no listing of s3://p/")
    empty = Hostile().write(tmp_path / "empty", [Listed("p", "")]).folder
    run("coverage", "--snapshot", empty).assert_refused("S3 lists no object")
