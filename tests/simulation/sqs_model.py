"""SQS: at-least-once queues with visibility, receive counts and redrive."""

# ruff: noqa: N803 - parameters have AWS's names

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.simulation.network import Network, refusal
from tests.simulation.s3_model import EPOCH
from tests.simulation.schedule import Schedule

ARRIVALS: Final = "https://sqs/arrivals"
BACKFILL: Final = "https://sqs/backfill"
LONG_OBJECTS: Final = "https://sqs/long-objects"
DEAD_LETTERS: Final = "https://sqs/dead-letters"
SOURCES: Final = (ARRIVALS, BACKFILL, LONG_OBJECTS)
"""Queues of functions; each has the dead-letter queue."""
VISIBILITY_SECONDS: Final = 5400.0
MAX_RECEIVES: Final = 5


@dataclass(slots=True, eq=False)
class Message:
    """One message in a queue.

    Attributes:
        message_id: Kept when SQS moves it to the dead-letter queue.
        body: Its text.
        attributes: Message attributes.
        sent_at: When it was sent.
        visible_at: When it can be received, again.
        receives: How often it was received.
        receipt: Handle of the last receive; empty before the first.
    """

    message_id: str
    body: str
    attributes: dict[str, Any]
    sent_at: float
    visible_at: float
    receives: int = 0
    receipt: str = ""


