"""The counts of a backfill, to which the hasher and the slicer add."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.backfill.backfill_records import Tally, tally_of
from bucketsum.clock import now
from bucketsum.events.object_events import ObjectCreated
from bucketsum.table.codec import attributes_of
from bucketsum.table.outcome import Outcome

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger
    from mypy_boto3_dynamodb import DynamoDBClient


TALLY: Final = "tally"
"""Beginning of the names of the items with counts: one for all objects, and one for each that is
long, whose name has its `object_hash`."""


_json: Final = json.JSONEncoder(separators=(",", ":")).encode  # made once, not for each version


class BackfillCounts:
    """The counts in the table of backfills."""

    def __init__(self, dynamodb: DynamoDBClient, table: str) -> None:
        self._dynamodb = dynamodb
        self.name = table

    def count(self, backfill_id: str, tally: Tally, logger: Logger | None = None) -> None:
        """Add *tally* to the counts of a backfill; with *logger*, only log a failure."""
        if counts := _counts_in(tally):
            changes = "SET counted_at = :now ADD " + ", ".join(f"#{n} :{n}" for n in counts)
            self._update(key_of(backfill_id, TALLY), counts, logger, UpdateExpression=changes)

    def count_long(
        self, run: str, created: ObjectCreated, outcome: Outcome, size_bytes: int, logger: Logger
    ) -> None:
        """Count a long object once, however often it is handed over, read or looked up.

        Its first outcome stays, but `LONG` gives way to any other.
        """
        number = object_hash(created)
        counts = _counts_in(tally_of(outcome, size_bytes, number))
        counts["long"] = int(outcome is Outcome.LONG)
        changes = ", ".join(["SET counted_at = :now", *(f"#{n} = :{n}" for n in counts)])
        condition = "attribute_not_exists(object_hashes)"
        if outcome is not Outcome.LONG:
            condition += " OR #long > :long"
        key = key_of(run, f"{TALLY}#{number:016x}")
        self._update(key, counts, logger, UpdateExpression=changes, ConditionExpression=condition)

    def _update(
        self,
        key: Mapping[str, Any],
        counts: Mapping[str, int],
        logger: Logger | None,
        **expressions: Any,  # noqa: ANN401 - a request's
    ) -> None:
        values = {f":{name}": {"N": str(count)} for name, count in counts.items()}
        try:
            self._dynamodb.update_item(
                TableName=self.name,
                Key=key,
                ExpressionAttributeNames={f"#{name}": name for name in counts},
                ExpressionAttributeValues={":now": {"S": now()}, **values},
                **expressions,
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return  # it was counted before
        except (BotoCoreError, ClientError):
            if logger is None:
                raise
            logger.exception("the counts of the backfill are not recorded; its rows are")


def _counts_in(tally: Tally) -> dict[str, int]:
    return {name: count for name, count in attributes_of(tally) if count}


def object_hash(listed: ObjectCreated) -> int:
    """The `version_hash` of a listed object; see `is_complete`."""
    return version_hash(listed.key, listed.version_id, listed.etag)


def version_hash(key: str, version_id: str | None, etag: str | None) -> int:
    """64 bits that are those of no other object, version or content of a bucket."""
    name = [key, version_id, etag]
    return int.from_bytes(hashlib.blake2b(_json(name).encode(), digest_size=8).digest())


def key_of(backfill_id: str, item: str) -> dict[str, Any]:
    """The key of an item of a backfill."""
    return {"backfill": {"S": backfill_id}, "item": {"S": item}}
