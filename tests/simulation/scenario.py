"""Scenario: writes, events, faults and people that a seed decides, and the checks at rest."""

from collections.abc import Callable
from dataclasses import InitVar, dataclass, field, replace
from functools import cache, partial
from random import Random
from typing import Final

from tests.simulation.backfill_model import Backfills
from tests.simulation.damage_model import OtherProgram
from tests.simulation.dynamodb_model import DynamoDb
from tests.simulation.functions import Functions
from tests.simulation.invariants import Invariants
from tests.simulation.lambda_model import Lambda
from tests.simulation.operator_model import Operator
from tests.simulation.s3_events import bodies_of
from tests.simulation.s3_model import NULL, S3, Version, Versioning
from tests.simulation.scale import LONG_SIZES, SIZES, scaled_down
from tests.simulation.schedule import Process, Schedule
from tests.simulation.sqs_model import ARRIVALS, BACKFILL, LONG_OBJECTS, Sqs
from tests.simulation.trace import Trace
from tests.support.dynamodb_fake import Item

from bucketsum.events.object_events import DeletedBy, ObjectDeleted, ObjectEvent
from bucketsum.hashing.ending import Purpose

_DETACHED: Final = 0.15
_VERIFIED: Final = 0.15
_OLD_OBJECTS: Final = 0.03
_CHECKSUMS: Final = 0.25
_DAMAGED: Final = 0.4
_KEYS: Final = ("a", "photos/b c+ü.jpg")
_JUNK: Final = ("not JSON", '{"Records": []}')

_GENERATORS: Final = {
    name: Random()  # noqa: S311 - nothing secret
    for name in (
        "another program", "detachment", "old objects", "wrong answers", "checksums",
        "verification",
    )
}  # fmt: skip
"""Each has one of its own, so that the schedules without it stay as they are."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one schedule.

    Attributes:
        seed: Replays it.
        violations: Broken promises; empty if all held.
        steps: Its trace, if it was traced.
    """

    seed: int
    violations: list[str]
    steps: list[str]


def simulate(seed: int, *, traced: bool = False) -> Outcome:
    """Run the schedule of *seed*."""
    trace = Trace(enabled=traced)
    schedule = Schedule(seed, trace)
    with scaled_down(schedule):
        for name, random in _GENERATORS.items():
            random.seed(f"{name} {seed}")
        other, detachment, old, wrong, checksums, verification = _GENERATORS.values()
        verifies = verification.random() < _VERIFIED
        _World(schedule, other, detachment, old, wrong, checksums).run(verifies=verifies)
    return Outcome(seed, schedule.violations, trace.lines)


