"""A person at the command line: the product's `bucketsum redrive`, with and without --key."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from tests.simulation.s3_model import BUCKET
from tests.simulation.sqs_model import ARRIVALS, DEAD_LETTERS

from bucketsum.digests_table import DigestsTable, Status
from bucketsum_cli import dead_letter_queue
from bucketsum_cli.rows import event_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.simulation.dynamodb_model import DynamoDb
    from tests.simulation.schedule import Schedule
    from tests.simulation.sqs_model import Sqs

_HOLD_SECONDS: Final = 600
_LIMIT: Final = 100


def redrive(schedule: Schedule, sqs: Sqs) -> None:
    """Send the messages of the dead-letter queue back, as `bucketsum redrive` does."""
    stack: Any = SimpleNamespace(
        client=lambda _: sqs, arrivals_queue_url=ARRIVALS, dead_letter_queue_url=DEAD_LETTERS
    )
    try:
        with dead_letter_queue.received(stack, _LIMIT, _HOLD_SECONDS) as messages:
            result = dead_letter_queue.send_back(stack, messages)
        schedule.log("sent %d messages back", len(result.sent))
    except (BotoCoreError, ClientError) as error:
        schedule.log("bucketsum redrive ends with %r", error)


def requeue(schedule: Schedule, sqs: Sqs, dynamodb: DynamoDb, keys: Iterable[str]) -> None:
    """Queue the unreadable versions of *keys* again, as `bucketsum redrive --key` does."""
    table = DigestsTable(dynamodb, "digests")  # type: ignore[arg-type] # a model
    try:
        for key in keys:
            for row in table.versions_of(BUCKET, key):
                if row.status is Status.UNREADABLE:
                    sqs.send_message(QueueUrl=ARRIVALS, MessageBody=json.dumps(event_of(row)))
    except (BotoCoreError, ClientError) as error:
        schedule.log("bucketsum redrive --key ends with %r", error)