@dataclass(slots=True)
class Sqs:
    """The queues of the functions and their dead-letter queue, and the SQS client of the product.

    Attributes:
        schedule: Decides.
        network: Carries the requests.
        repeats: Probability that a deleted message is received once more.
        on_visible: Queue URL → called when a message of it becomes visible.
        queues: Queue URL → message id → message.
        listed: Backfill → number of objects in the messages that were sent for it.
    """

    schedule: Schedule
    network: Network = field(init=False)
    repeats: float = 0
    on_visible: dict[str, Callable[[], None]] = field(default_factory=dict)
    queues: dict[str, dict[str, Message]] = field(
        default_factory=lambda: {queue: {} for queue in (*SOURCES, DEAD_LETTERS)}
    )
    listed: Counter[str] = field(default_factory=Counter)
    _number: int = 0

    def __post_init__(self) -> None:
        self.network = Network(self.schedule, ("RequestThrottled", 400))

    def send(
        self, queue: str, body: str, attributes: dict[str, Any], delay_seconds: int = 0
    ) -> None:
        """Add a message."""
        self._number += 1
        if queue == BACKFILL and not delay_seconds:
            listed = json.loads(body)
            self.listed[listed["backfill"]] += len(listed["objects"])
        message = Message(f"m{self._number}", body, attributes, self.schedule.now, 0)
        self.queues[queue][message.message_id] = message
        self.schedule.log("%s has message %s", queue, message.message_id)
        self._show(queue, message, delay_seconds)

    def receive(self, queue: str, limit: int, hide_seconds: float) -> list[Message]:
        """Take up to *limit* visible messages in any order, and hide them."""
        now, messages = self.schedule.now, self.queues[queue]
        visible = [message for message in messages.values() if message.visible_at <= now]
        if not visible:
            return visible
        self.schedule.random.shuffle(visible)
        received: list[Message] = []
        for message in visible:
            if queue != DEAD_LETTERS and message.receives >= MAX_RECEIVES:
                self._redrive(queue, message)  # each: a poller without any does not come again
            elif len(received) < limit:
                message.receives += 1
                message.receipt = f"{message.message_id}/{message.receives}"
                self._show(queue, message, hide_seconds)
                received.append(message)
        return received

    def delete(self, queue: str, receipt: str) -> None:
        """Delete a message; as SQS keeps copies, it may be received once more."""
        message = self.queues[queue].pop(receipt.partition("/")[0], None)
        self.schedule.log("%s deletes %s", queue, receipt)
        if message and self.schedule.happens(self.repeats):
            self.schedule.log("  but a copy is left")
            self.queues[queue][message.message_id] = message
            self._show(queue, message, self.schedule.latency())

    def _redrive(self, queue: str, message: Message) -> None:
        del self.queues[queue][message.message_id]
        self.queues[DEAD_LETTERS][message.message_id] = message
        self.schedule.log("SQS moves %s to the dead-letter queue", message.message_id)

    def _show(self, queue: str, message: Message, seconds: float) -> None:
        message.visible_at = self.schedule.now + seconds
        if queue in self.on_visible:
            self.schedule.after(seconds, self.on_visible[queue])

    def _held(self, queue: str, receipt: str) -> Message:
        """The message of this *receipt*, if it is the last, and still hidden."""
        message = self.queues[queue].get(receipt.partition("/")[0])
        if not message or message.receipt != receipt or message.visible_at <= self.schedule.now:
            raise refusal("InvalidParameterValue", 400, "ChangeMessageVisibility")
        return message

    def send_message(
        self,
        QueueUrl: str,
        MessageBody: str,
        MessageAttributes: dict[str, Any] | None = None,
        DelaySeconds: int = 0,
    ) -> None:
        """See SQS's SendMessage; a message with a delay is a copy of one that was counted."""
        self.network.request("SendMessage", QueueUrl)
        self.send(QueueUrl, MessageBody, MessageAttributes or {}, DelaySeconds)
        self.network.response()

    def change_message_visibility(
        self, QueueUrl: str, ReceiptHandle: str, VisibilityTimeout: int
    ) -> None:
        """See SQS's ChangeMessageVisibility."""
        self.network.request("ChangeMessageVisibility", f"{ReceiptHandle} {VisibilityTimeout} s")
        self._show(QueueUrl, self._held(QueueUrl, ReceiptHandle), VisibilityTimeout)
        self.network.response()

    def delete_message(self, QueueUrl: str, ReceiptHandle: str) -> None:
        """See SQS's DeleteMessage."""
        self.network.request("DeleteMessage", ReceiptHandle)
        self.delete(QueueUrl, ReceiptHandle)

    def receive_message(
        self, QueueUrl: str, MaxNumberOfMessages: int, VisibilityTimeout: int, **_: object
    ) -> dict[str, Any]:
        """See SQS's ReceiveMessage."""
        self.network.request("ReceiveMessage", QueueUrl)
        received = self.receive(QueueUrl, MaxNumberOfMessages, VisibilityTimeout)
        return {"Messages": [_as_received(message) for message in received]}

    def send_message_batch(self, QueueUrl: str, Entries: Iterable[dict[str, Any]]) -> Any:  # noqa: ANN401 - as botocore's
        """See SQS's SendMessageBatch."""

        def send(entry: dict[str, Any]) -> None:
            self.send(QueueUrl, entry["MessageBody"], entry.get("MessageAttributes", {}))

        return self._batch("SendMessageBatch", Entries, send)

    def delete_message_batch(self, QueueUrl: str, Entries: Iterable[dict[str, Any]]) -> Any:  # noqa: ANN401 - as botocore's
        """See SQS's DeleteMessageBatch."""
        return self._batch(
            "DeleteMessageBatch",
            Entries,
            lambda entry: self.delete(QueueUrl, entry["ReceiptHandle"]),
        )

    def _batch(
        self,
        operation: str,
        entries: Iterable[dict[str, Any]],
        action: Callable[[dict[str, Any]], None],
    ) -> dict[str, Any]:
        self.network.request(operation)
        failed = []
        for entry in entries:
            if self.schedule.happens(self.network.faults):
                failed.append({"Id": entry["Id"], "Code": "InternalError"})
            else:
                action(entry)
        self.network.response()
        return {"Failed": failed}

    def get_queue_attributes(self, QueueUrl: str, AttributeNames: list[str]) -> dict[str, Any]:
        """See SQS's GetQueueAttributes; of the number of visible messages alone."""
        self.network.request("GetQueueAttributes", QueueUrl)
        messages = self.queues[QueueUrl].values()
        visible = sum(message.visible_at <= self.schedule.now for message in messages)
        return {"Attributes": dict.fromkeys(AttributeNames, str(visible))}

    def change_message_visibility_batch(
        self, QueueUrl: str, Entries: Iterable[dict[str, Any]]
    ) -> None:
        """See SQS's ChangeMessageVisibilityBatch; refused entries do not matter to the caller."""
        self.network.request("ChangeMessageVisibilityBatch", QueueUrl)
        for entry in Entries:
            message = self.queues[QueueUrl].get(entry["ReceiptHandle"].partition("/")[0])
            if message and message.receipt == entry["ReceiptHandle"]:
                self._show(QueueUrl, message, entry["VisibilityTimeout"])


def _as_received(message: Message) -> dict[str, Any]:
    return {
        "MessageId": message.message_id,
        "Body": message.body,
        "MessageAttributes": message.attributes,
        "Attributes": {
            "SentTimestamp": str(int((EPOCH + message.sent_at) * 1000)),
            "ApproximateReceiveCount": str(message.receives),
        },
        "ReceiptHandle": message.receipt,
    }
