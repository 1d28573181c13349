"""Records of earlier versions: a new attribute of a stored record has a default."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from moto import mock_aws
from tests.support.clients import shared_client
from tests.support.sam_template import create_table

from bucketsum.backfill.backfill_records import Tally
from bucketsum.backfill.messages import listed_objects_in
from bucketsum.backfill.table import BackfillsTable
from bucketsum.errors import DamagedItem
from bucketsum.long_objects.message import progress_in_message
from bucketsum.long_objects.progress import progress_in
from bucketsum.table.items import deletion_of, row_of

STORED: Final = Path(__file__).parent / "stored"
"""A file for a commit: items and messages as its code wrote them, never changed."""

COMMITS: Final = [path.stem for path in sorted(STORED.iterdir())]
FIRST: Final = "0967a77"
"""It knew no `Backfill.archived`: it queued the objects of every storage class."""

ID: Final = "20261122T204038-3f9a1c"


def stored_by(commit: str) -> dict[str, Any]:
    """Items and messages, by name."""
    stored: dict[str, Any] = json.loads((STORED / f"{commit}.json").read_text("utf-8"))
    return stored


@pytest.mark.parametrize("commit", COMMITS)
@pytest.mark.parametrize(
    "name", ["row", "row_deleted", "row_unreadable", "row_archive", "row_member"]
)
def test_rows(commit: str, name: str) -> None:
    """Rows of objects and of members keep their digests and reasons."""
    row = row_of(stored_by(commit)[name])
    assert (row.sha1 or row.reason, row.size_bytes) != (None, 0)
    assert (row.member is not None, row.archive is not None) == (
        name == "row_member",
        name == "row_archive",
    )


@pytest.mark.parametrize("commit", COMMITS)
def test_tombstones_and_long_objects(commit: str) -> None:
    """Tombstones order events; a long object continues at its offset, with its states."""
    items = stored_by(commit)
    assert deletion_of(items["tombstone"])
    progress = progress_in(items["progress"])
    assert (progress.offset, [*progress.states]) == (64_000_000, ["sha1"])
    assert progress_in_message(items["slice_message"]).key == "big"
    assert listed_objects_in(items["backfill_message"]).backfill_id == ID


@pytest.mark.parametrize("commit", COMMITS)
def test_backfills(commit: str) -> None:
    """Backfills are shown, and continue where they were; nothing is left out that was not."""
    items = stored_by(commit)
    with mock_aws():
        dynamodb = shared_client("dynamodb")
        create_table(dynamodb, "BackfillsTable", "backfills")
        for name in ("backfill", "part", "file", "tally"):
            dynamodb.put_item(TableName="backfills", Item=items[name])
        table = BackfillsTable(dynamodb, "backfills")
        [backfill] = table.backfills()
        assert not isinstance(backfill, DamagedItem)
        assert backfill.archived is (commit == FIRST)
        ranges, file = table.parts(ID)
        assert table.advance(ID, ranges, replace(ranges, position="c"))
        assert table.advance(ID, file, replace(file, done=True))
        assert table.tally(ID)[0] == Tally(hashed=5, hashed_bytes=50, invocations=1)
