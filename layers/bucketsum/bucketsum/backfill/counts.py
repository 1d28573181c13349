"""The counts of a backfill, to which the hasher and the slicer add."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.clock import now

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger
    from mypy_boto3_dynamodb import DynamoDBClient

    from bucketsum.backfill.backfill_records import Tally

TALLY: Final = "tally"


class BackfillCounts:
    """The counts in the table of backfills."""

    def __init__(self, dynamodb: DynamoDBClient, table: str) -> None:
        self._dynamodb = dynamodb
        self._table = table

    def count(self, backfill_id: str, tally: Tally, logger: Logger | None = None) -> None:
        """Add *tally* to the counts of a backfill; with *logger*, only log a failure."""
        counts = {name: count for name, count in asdict(tally).items() if count}
        if not counts:
            return
        try:
            self._dynamodb.update_item(
                TableName=self._table,
                Key=key_of(backfill_id, TALLY),
                UpdateExpression="SET counted_at = :now ADD "
                + ", ".join(f"#{name} :{name}" for name in counts),
                ExpressionAttributeNames={f"#{name}": name for name in counts},
                ExpressionAttributeValues={
                    ":now": {"S": now()},
                    **{f":{name}": {"N": str(count)} for name, count in counts.items()},
                },
            )
        except (BotoCoreError, ClientError):
            if logger is None:
                raise
            logger.exception("the counts of the backfill are not recorded; its rows are")


def key_of(backfill_id: str, item: str) -> dict[str, Any]:
    """The key of an item of a backfill."""
    return {"backfill": {"S": backfill_id}, "item": {"S": item}}