@dataclass(slots=True)
class _World:
    schedule: Schedule
    random_of_other: InitVar[Random]
    random_of_detachment: InitVar[Random]
    random_of_old_objects: InitVar[Random]
    random_of_wrong_answers: InitVar[Random]
    random_of_checksums: Random
    s3: S3 = field(init=False)
    sqs: Sqs = field(init=False)
    dynamodb: DynamoDb = field(init=False)
    other: OtherProgram = field(init=False)
    hasher: Lambda = field(init=False)
    slicer: Lambda = field(init=False)
    backfills: Backfills = field(init=False)
    invariants: Invariants = field(init=False)
    contents: list[bytes] = field(default_factory=list)
    sizes: tuple[int, ...] = SIZES
    events: list[ObjectEvent] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    is_attached: bool = True
    was_detached: bool = False

    def __post_init__(
        self,
        random_of_other: Random,
        random_of_detachment: Random,
        random_of_old_objects: Random,
        random_of_wrong_answers: Random,
    ) -> None:
        schedule = self.schedule
        versioning = schedule.random.choice((*Versioning, Versioning.UNVERSIONED))
        schedule.log("the bucket is %s", versioning)
        self.s3 = S3(
            schedule,
            versioning,
            random_of_wrong_answers,
            keeps_checksums=self.random_of_checksums.random() < _CHECKSUMS,
        )
        self.sqs = Sqs(schedule)
        self.dynamodb = DynamoDb(schedule, self._check_write)
        self.other = OtherProgram(schedule, self.dynamodb, random_of_other)
        self.invariants = Invariants(schedule, self.s3, self.other)
        functions = Functions(schedule, self.s3, self.sqs, self.dynamodb)
        self.hasher = Lambda("hasher", functions.hasher(), schedule, self.sqs)
        self.hasher.subscribe(ARRIVALS)
        self.hasher.subscribe(BACKFILL)
        self.slicer = Lambda("slicer", functions.slicer(), schedule, self.sqs)
        self.slicer.subscribe(LONG_OBJECTS)
        self.backfills = Backfills(schedule, self.s3, self.dynamodb, functions.enqueuer())
        schedule.spread = schedule.random.choice((1, 3, 4, 5.3))
        if schedule.happens(0.4):
            later = schedule.random.choice((Versioning.ENABLED, Versioning.SUSPENDED))
            self._later(partial(setattr, self.s3, "versioning", later))
        self._plan_faults()
        self._plan_people()
        self._plan_writes()
        self.other.plan()
        self._plan_detachment(random_of_detachment)
        self._plan_old_objects(random_of_old_objects)

    def _plan_faults(self) -> None:
        schedule, chance = self.schedule, self.schedule.random.choice
        self.s3.network.faults = chance((0, 0, 0.1, 0.4))
        self.dynamodb.network.faults = chance((0, 0, 0.1, 0.4))
        self.sqs.network.faults = chance((0, 0, 0.1, 0.4))
        self.sqs.repeats = chance((0, 0, 0.2))
        self.hasher.environments = self.slicer.environments = chance((1, 2, 3))
        self.hasher.batch_size = chance((1, 3, 10))
        kills = chance((0, 0, 0.03, 0.15))
        self.hasher.kills = self.slicer.kills = self.backfills.kills = kills
        if schedule.happens(0.15):
            self._later(partial(setattr, self.s3, "denies", True))
            self._later(partial(setattr, self.s3, "denies", False))
        if schedule.happens(0.1):
            junk = chance(_JUNK)
            self.malformed.append(junk)
            self._later(partial(self.sqs.send, ARRIVALS, junk, {}))

    def _plan_people(self) -> None:
        schedule = self.schedule
        if schedule.happens(0.2):
            self._later(partial(self._run_operator, 0.1))
        if schedule.happens(0.08):
            self.sizes = LONG_SIZES if schedule.happens(0.5) else (*SIZES, *LONG_SIZES)
            if schedule.happens(0.2):
                self._later(partial(self._run_operator, 0.1, stops=True))
        if schedule.happens(0.08):
            self.is_attached = schedule.happens(0.4)
            attached_at = 5 * schedule.latency()
            schedule.after(attached_at, self._attach)
            for _ in range(1 + schedule.happens(0.3)):
                starts_at = attached_at + schedule.latency()
                all_versions = schedule.happens(0.5)
                start = partial(self.backfills.start, all_versions=all_versions)
                schedule.after(starts_at, start)
            if schedule.happens(0.5):
                schedule.after(attached_at + 10 * schedule.latency(), self._archive_all)

    def _plan_detachment(self, random: Random) -> None:
        """In some schedules, the bucket notifies nobody for a time; then a backfill is run."""
        if random.random() < _DETACHED:
            spread = self.schedule.spread
            times = sorted(0.025 * 10 ** (spread * random.random()) for _ in range(3))
            detached_at, attached_at, starts_at = times
            self.schedule.after(detached_at, self._detach)
            self.schedule.after(attached_at, self._attach)
            self.schedule.after(starts_at, partial(self.backfills.start, all_versions=True))

    def _plan_old_objects(self, random: Random) -> None:
        """In some schedules, several objects are older than the stack; a backfill reads them."""
        if random.random() < _OLD_OBJECTS:
            for number in range(6):
                content = _content(len(self.contents), 1)
                self.contents.append(content)
                self.s3.put(f"old/{number}", content)
            start = partial(self.backfills.start, all_versions=False)
            self.schedule.after(random.random(), start)

    def _detach(self) -> None:
        self.is_attached, self.was_detached = False, True
        self.schedule.log("the bucket notifies nobody from now on")

    def _check_write(self, before: Item | None, item: Item | None) -> None:
        if item and "backfill" in item:
            is_left = partial(self.invariants.is_left, sqs=self.sqs, dynamodb=self.dynamodb)
            self.backfills.check_done(self.other.backfills, is_left)
        else:
            self.invariants.check_write(before, item)

    def _attach(self) -> None:
        self.is_attached = True
        self.schedule.log("the bucket notifies the queue from now on")

    def _plan_writes(self) -> None:
        schedule = self.schedule
        keys = _KEYS[: schedule.random.choice((1, 1, 2))]
        for _ in range(schedule.random.choice((1, 2, 2, 3, 4))):
            key = schedule.random.choice(keys)
            if schedule.happens(0.2):
                self._later(partial(self._delete, key))
            elif schedule.happens(0.15):
                self._later(partial(self._change, key))
            else:
                self._later(partial(self._put, key))

    def _later(self, action: Callable[[], None]) -> None:
        self.schedule.after(5 * self.schedule.latency(), action)

    def _put(self, key: str) -> None:
        random = self.schedule.random
        if self.contents and self.schedule.happens(0.15):
            content = random.choice(self.contents)
        else:
            content = _content(len(self.contents), random.choice(self.sizes))
            self.contents.append(content)
        version = self.s3.put(key, content, archived=self.schedule.happens(0.08))
        version.is_due = version.is_announced = self.is_attached
        if content and self.random_of_checksums.random() < _DAMAGED:
            version.uploaded = content[:-1] + bytes([content[-1] ^ 2])  # `_verify` changes another
        self._notify(version.created)

    def _delete(self, key: str) -> None:
        by = self.schedule.random.choice(tuple(DeletedBy))
        self._notify(self.s3.delete(key, by))

    def _change(self, key: str) -> None:
        """Change an existing version: archive it, restore it, or delete it for ever."""
        versions = self.s3.versions.get(key)
        if not versions:
            return
        version = self.schedule.random.choice(versions)
        if version.archived:
            self._restore(version)
        elif version.content is not None and self.schedule.happens(0.3):
            self.schedule.log("S3 archives %s %s", key, version.version_id)
            version.archived = True
        else:
            version_id = (
                None if self.s3.versioning is Versioning.UNVERSIONED else version.version_id
            )
            by = self.schedule.random.choice(tuple(DeletedBy))
            self._notify(self.s3.delete_version(key, version_id, by))

    def _archive_all(self) -> None:
        for version in self.s3.existing():
            version.archived = True
        self.schedule.log("S3 archives all objects")

    def _restore(self, version: Version) -> None:
        version.archived = False
        self.schedule.log("S3 restores %s %s", version.key, version.version_id)
        self._notify(version.restored)

    def _notify(self, event: ObjectEvent) -> None:
        """Send *event*, at times twice, each some time later, or much later."""
        if self.is_attached:
            if isinstance(event, ObjectDeleted):
                self.s3.due.add(event.sequencer)
            for _ in range(1 + self.schedule.happens(0.2)):
                delay = self.schedule.latency() * (20 if self.schedule.happens(0.1) else 1)
                self.schedule.after(delay, partial(self._arrive, event))

    def _arrive(self, event: ObjectEvent) -> None:
        """Deliver an event, at times together with the next, and as version ``null``."""
        if not event.version_id and self.schedule.happens(0.1):
            event = replace(event, version_id=NULL)
        self.events.append(event)
        if self.schedule.happens(0.2):
            self._later(self._deliver)
        else:
            self._deliver()

    def _deliver(self) -> None:
        """Send the messages of all events that wait."""
        events, self.events = self.events, []
        if events:
            for body in bodies_of(events, self.schedule):
                self.sqs.send(ARRIVALS, body, {})

    def _run_operator(self, kills: float, *, stops: bool = False) -> None:
        operator = Operator(self.schedule, self.s3, self.sqs, self.dynamodb)

        def work() -> None:
            if stops:
                operator.stop()
                return
            operator.redrive()
            operator.requeue(*_KEYS)

        self.schedule.start(Process("operator", kill_probability=kills), work)

    def run(self, *, verifies: bool) -> None:
        """Run to rest, and check; redrive, and check; end all faults, redrive, and check again."""
        self._run_to_rest()
        if self.schedule.happens(0.2):
            self._run_operator(0.2)
            self._run_to_rest()
        if verifies and not self.other.has_acted:
            self._verify()
        self.schedule.log("all faults are over")
        self._heal()
        archived = [version for version in self.s3.existing() if version.archived]
        for version in archived:
            self.schedule.after(3600, partial(self._restore, version))
        self._run_to_rest()
        self.invariants.check_restored(archived, self.sqs, self.dynamodb)
        if self.other.has_acted:
            self._repair()
        self.schedule.after(3600, partial(self._run_operator, 0))
        if self.backfills:
            self.backfills.resume()
            self.backfills.start(all_versions=True)
        self.schedule.run()
        if self.was_detached:  # a late deletion wins over a listed object, which has no order
            self.backfills.start(all_versions=True)
            self.schedule.run()
        self.invariants.check_healed(self.sqs, self.dynamodb, self.malformed)

    def _verify(self) -> None:
        """Verify all objects, some of which are rotten, while people and faults go on."""
        random, items = self.schedule.random, self.dynamodb.item_at
        recorded = [
            version
            for version in self.s3.existing()
            if (item := items(f"inbox/{version.key}", version.version_id))
            and item.get("etag") == {"S": version.etag}
            and "sha1" in item
            and version.content
        ]
        for version in self.s3.existing():
            version.served, version.refused = 0, False
        rotten = [version for version in recorded if self.schedule.happens(0.4)]
        for version in rotten:
            self.schedule.log("%s %s rots", version.key, version.version_id)
            content = version.content or b""
            version.rotten = bytes([content[0] ^ 1]) + content[1:]
        self.s3.flippable = [
            version for version in recorded if len(version.content or b"") <= max(SIZES)
        ]
        self.s3.flips = random.choice((0, 0.1, 0.4))
        self.backfills.start(all_versions=True, purpose=Purpose.VERIFY)
        for _ in range(random.choice((0, 1, 2, 3))):
            change = random.choice((self._put, self._delete, self._change))
            self._later(partial(change, random.choice(_KEYS)))
        self._run_to_rest()
        self.s3.flips = 0
        if self.backfills.has_listed_all and not self.s3.denies:
            self.invariants.check_verified(rotten, self.sqs, self.dynamodb)

    def _repair(self) -> None:
        """Delete the items that were changed, at times after a backfill; send messages back."""
        if self.other.random.random() < 0.5:
            self.backfills.start(all_versions=True)
        self.schedule.after(3600, partial(self._run_operator, 0))
        self._run_to_rest()
        self.invariants.check_damage(self.sqs, self.dynamodb)
        sent_back = self.invariants.waiting(self.sqs)
        self.other.repair()
        self.schedule.after(3600, partial(self._run_operator, 0))
        self._run_to_rest()
        self.invariants.check_redriven(sent_back, self.sqs, self.dynamodb)
        self.backfills.start(all_versions=True)
        self.schedule.run()
        self.other.forget()

    def _run_to_rest(self) -> None:
        self.schedule.run()
        self.schedule.log("all is at rest")
        self.backfills.check_queued(self.other.backfills, self.sqs.listed)
        self.backfills.mark_due(self.other.backfills)
        self.invariants.check_rest(self.sqs, self.dynamodb)

    def _heal(self) -> None:
        for network in (self.s3.network, self.sqs.network, self.dynamodb.network):
            network.faults = 0
        self.schedule.spread, self.sqs.repeats = 1, 0
        self.hasher.kills = self.slicer.kills = self.backfills.kills = 0
        self.s3.denies = False


@cache
def _content(number: int, size_bytes: int) -> bytes:
    """Bytes that differ from place to place, and from number to number."""
    return bytes((31 * number + 7 * place + place // 128) % 251 for place in range(size_bytes))
