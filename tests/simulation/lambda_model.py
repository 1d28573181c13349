"""Lambda: execution environments that run the product's own handler, side by side."""

from __future__ import annotations

import importlib.util
import inspect
import os
from dataclasses import replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Self
from unittest.mock import patch

from tests.simulation.connections_model import ModelConnections, Urls, row_requests
from tests.simulation.schedule import Process
from tests.simulation.sqs_model import (
    ARRIVALS,
    DEAD_LETTERS,
    MAX_RECEIVES,
    VISIBILITY_SECONDS,
    Message,
    Sqs,
)
from tests.support.settings import SETTINGS

from bucketsum.batch import BatchHasher
from bucketsum.dead_letters import DeadLetters
from bucketsum.digests_table import DigestsTable
from bucketsum.failed_messages import FailedMessages
from bucketsum.hashing import ObjectHasher
from bucketsum.network import Network
from bucketsum.s3.botocore_reader import BotocoreReader
from bucketsum.small_objects import SmallObjectHasher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

    from tests.simulation.dynamodb_model import DynamoDb
    from tests.simulation.s3_model import S3
    from tests.simulation.schedule import Schedule

_HANDLER: Final = Path(__file__).parents[2] / "src" / "hasher" / "app.py"

TIME_OUT_SECONDS: Final = 900.0
CHUNK_BYTES: Final = 8
"""Contents have some chunks of this size, so that much can happen while one is read."""

_SETTINGS: Final = replace(
    SETTINGS,
    arrivals_queue_url=ARRIVALS,
    dead_letter_queue_url=DEAD_LETTERS,
    max_receives=MAX_RECEIVES,
)
_ENVIRONMENT: Final = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
    "DIGESTS_TABLE": SETTINGS.digests_table,
    "BACKFILLS_TABLE": "backfills",
    "ARRIVALS_QUEUE_URL": ARRIVALS,
    "DEAD_LETTER_QUEUE_URL": DEAD_LETTERS,
    "MAX_RECEIVES": str(MAX_RECEIVES),
    "CHUNK_BYTES": "65536",
    "STREAMS": "auto",
    "EXTRA_ALGORITHMS": "",
    "DELETED_ROW_DAYS": "0",
    "POWERTOOLS_SERVICE_NAME": "simulated-hasher",
    "POWERTOOLS_METRICS_NAMESPACE": "bucketsum",
    "POWERTOOLS_TRACE_DISABLED": "1",
}


class _Silent:
    """A logger and a recorder of metrics that do nothing."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method
        return lambda *_, **__: None


@cache
def handler_module() -> ModuleType:
    """The hasher's own module, loaded once, without its log and its metrics."""
    with patch.dict(os.environ, _ENVIRONMENT):
        spec = importlib.util.spec_from_file_location("simulated_hasher", _HANDLER)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    vars(module).update(logger=_Silent(), metrics=_Silent())
    return module


class Threads:
    """The `ThreadPoolExecutor` of an invocation, with tasks of the schedule."""

    def __init__(self, schedule: Schedule, count: int) -> None:
        self._schedule, self._count = schedule, count
        self._owner = schedule.task
        self._running = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._running and not self._owner.process.killed:
            self._schedule.wait()

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Start all tasks at once; yield the results in order, each as soon as it is there."""
        results: dict[int, Any] = {}
        numbered = enumerate(items)

        def take_turns() -> None:
            try:
                for number, item in numbered:
                    results[number] = work(item)
                    self._schedule.wake(self._owner)
            finally:
                self._running -= 1
                self._schedule.wake(self._owner)

        for _ in range(self._count):
            self._running += 1
            self._schedule.start(self._owner.process, take_turns)
        return self._in_order(results)

    def _in_order(self, results: dict[int, Any]) -> Iterator[Any]:
        for number in count():
            while number not in results and self._running:
                self._schedule.wait()
            if number not in results:
                return
            yield results[number]


class Lambda:
    """The hasher function, and the poller that passes it the messages of the arrivals queue.

    Attributes:
        environments: Greatest number of invocations at the same time.
        batch_size: Greatest number of messages of an invocation.
        kills: Probability, at each AWS call, that an invocation dies there.
    """

    def __init__(self, schedule: Schedule, s3: S3, sqs: Sqs, dynamodb: DynamoDb) -> None:
        self.environments, self.batch_size, self.kills = 1, 10, 0.0
        self._schedule, self._sqs = schedule, sqs
        self._running: set[str] = set()
        module = handler_module()
        settings = replace(_SETTINGS, threads=schedule.random.choice((1, 4)))
        table = DigestsTable(dynamodb, SETTINGS.digests_table)  # type: ignore[arg-type] # a model
        source = BotocoreReader(s3, CHUNK_BYTES, pause=schedule.pause)  # type: ignore[arg-type] # a model
        hasher = ObjectHasher(
            source=source,
            table=table,
            settings=settings,
            clock=lambda: schedule.now,
        )
        connections: Any = ModelConnections(schedule, s3, dynamodb)
        urls: Any = Urls()
        network = Network(connections, urls, row_requests(table), source)
        small = SmallObjectHasher(network, hasher, settings, lambda: schedule.now)
        has_libcurl = schedule.happens(0.7)
        dead_letters = DeadLetters(sqs, settings, schedule.random.random)  # type: ignore[arg-type] # a model
        vars(module).update(
            _HASHER=hasher,
            _TABLE=table,
            _BATCH=BatchHasher(
                vars(module)["_handled"], settings, small_objects=small if has_libcurl else None
            ),
            _dead_letters=lambda: dead_letters,
            _FAILED=FailedMessages(lambda: dead_letters, module.logger, module.metrics),
        )
        self._handler = inspect.unwrap(module.lambda_handler)
        sqs.on_visible = self.poll

    def poll(self) -> None:
        """Invoke the function while there are messages and environments."""
        free = [
            f"lambda {n}" for n in range(self.environments) if f"lambda {n}" not in self._running
        ]
        while free and (batch := self._batch()):
            name = free.pop(0)
            self._running.add(name)
            process = Process(name, self._schedule.now + TIME_OUT_SECONDS, self.kills)
            self._schedule.start(process, partial(self._invoke, name, batch))
            self._schedule.after(TIME_OUT_SECONDS, self.poll)

    def _batch(self) -> list[Message]:
        size = self._schedule.random.randint(1, self.batch_size)
        return self._sqs.receive(ARRIVALS, size, VISIBILITY_SECONDS)

    def _invoke(self, name: str, batch: list[Message]) -> None:
        receipts = {message.message_id: message.receipt for message in batch}
        self._schedule.log("receives %s", ", ".join(receipts.values()))
        event = {"Records": [_record_of(message) for message in batch]}
        ends_at = self._schedule.now + TIME_OUT_SECONDS
        context = SimpleNamespace(
            get_remaining_time_in_millis=lambda: 1000 * (ends_at - self._schedule.now)
        )
        try:
            response = self._handler(event, context)
            self._schedule.log("returns %s", response)
            self._schedule.pause()
        finally:
            self._running.discard(name)
            self._schedule.after(0, self.poll)
        returned = {failure["itemIdentifier"] for failure in response["batchItemFailures"]}
        for message_id, receipt in receipts.items():
            if message_id not in returned:
                self._sqs.delete(ARRIVALS, receipt)


def _record_of(message: Message) -> dict[str, Any]:
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": {"ApproximateReceiveCount": str(message.receives)},
        "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{ARRIVALS.rpartition('/')[2]}",
    }
