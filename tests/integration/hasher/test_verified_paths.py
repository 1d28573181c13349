"""On every path, a verification compares all that the row has with what was read."""

from dataclasses import replace
from typing import Final

import pytest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.reading import put_at
from tests.integration.hasher.test_archives import ARCHIVES, members_in
from tests.support.events import message_of
from tests.support.s3_server import HostileS3
from tests.support.sam_template import create_table
from tests.support.zip_maker import zip_of

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.backfill.messages import bodies_of
from bucketsum.backfill.selection import Selection
from bucketsum.hashing.ending import Purpose
from bucketsum.s3.read_plan import SPLIT_FROM_BYTES
from bucketsum.table.sequencer import NO_SEQUENCER

RECORDED: Final = {
    "sha1": {"S": "0" * 40},
    "size_bytes": {"N": "7"},
    **{f"digest_{name}": {"S": "0" * 128} for name in EXTRA_ALGORITHMS},
}
"""Attributes of a row, each with another value than the object has."""
LENGTHS: Final = {"crc32": 8, "md5": 32, "sha256": 64, "sha512": 128}

Path = tuple[str, bytes, dict[str, str], dict[str, str]]
"""Key, content, and the variables of the function when it is recorded and verified."""
SMALL: Final[Path] = ("a", b"small", {}, {})
LARGE: Final[Path] = ("a", bytes(SPLIT_FROM_BYTES + 1), {}, {})
ARCHIVE: Final[Path] = ("a.zip", zip_of({"x": b"1"}), ARCHIVES, ARCHIVES)
UNREAD_ARCHIVE: Final[Path] = ("a.zip", zip_of({"x": b"1"}), {}, ARCHIVES)
"""Recorded before its suffix was switched on."""


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize(
    "path", [SMALL, LARGE, ARCHIVE, UNREAD_ARCHIVE], ids=["small", "large", "archive", "unread"]
)
def test_each_recorded_value_is_compared(
    hostile_stack: HasherStack,
    hostile: HostileS3,
    path: Path,
    name: str,
) -> None:
    """One that is another makes the object differ; nothing recorded is replaced."""
    stack, (key, body, recorded_with, verified_with) = hostile_stack, path
    create_table(stack.dynamodb, "BackfillsTable", "backfills")
    stack.load(EXTRA_ALGORITHMS=",".join(EXTRA_ALGORITHMS), **recorded_with)
    created = put_at(hostile, key, body)
    assert stack.deliver(message_of(created)) == []
    [(kind, value)] = RECORDED[name].items()
    changed = {kind: value[: LENGTHS.get(name.removeprefix("digest_"), 40)]}
    stack.change_row(key, {name: changed})
    before, had_members = stack.rows()[key, "null"], members_in(stack)
    stack.load(EXTRA_ALGORITHMS="", **verified_with)
    selection = (
        Selection(Purpose.VERIFY, missing="members")
        if verified_with and not recorded_with
        else Selection(Purpose.VERIFY)
    )
    [body_of_run] = bodies_of("b", [replace(created, sequencer=NO_SEQUENCER)], selection)
    assert stack.deliver(body_of_run) == []
    after = stack.rows()[key, "null"]
    assert after.pop("differing_digest").partition(":")[0] == name.removeprefix("digest_")
    assert after.pop("differs_at")
    assert after == before
    assert members_in(stack) == had_members
