"""The promises about rows, checked at every write and at rest."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from tests.simulation.damage_model import OtherProgram
from tests.simulation.dynamodb_model import DynamoDb, Key
from tests.simulation.progress_checks import check_progress, is_progress
from tests.simulation.s3_model import NULL, S3, Version, sequencer_of
from tests.simulation.schedule import Schedule
from tests.simulation.sqs_model import DEAD_LETTERS, SOURCES, Sqs
from tests.support.dynamodb_fake import Item

from bucketsum.backfill import is_listed
from bucketsum.backfill.messages import listed_objects_in
from bucketsum.errors import MalformedMessage
from bucketsum.events.notifications import events_in
from bucketsum.events.object_events import ObjectCreated, ObjectDeleted, ObjectEvent, ObjectRestored
from bucketsum.long_objects.message import is_slice, progress_in_message
from bucketsum.queue.dead_letters import REASON_ATTRIBUTE

_DIGITS: Final = 32


class Invariants:
    """Reports to the schedule each promise that the product breaks.

    The models know the content of each version and the order of all writes, so no check relies on
    the product's own comparison of sequencers.
    """

    def __init__(self, schedule: Schedule, s3: S3, other: OtherProgram) -> None:
        self._schedule, self._s3, self._other = schedule, s3, other

    def check_write(self, before: Item | None, item: Item | None) -> None:
        """No row has the digest of another version, or replaces a better one, or loses facts."""
        if self._other.has_changed(before or item or {}):
            self._report(self._problems_of_damaged(item or {}))
            return
        if is_progress(before or item or {}):
            self._report(check_progress(before, item, self._s3))
            return
        if item is None:
            self._report(["an item of the digests table was deleted"])
            return
        name = f"{item['object']['S']} {item['entry']['S']}"
        self._report(self._problems_of_deletion(name, before, item))
        if "sequencer" in item:
            self._report(self._problems_of_row(name, before, item))
        elif before and "sequencer" in before:
            self._report([f"the row of {name} became a tombstone"])

    def _problems_of_damaged(self, item: Item) -> Iterator[str]:
        if not item or is_progress(item):
            return
        key = item["object"]["S"].partition("/")[2], item["entry"]["S"]
        if "sha1" in item and key not in self._other.rows:
            digests = {version.sha1 for version in self._s3.history[key]}
            if _text(item, "sha1") not in digests:
                yield f"the row of {key} has the digest of other bytes"

    def _problems_of_row(self, name: str, before: Item | None, item: Item) -> Iterator[str]:
        versions = self._versions_of(item)
        if not versions:
            yield f"a row for {name}, which was never put"
            return
        self._report(self._problems_of_verification(name, before or {}, item))
        self._report(self._problems_of_checksum(name, before or {}, item))
        if "sha1" in item and _text(item, "sha1") not in _digests_of(versions):
            yield f"the row of {name} has the digest of other bytes"
        if "sha1" not in item and not _text(item, "reason"):
            yield f"the row of {name} has neither digest nor reason"
        if _text(item, "sequencer") > _padded(versions[-1].number):
            yield f"the row of {name} has a sequencer of its future"
        if not before or "sequencer" not in before:
            return
        earlier = self._versions_of(before)[0]
        is_of_event = _text(before, "sequencer") == _padded(earlier.number)  # not of a backfill
        if is_of_event and earlier.number > versions[-1].number:
            yield f"an older event overwrote the row of {name}"
        if "sha1" in before and "sha1" not in item and before["etag"] == item["etag"]:
            yield f"the digest of {name} was overwritten by an unreadable row"

    def _problems_of_verification(self, name: str, before: Item, item: Item) -> Iterator[str]:
        """A verification replaces no digest, reads what it marks, and is right about rot."""
        place = item["object"]["S"].partition("/")[2], item["entry"]["S"]
        etag = _text(item, "etag")  # the same content may be put again
        versions = [put for put in self._s3.history[place] if put.etag == etag]
        order = () if item["entry"]["S"] != NULL else ("sequencer",)  # whatever event comes
        same = all(before.get(key) == item[key] for key in ("etag", *order) if key in item)
        if same and "sha1" in before and before["sha1"] != item.get("sha1"):
            yield f"the digest of {name} was replaced"
        if before.get("verifications") != item.get("verifications") and "verifications" in item:
            if all(version.rotten for version in versions):  # else it was put again
                yield f"{name} is rotten, and verified"
            if not any(version.served >= len(version.content or b"") for version in versions):
                yield f"{name} is verified, but was not read"
        is_noted = "differs_at" in item and before.get("differs_at") != item["differs_at"]
        if is_noted and not any(version.rotten or version.uploaded for version in versions):
            yield f"{name} is sound, but differs"

    def _problems_of_checksum(self, name: str, before: Item, item: Item) -> Iterator[str]:
        """S3's own checksum is compared, and differs if it is that of other bytes, for good."""
        place = item["object"]["S"].partition("/")[2], item["entry"]["S"]
        puts = [put for put in self._s3.history[place] if put.etag == item["etag"]["S"]]
        result = _text(item, "s3_checksum_result")
        if result == "equal" and all(put.uploaded for put in puts):
            yield f"{name} has not S3's checksum, and is called equal"
        if result == "differs" and not any(put.uploaded or put.rotten for put in puts):
            yield f"{name} has S3's checksum, and is said to differ"
        if result != "not compared":
            return
        is_overwritten = place[1] == NULL and not set(puts) <= set(self._s3.existing())
        if not is_overwritten and not any(put.unanswered or not put.kept for put in puts):
            yield f"{name} is not compared with S3's checksum"
        order = (
            ("sequencer",) if place[1] == NULL else ()
        )  # a version with an ID is never put again
        is_same = all(before.get(key) == item[key] for key in ("etag", *order))
        if is_same and _text(before, "s3_checksum_result") == "differs":
            yield f"{name} differs from S3's checksum no more"

    def check_verified(self, rotten: Iterable[Version], sqs: Sqs, dynamodb: DynamoDb) -> None:
        """Each of *rotten*, if it still exists, is noted or unreadable, or its message waits."""
        for version in set(rotten).intersection(self._s3.existing()) - self.waiting(sqs):
            item = dynamodb.item_at(f"inbox/{version.key}", version.version_id) or {}
            was_refused = any(put.refused for put in self._s3.versions[version.key])
            is_read = not was_refused and version in self._versions_of(item)
            if (
                is_read
                and "sha1" in item
                and item.keys().isdisjoint(("differs_at", "unreadable_at"))
            ):
                self._report([f"the rot of {version.key} {version.version_id} is not found"])

    def _problems_of_deletion(self, name: str, before: Item | None, item: Item) -> Iterator[str]:
        deletion = _text(item, "deletion_sequencer")
        key = item["object"]["S"].partition("/")[2], item["entry"]["S"]
        if deletion and deletion not in map(_padded, self._s3.deletions[key]):
            yield f"{name} has a deletion that never was"
        if ("deleted_at" in item) != bool(deletion) or ("expires_at" in item and not deletion):
            yield f"{name} has a part of a deletion"
        if "sequencer" not in item and "expires_at" not in item:
            yield f"the tombstone of {name} never expires"
        earlier = _text(before or {}, "deletion_sequencer") or ""
        if deletion and deletion < earlier:
            yield f"an older deletion replaced that of {name}"
        versions = self._versions_of(item)
        is_newer = key[1] == NULL and versions and _padded(versions[-1].number) > earlier
        if earlier and not deletion and not is_newer:
            yield f"{name} lost its deletion"

    def check_rest(self, sqs: Sqs, dynamodb: DynamoDb) -> None:
        """Nothing is lost: each version has its row, or its message waits for a person."""
        waiting = self.waiting(sqs)
        for version in self._s3.existing():
            if version.is_due and version not in waiting and self._is_lost(version, dynamodb):
                self._report([f"{version.key} {version.version_id} is lost"])
        deleted = {
            (event.key, event.version_id or NULL, event.sequencer)
            for event in _dead_events(sqs)
            if isinstance(event, ObjectDeleted)
        }
        self._report(self._lost_deletions(dynamodb, deleted))

    def _lost_deletions(self, dynamodb: DynamoDb, dead: set[tuple[str, str, str]]) -> Iterator[str]:
        """Deletions that neither the item has nor a dead letter, nor a newer object ended."""
        for (key, entry), numbers in self._s3.deletions.items():
            if (key, entry) in self._other.objects:
                continue
            recorded = [
                number
                for number in numbers
                if (sequencer := sequencer_of(number)) in self._s3.due
                and (key, entry, sequencer) not in dead
            ]
            item = dynamodb.item_at(f"inbox/{key}", entry) or {}
            last = _padded(max(recorded, default=0))
            row = _text(item, "sequencer") or ""
            is_over = entry == NULL and row >= last  # equal if a backfill found a newer object
            if recorded and not is_over and (_text(item, "deletion_sequencer") or "") < last:
                yield f"the deletion of {key} {entry} is lost"

    def check_restored(self, restored: Iterable[Version], sqs: Sqs, dynamodb: DynamoDb) -> None:
        """Each of *restored*, which S3 sends again, has a row, and no row of it is unreadable.

        Or its event waits for a redrive: a long object of this key is in progress.
        """
        dead = [event for event in _dead_events(sqs) if isinstance(event, ObjectRestored)]
        waiting = {(event.key, event.version_id or NULL) for event in dead}
        for version in restored:
            name = (version.key, version.version_id)
            if name in waiting or name in self._other.objects:
                continue
            item = dynamodb.item_at(f"inbox/{version.key}", version.version_id)
            if item is None or (version in self._versions_of(item) and "sha1" not in item):
                self._report([f"{version.key} {version.version_id} is restored, but not hashed"])

    def _problems_when_healed(self, version: Version, dynamodb: DynamoDb) -> Iterator[str]:
        item = dynamodb.item_at(f"inbox/{version.key}", version.version_id) or {}
        name = f"{version.key} {version.version_id}"
        if version not in self._versions_of(item) or "sha1" not in item:
            yield f"{name} stays without digest"
        elif "deleted_at" in item:
            yield f"{name} exists, but is recorded as deleted"

    def waiting(self, sqs: Sqs) -> set[Version]:
        """The versions whose creation waits in the dead-letter queue."""
        created = (event for event in _dead_events(sqs) if isinstance(event, ObjectCreated))
        return {version for event in created for version in self._versions_like(event)}

    def check_damage(self, sqs: Sqs, dynamodb: DynamoDb) -> None:
        """Without faults, an item that another program changed keeps nobody else's row back.

        And each dead letter has its reason.
        """
        for version in self._s3.existing():
            if version.is_due and self._is_lost(version, dynamodb):
                self._report([f"{version.key} {version.version_id} has no row for another's item"])
        for message in sqs.queues[DEAD_LETTERS].values():
            if REASON_ATTRIBUTE not in message.attributes:
                self._report([f"{message.message_id} is a dead letter without a reason"])

    def check_redriven(self, versions: Iterable[Version], sqs: Sqs, dynamodb: DynamoDb) -> None:
        """Each of *versions*, whose messages were sent back after a repair, has a row."""
        for version in set(versions).intersection(self._s3.existing()) - self.waiting(sqs):
            if not self._has_row(version, dynamodb) and not self._is_ambiguous(version):
                self._report([f"{version.key} {version.version_id} is lost by the repair"])

    def check_healed(self, sqs: Sqs, dynamodb: DynamoDb, malformed: list[str]) -> None:
        """After all faults are over and a redrive, each version is hashed; only junk is dead."""
        existing = set(self._s3.existing())
        for version in existing:
            if not self._is_ambiguous(version):
                self._report(self._problems_when_healed(version, dynamodb))
        for item in dynamodb.items():
            is_gone = not is_progress(item) and existing.isdisjoint(self._versions_of(item))
            key = item["object"]["S"].partition("/")[2], item["entry"]["S"]
            is_known = not (self._has_lost_order(key) or self._is_unheard(key))
            if is_gone and "deleted_at" not in item and is_known:
                name = f"{item['object']['S']} {item['entry']['S']}"
                self._report([f"{name} is deleted, but not recorded so"])
        bodies = {message.body for message in sqs.queues[DEAD_LETTERS].values()}
        if bodies != set(malformed):
            dead = sorted(body[:40] for body in bodies)
            self._report([f"the dead-letter queue has {dead}, not {malformed}"])
        if any(sqs.queues[queue] for queue in SOURCES):
            self._report(["messages stay in a queue"])

    def _is_unheard(self, name: Key) -> bool:
        """Whether no event announced its last deletion."""
        numbers = self._s3.deletions[name]
        return bool(numbers) and sequencer_of(max(numbers)) not in self._s3.due

    def _is_ambiguous(self, version: Version) -> bool:
        """Whether an old deletion of version ``null`` may mark it, as its row was removed.

        A backfill leaves the mark if S3's times, which are seconds, do not tell the order.
        """
        name = (version.key, version.version_id)
        return self._has_lost_order(name) and bool(self._s3.deletions[name])

    def _has_lost_order(self, name: Key) -> bool:
        """Whether the row of a version ``null``, with the order of its events, was removed."""
        return name[1] == NULL and name in self._other.removed | self._other.rows

    def is_left(self, version: Version, sqs: Sqs, dynamodb: DynamoDb) -> bool:
        """Whether nothing is known of it: no row of its content, no progress, no dead letter."""
        row = dynamodb.item_at(f"inbox/{version.key}", version.version_id) or {}
        if _text(row, "etag") == version.etag:
            return False
        items = filter(is_progress, dynamodb.items())
        in_slices = {(_text(item, "key"), _text(item, "version")) for item in items}
        is_known = (version.key, version.version_id) in in_slices or version in self.waiting(sqs)
        return not is_known and self._is_lost(version, dynamodb)

    def _is_lost(self, version: Version, dynamodb: DynamoDb) -> bool:
        """Whether it has no row, and another program is not to blame."""
        is_known = (version.key, version.version_id) in self._other.objects
        return not is_known and not self._has_row(version, dynamodb)

    def _has_row(self, version: Version, dynamodb: DynamoDb) -> bool:
        item = dynamodb.item_at(f"inbox/{version.key}", version.version_id)
        return item is not None and version in self._versions_of(item)

    def _versions_of(self, item: Item) -> Sequence[Version]:
        """Versions that *item* may be about, in order; a backfill's row has no sequencer of it."""
        if "sequencer" not in item:
            return []
        key = item["object"]["S"].partition("/")[2]
        return self._versions(
            key, item["entry"]["S"], _text(item, "etag"), _text(item, "sequencer")
        )

    def _versions_like(self, event: ObjectCreated) -> Sequence[Version]:
        sequencer = event.sequencer.ljust(_DIGITS, "0")
        return self._versions(event.key, event.version_id or NULL, event.etag, sequencer)

    def _versions(
        self, key: str, entry: str, etag: str | None, sequencer: str
    ) -> Sequence[Version]:
        same = [put for put in self._s3.history[key, entry] if put.etag == etag]
        exact = [put for put in same if _padded(put.number) == sequencer]
        if not exact or (key, entry) in self._other.repaired:
            return same
        unannounced = [put for put in same if not put.is_announced]
        return sorted({*exact, *unannounced}, key=lambda put: put.number)

    def _report(self, problems: Iterable[str]) -> None:
        for problem in problems:
            self._schedule.violate(problem)


def _digests_of(versions: Sequence[Version]) -> set[str]:
    contents = (content for put in versions[:1] for content in (put.content, put.rotten))
    return {hashlib.sha1(put or b"", usedforsecurity=False).hexdigest() for put in contents}


def _dead_events(sqs: Sqs) -> Iterator[ObjectEvent]:
    for message in sqs.queues[DEAD_LETTERS].values():
        try:
            if is_listed(message.body):
                yield from listed_objects_in(message.body).objects
            elif is_slice(message.body):  # its chain may have got a newer event since
                yield replace(progress_in_message(message.body).created, sequencer="")
            else:
                yield from events_in(message.body)
        except MalformedMessage:
            continue


def _padded(number: int) -> str:
    return sequencer_of(number).ljust(_DIGITS, "0")


def _text(item: Item, name: str) -> Any:  # noqa: ANN401 - text, or None
    return item.get(name, {}).get("S")
