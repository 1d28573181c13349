"""The recipe of docs/explanation/security.md: rows come back from a restored table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.testing import CliRunner
from tests.cli.deployed import BUCKET, HALF, change, put_and_record
from tools.restore_rows import main

from bucketsum.table.items import key_of
from bucketsum.table.rows import RowKey

if TYPE_CHECKING:
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
    assert (result.exit_code, result.output) == (0, "1 rows copied, 1 were there\n")
    rows = table.rows_at([lost_key, newer_key])
    assert rows[lost_key].sha1 == lost.sha1
    assert rows[newer_key].sha1 == "0" * 40
