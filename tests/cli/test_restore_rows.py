"""The recipe of docs/explanation/security.md: rows come back from a restored table."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

from click.testing import CliRunner
from tests.cli.deployed import BUCKET, HALF, change, put_and_record
from tests.support.sam_template import create_table
from tools.restore_rows import main, restore_rows

from bucketsum.table.items import key_of
from bucketsum.table.rows import RowKey
from bucketsum_cli.aws.stack import Stack


def test_rows_come_back_and_newer_ones_stay(stack: Stack) -> None:
    """Deleted rows are copied from the backup; a row that was replaced since is kept."""
    dynamodb, table = stack.client("dynamodb"), stack.digests_table()
    lost = put_and_record(stack, "lost", b"old")
    newer = put_and_record(stack, "newer", b"old")
    stack.progress_table().begin(HALF)
    dynamodb.update_continuous_backups(
        TableName=stack.table,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )
    dynamodb.restore_table_to_point_in_time(
        SourceTableName=stack.table, TargetTableName="restored", UseLatestRestorableTime=True
    )
    lost_key, newer_key = (RowKey(BUCKET, row.key, row.entry) for row in (lost, newer))
    dynamodb.delete_item(TableName=stack.table, Key=key_of(lost_key))
    change(stack, key_of(newer_key), "sha1", {"S": "0" * 40})
    result = CliRunner().invoke(main, ["restored", stack.table])
    assert (result.exit_code, result.output) == (0, "rows copied: 1; already there: 1\n")
    rows = table.rows_at([lost_key, newer_key])
    assert rows[lost_key].sha1 == lost.sha1
    assert rows[newer_key].sha1 == "0" * 40


def test_only_missing_rows_are_written(stack: Stack) -> None:
    """A row that is there costs a read: a refused write would cost as much as a write."""
    dynamodb = stack.client("dynamodb")
    create_table(dynamodb, "DigestsTable", "restored")
    rows = [{"object": {"S": f"b/{n}"}, "entry": {"S": "null"}} for n in range(250)]
    for table, there in (("restored", rows), (stack.table, rows[:240])):
        for begin in range(0, len(there), 25):
            puts: Any = [{"PutRequest": {"Item": row}} for row in there[begin : begin + 25]]
            dynamodb.batch_write_item(RequestItems={table: puts})
    written: list[str] = []

    def put_item(**request: Any) -> Any:  # noqa: ANN401 - DynamoDB's
        written.append(request["Item"]["object"]["S"])
        return dynamodb.put_item(**request)

    counted: Any = SimpleNamespace(
        get_paginator=dynamodb.get_paginator,
        batch_get_item=dynamodb.batch_get_item,
        put_item=put_item,
        exceptions=dynamodb.exceptions,
    )
    assert restore_rows(counted, "restored", stack.table) == {"copied": 10, "kept": 240}
    assert sorted(written) == [f"b/{n}" for n in range(240, 250)]
    assert dynamodb.scan(TableName=stack.table)["Count"] == 250


def test_a_row_that_an_event_records_meanwhile_stays(stack: Stack) -> None:
    """The write has a condition: the look-up may be a moment old."""
    dynamodb = stack.client("dynamodb")
    create_table(dynamodb, "DigestsTable", "restored")
    row = {"object": {"S": "b/k"}, "entry": {"S": "null"}}
    dynamodb.put_item(TableName="restored", Item={**row, "sha1": {"S": "old"}})
    look_up = dynamodb.batch_get_item

    def recorded_after(**request: Any) -> Any:  # noqa: ANN401 - DynamoDB's
        answer = look_up(**request)
        dynamodb.put_item(TableName=stack.table, Item={**row, "sha1": {"S": "new"}})
        return answer

    between: Any = SimpleNamespace(
        get_paginator=dynamodb.get_paginator,
        batch_get_item=recorded_after,
        put_item=dynamodb.put_item,
        exceptions=dynamodb.exceptions,
    )
    assert restore_rows(between, "restored", stack.table) == Counter(kept=1)
    [kept] = dynamodb.scan(TableName=stack.table)["Items"]
    assert kept["sha1"] == {"S": "new"}
