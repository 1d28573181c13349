"""A person at the command line: the product's `bucketsum redrive` and `bucketsum stop`."""

from contextlib import suppress
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import ANY

from botocore.exceptions import BotoCoreError, ClientError
from tests.simulation.dynamodb_model import DynamoDb
from tests.simulation.s3_model import BUCKET, S3
from tests.simulation.schedule import Schedule
from tests.simulation.sqs_model import ARRIVALS, BACKFILL, DEAD_LETTERS, LONG_OBJECTS, Sqs

from bucketsum.errors import NotRetryable, RowContended
from bucketsum.long_objects.progress import Progress
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.table.digests_table import DigestsTable
from bucketsum_cli.commands.redrive import _requeue
from bucketsum_cli.commands.stop import _stopped
from bucketsum_cli.dead_letters import queue as dead_letter_queue
from bucketsum_cli.dead_letters import redrive as dead_letter_redrive

_HOLD_SECONDS: Final = 600
_LIMIT: Final = 100


class Operator:
    """Calls the functions of the command, after its question was answered with yes."""

    def __init__(self, schedule: Schedule, s3: S3, sqs: Sqs, dynamodb: DynamoDb) -> None:
        self._schedule = schedule
        listing = SimpleNamespace(paginate=lambda **_: [{"Versions": s3.listed(s3.existing())}])
        clients = {"s3": SimpleNamespace(get_paginator=lambda _: listing)}  # no network: old seeds
        self._stack: Any = SimpleNamespace(
            bucket=BUCKET,
            arrivals_queue_url=ARRIVALS,
            dead_letter_queue_url=DEAD_LETTERS,
            outputs={
                "BackfillQueueUrl": BACKFILL,
                "LongObjectsQueueUrl": LONG_OBJECTS,
                "BucketName": ANY,  # else the hint at another bucket asks CloudFormation
            },
            client=lambda name: clients.get(name, sqs),
            progress_table=lambda: ProgressTable(dynamodb, "digests"),  # type: ignore[arg-type] # a model
            digests_table=lambda: DigestsTable(dynamodb, "digests"),  # type: ignore[arg-type] # a model
        )

    def redrive(self) -> None:
        """Send the messages of the dead-letter queue back."""
        try:
            with dead_letter_queue.received(self._stack, _LIMIT, _HOLD_SECONDS) as messages:
                result = dead_letter_redrive.send_back(self._stack, messages)
            self._schedule.log("sent %d messages back", len(result.sent))
        except (BotoCoreError, ClientError) as error:
            self._schedule.log("bucketsum redrive ends with %r", error)

    def requeue(self, *keys: str) -> None:
        """Queue the unreadable versions of *keys* again."""
        try:
            with suppress(SystemExit):  # nothing of a key is unreadable
                _requeue(self._stack, keys, as_json=True)
        except (BotoCoreError, ClientError) as error:
            self._schedule.log("bucketsum redrive --key ends with %r", error)

    def stop(self) -> None:
        """Stop the slices of every long object."""
        try:
            for progress in list(self._stack.progress_table().in_progress()):
                if isinstance(progress, Progress):
                    ended = _stopped(self._stack, progress)
                    self._schedule.log("stops %s: %s", progress.key, ended)
        except (BotoCoreError, ClientError, NotRetryable, RowContended) as error:
            self._schedule.log("bucketsum stop ends with %r", error)
