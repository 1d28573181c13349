"""An item that another program changed ends in an error that names it, never in a loop."""

from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient
from tests.integration.table.rows import BUCKET, fresh_key, place, row

from bucketsum.errors import DamagedRow, RowContended
from bucketsum.events.object_events import DeletedBy, ObjectDeleted
from bucketsum.hashing.deletions import record_deletion
from bucketsum.invocation.deadline import Deadline
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.items import key_of
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Row

DAMAGE = [
    ("sequencer", {"N": "5"}),
    ("sequencer", {"BOOL": True}),
    ("sequencer", {"S": "f"}),
    ("deletion_sequencer", {"N": "5"}),
    ("deletion_sequencer", {"S": "f"}),
]


ENOUGH = Deadline(lambda: 900.0)


def damaged(
    dynamodb: DynamoDBClient, table: str, name: str, value: dict[str, Any]
) -> tuple[Row, Row]:
    """A recorded row one of whose attributes was changed, and a newer row of the same version."""
    recorded = row(fresh_key(), "0A", entry="v1")
    DigestsTable(dynamodb, table).record(recorded)
    dynamodb.update_item(
        TableName=table,
        Key=key_of(place(recorded)),
        UpdateExpression="SET #name = :value",
        ExpressionAttributeNames={"#name": name},
        ExpressionAttributeValues={":value": value},
    )
    return recorded, row(recorded.key, "0B", entry="v1")


def deletion_of(recorded: Row) -> ObjectDeleted:
    """The event of the deletion of the version of a row."""
    return ObjectDeleted(
        BUCKET,
        recorded.key,
        "v1",
        is_marker=False,
        deleted_by=DeletedBy.REQUEST,
        sequencer="0B",
        event_time="2026-11-20T10:00:00.000Z",
    )


@pytest.mark.parametrize(("name", "value"), DAMAGE)
def test_a_creation_that_meets_a_damaged_row_ends_with_the_reason(
    prompt_dynamodb: tuple[DynamoDBClient, str], name: str, value: dict[str, Any]
) -> None:
    """The error names the row and the attribute, so that the dead letter does too."""
    _, newer = damaged(*prompt_dynamodb, name, value)
    with pytest.raises(DamagedRow, match=f"{newer.key}.*is damaged"):
        DigestsTable(*prompt_dynamodb).record(newer)


@pytest.mark.parametrize(
    ("name", "value"), [damage for damage in DAMAGE if "deletion" in damage[0]]
)
def test_a_deletion_that_meets_a_damaged_row_ends_with_the_reason(
    prompt_dynamodb: tuple[DynamoDBClient, str], name: str, value: dict[str, Any]
) -> None:
    """As for a creation."""
    recorded, _ = damaged(*prompt_dynamodb, name, value)
    with pytest.raises(DamagedRow, match=f"{recorded.key}.*is damaged"):
        record_deletion(deletion_of(recorded), DigestsTable(*prompt_dynamodb), ENOUGH)


@pytest.mark.parametrize(
    ("name", "value"), [damage for damage in DAMAGE if "deletion" not in damage[0]]
)
def test_the_deletion_of_a_version_needs_no_order(
    prompt_dynamodb: tuple[DynamoDBClient, str], name: str, value: dict[str, Any]
) -> None:
    """A version is created once, so it is deleted whatever became of its row's sequencer."""
    recorded, _ = damaged(*prompt_dynamodb, name, value)
    result = record_deletion(deletion_of(recorded), DigestsTable(*prompt_dynamodb), ENOUGH)
    assert result.outcome is Outcome.DELETED


def test_a_row_that_others_keep_changing_is_tried_again_later(
    dynamodb: DynamoDBClient, table_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write has an end, and its message a later attempt."""
    table = DigestsTable(dynamodb, table_name)
    newer = row(fresh_key(), "0B", entry="v1")
    never = dict(table.put_parameters(newer))
    never["ConditionExpression"] = "attribute_exists(#status)"
    del never["ExpressionAttributeValues"]
    monkeypatch.setattr(table, "put_parameters", lambda *_: never)
    with pytest.raises(RowContended, match=newer.key):
        table.record(newer)
