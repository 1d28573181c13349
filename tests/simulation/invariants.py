"""The promises of the hash path, checked at every write and at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulation.sqs_model import ARRIVALS, DEAD_LETTERS

from bucketsum.errors import MalformedMessage
from bucketsum.notifications import ObjectCreated, events_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulation.dynamodb_model import DynamoDb, Item
    from tests.simulation.s3_model import S3, Version
    from tests.simulation.schedule import Schedule
    from tests.simulation.sqs_model import Sqs


class Invariants:
    """Reports to the schedule each promise that the product breaks.

    The models know which version each sequencer belongs to and the order of the versions, so no
    check relies on the product's own comparison of sequencers.
    """

    def __init__(self, schedule: Schedule, s3: S3) -> None:
        self._schedule, self._s3 = schedule, s3

    def check_write(self, before: Item | None, item: Item) -> None:
        """No row holds the digest of another version, or replaces a better one."""
        version = self._version_of(item)
        name = f"{item['object']['S']} {item['entry']['S']}"
        if version is None:
            self._schedule.violate(f"a row for {name}, which was never put")
            return
        if "sha1" in item and _text(item, "sha1") != version.sha1:
            self._schedule.violate(f"the row of {name} has the digest of other bytes")
        if "sha1" not in item and not _text(item, "reason"):
            self._schedule.violate(f"the row of {name} has neither digest nor reason")
        earlier = self._version_of(before) if before else None
        if not (before and earlier):
            return
        if earlier.number > version.number:
            self._schedule.violate(f"an older event overwrote the row of {name}")
        if earlier is version and "sha1" in before and "sha1" not in item:
            self._schedule.violate(f"the digest of {name} was overwritten with a reason")

    def check_rest(self, sqs: Sqs, dynamodb: DynamoDb) -> None:
        """Nothing is lost: each version has its row, or its message waits for a person."""
        dead = set(self._dead_versions(sqs))
        for version in self._s3.existing():
            item = dynamodb.item_at(f"inbox/{version.key}", version.version_id)
            if (item is None or self._version_of(item) is not version) and version not in dead:
                self._schedule.violate(f"{version.key} {version.version_id} is lost")

    def check_healed(self, sqs: Sqs, dynamodb: DynamoDb, malformed: list[str]) -> None:
        """After all faults are over and a redrive, each version is hashed; only junk is dead."""
        for version in self._s3.existing():
            item = dynamodb.item_at(f"inbox/{version.key}", version.version_id)
            if item is None or self._version_of(item) is not version or "sha1" not in item:
                self._schedule.violate(f"{version.key} {version.version_id} stays without digest")
        bodies = {message.body for message in sqs.queues[DEAD_LETTERS].values()}
        if bodies != set(malformed):
            self._schedule.violate(f"the dead-letter queue has {bodies}, not {malformed}")
        if sqs.queues[ARRIVALS]:
            self._schedule.violate("messages stay in the arrivals queue")

    def _version_of(self, item: Item) -> Version | None:
        """The version that *item* is about, by its key and its sequencer."""
        key = item["object"]["S"].partition("/")[2]
        sequencer = item["sequencer"]["S"].rstrip("0")
        return self._s3.history.get((key, item["entry"]["S"], sequencer))

    def _dead_versions(self, sqs: Sqs) -> Iterator[Version]:
        for message in sqs.queues[DEAD_LETTERS].values():
            try:
                events = events_in(message.body)
            except MalformedMessage:
                continue
            for each in events:
                if not isinstance(each, ObjectCreated):
                    continue
                key = each.key, each.version_id or "null", each.sequencer.rstrip("0")
                if version := self._s3.history.get(key):
                    yield version


def _text(item: Item, name: str) -> Any:  # noqa: ANN401 - text, or None
    return item.get(name, {}).get("S")
