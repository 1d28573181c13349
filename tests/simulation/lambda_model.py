"""Lambda: execution environments that run a product's handler, and the pollers of its queues."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any, Final, Self

from tests.simulation.s3_model import EPOCH
from tests.simulation.schedule import Process, Schedule
from tests.simulation.sqs_model import VISIBILITY_SECONDS, Message, Sqs

Handler = Callable[[dict[str, Any], object], Any]

TIME_OUT_SECONDS: Final = 900.0


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
    """A function, and the pollers that pass it the messages of its queues.

    Attributes:
        environments: Greatest number of invocations at the same time, for each queue.
        batch_size: Greatest number of messages of an invocation.
        kills: Probability, at each AWS call, that an invocation dies there.
    """

    def __init__(self, name: str, handler: Handler, schedule: Schedule, sqs: Sqs) -> None:
        self.environments, self.batch_size, self.kills = 1, 1, 0.0
        self._name, self._handler = name, handler
        self._schedule, self._sqs = schedule, sqs
        self._running: set[str] = set()
        self._lanes: dict[str, str] = {}

    def subscribe(self, queue: str) -> None:
        """Receive the messages of *queue*."""
        self._lanes[queue] = f"{self._name} {queue.rpartition('/')[2][0]}"
        self._sqs.on_visible[queue] = partial(self.poll, queue)

    def poll(self, queue: str) -> None:
        """Invoke the function while *queue* has messages and there are environments."""
        schedule, lane = self._schedule, self._lanes[queue]
        for number in range(self.environments):
            name = f"{lane}{number}"
            if name in self._running:
                continue
            size = schedule.number(1, self.batch_size)
            if not (batch := self._sqs.receive(queue, size, VISIBILITY_SECONDS)):
                break
            self._running.add(name)
            process = Process(name, schedule.now + TIME_OUT_SECONDS, self.kills)
            schedule.start(process, partial(self._invoke_with, name, queue, batch))
            schedule.after(TIME_OUT_SECONDS, partial(self.poll, queue))

    def _invoke_with(self, name: str, queue: str, batch: list[Message]) -> None:
        receipts = {message.message_id: message.receipt for message in batch}
        self._schedule.log("receives %s", ", ".join(receipts.values()))
        event = {"Records": [_record_of(queue, message) for message in batch]}
        try:
            response = self._handler(event, context_of(self._schedule))
            self._schedule.log("returns %s", response)
            self._schedule.pause()
        finally:
            self._running.discard(name)
            self._schedule.after(0, partial(self.poll, queue))
        returned = {failure["itemIdentifier"] for failure in response["batchItemFailures"]}
        for message_id, receipt in receipts.items():
            if message_id not in returned:
                self._sqs.delete(queue, receipt)


def context_of(schedule: Schedule) -> object:
    """The context of an invocation that begins now."""
    ends_at = schedule.now + TIME_OUT_SECONDS
    return SimpleNamespace(
        get_remaining_time_in_millis=lambda: 1000 * (ends_at - schedule.now),
        invoked_function_arn="arn:aws:lambda:us-east-1:123456789012:function:of-a-model",
    )


def _record_of(queue: str, message: Message) -> dict[str, Any]:
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": str(message.receives),
            "SentTimestamp": str(int((EPOCH + message.sent_at) * 1000)),
        },
        "messageAttributes": {
            name: {"stringValue": attribute["StringValue"]}
            for name, attribute in message.attributes.items()
        },
        "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{queue.rpartition('/')[2]}",
    }
