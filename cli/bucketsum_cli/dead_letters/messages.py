"""Messages in the dead-letter queue, in texts and in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

from bucketsum.backfill import is_listed
from bucketsum.backfill.messages import listed_objects_in
from bucketsum.errors import MalformedMessage
from bucketsum.events.notifications import events_in
from bucketsum.events.version import Version
from bucketsum.queue.dead_letters import REASON_ATTRIBUTE
from bucketsum_cli.terminal.documents import Moment, iso_text

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

    from bucketsum.events.object_events import ObjectEvent
    from bucketsum_cli.aws.stack import Stack

_SHOWN_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True)
class NamedObject:
    """An object version by its name."""

    bucket: str
    key: str
    version: str


@dataclass(frozen=True, slots=True)
class FailedMessage:
    """A message in the dead-letter queue."""

    message_id: Annotated[str, "Its ID in SQS."]
    sent_at: Annotated[
        Moment, "When it was sent to this queue; if SQS moved it, to its first queue."
    ]
    receives: Annotated[int, "How often it was received from the dead-letter queue."]
    reason: str | None
    objects: Sequence[NamedObject]
    body: Annotated[str, "Its text."]
    refusal: Annotated[str | None, "The error of SQS, if it refused the message."] = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message in the dead-letter queue, received.

    Attributes:
        events: Its events; none if it is malformed.
        attributes: Its message attributes, without the reason.
    """

    document: FailedMessage
    events: Sequence[ObjectEvent]
    attributes: Mapping[str, Any]
    receipt_handle: str


def dead_letter_of(message: MessageTypeDef) -> DeadLetter:
    """Return a received message of the dead-letter queue."""
    attributes: dict[str, Any] = dict(message.get("MessageAttributes", {}))
    reason = attributes.pop(REASON_ATTRIBUTE, {}).get("StringValue")
    sent = int(message["Attributes"]["SentTimestamp"]) / 1000
    events = _events_in(message["Body"])
    document = FailedMessage(
        message_id=message["MessageId"],
        sent_at=iso_text(datetime.fromtimestamp(sent, UTC)),
        receives=int(message["Attributes"]["ApproximateReceiveCount"]),
        reason=reason,
        objects=[
            NamedObject(event.bucket, event.key, Version(event.version_id).entry)
            for event in events
        ],
        body=message["Body"],
    )
    return DeadLetter(document, events, attributes, message["ReceiptHandle"])


def _events_in(body: str) -> Sequence[ObjectEvent]:
    try:
        return listed_objects_in(body).objects if is_listed(body) else events_in(body)
    except MalformedMessage:
        return ()


def why(message: FailedMessage, stack: Stack) -> str:
    """Return the reason why *message* is in the dead-letter queue."""
    return message.reason or (
        "the function died (time-out or out of memory), was throttled or could not start; see its "
        f"log group {stack.log_group}"
    )


def headline(message: FailedMessage) -> str:
    """Return the objects of *message*; if it names none, the start of its body."""
    if message.objects:
        return ", ".join(f"{named.bucket}/{named.key}" for named in message.objects)
    beginning = message.body[:_SHOWN_CHARACTERS]
    return f"{beginning}…" if len(message.body) > _SHOWN_CHARACTERS else beginning
