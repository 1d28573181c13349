"""Scenario: uploads, deletions, events and faults that a seed decides, and the checks at rest."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from tests.simulation.dynamodb_model import DynamoDb
from tests.simulation.invariants import Invariants
from tests.simulation.lambda_model import CHUNK_BYTES, Lambda, Threads
from tests.simulation.operator_model import Operator
from tests.simulation.s3_model import NULL, S3, Versioning
from tests.simulation.schedule import Process, Schedule
from tests.simulation.sqs_model import ARRIVALS, Sqs
from tests.simulation.trace import Trace
from tests.support.events import from_sns, notification

from bucketsum import batch
from bucketsum.batch import LARGE_BYTES
from bucketsum.hashing import LOOK_UP_FROM_BYTES
from bucketsum_cli.commands import redrive

if TYPE_CHECKING:
    from collections.abc import Callable

    from bucketsum.notifications import ObjectCreated

_KEYS: Final = ("a", "photos/b c+ü.jpg")
_JUNK: Final = ("not JSON", '{"Records": []}')
_SIZES: Final = (0, 0, 0, LOOK_UP_FROM_BYTES, LARGE_BYTES)
"""Sizes in events: small objects, and those that are looked up, or deferred."""


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
    with (
        patch.object(batch, "ThreadPoolExecutor", partial(Threads, schedule)),
        patch.multiple(redrive, print_json=_print_nothing, note=_print_nothing),
        patch.object(batch, "carried", lambda work: work),  # no tracing, though a test loaded it
    ):
        world = _World(schedule)
        world.run()
    return Outcome(seed, world.schedule.violations, trace.lines)


def _print_nothing(_: object) -> None:
    """Print nothing."""


@dataclass(slots=True)
class _World:
    schedule: Schedule
    s3: S3 = field(init=False)
    sqs: Sqs = field(init=False)
    dynamodb: DynamoDb = field(init=False)
    function: Lambda = field(init=False)
    invariants: Invariants = field(init=False)
    contents: list[bytes] = field(default_factory=list)
    events: list[ObjectCreated] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        schedule = self.schedule
        versioning = schedule.random.choice((*Versioning, Versioning.UNVERSIONED))
        schedule.log("the bucket is %s", versioning)
        self.s3 = S3(schedule, versioning)
        self.invariants = Invariants(schedule, self.s3)
        self.sqs = Sqs(schedule)
        self.dynamodb = DynamoDb(schedule, self.invariants.check_write)
        self.function = Lambda(schedule, self.s3, self.sqs, self.dynamodb)
        schedule.spread = schedule.random.choice((1, 3, 4, 5.3))
        if schedule.happens(0.4):
            later = schedule.random.choice((Versioning.ENABLED, Versioning.SUSPENDED))
            self._later(partial(setattr, self.s3, "versioning", later))
        self._plan_faults()
        self._plan_writes()

    def _plan_faults(self) -> None:
        schedule, chance = self.schedule, self.schedule.random.choice
        self.s3.network.faults = chance((0, 0, 0.1, 0.4))
        self.dynamodb.network.faults = chance((0, 0, 0.1, 0.4))
        self.sqs.network.faults = chance((0, 0, 0.1, 0.4))
        self.sqs.repeats = chance((0, 0, 0.2))
        self.function.environments = chance((1, 2, 3))
        self.function.batch_size = chance((1, 3, 10))
        self.function.kills = chance((0, 0, 0.03, 0.15))
        if schedule.happens(0.15):
            self._later(partial(setattr, self.s3, "denies", True))
            self._later(partial(setattr, self.s3, "denies", False))
        if schedule.happens(0.1):
            junk = chance(_JUNK)
            self.malformed.append(junk)
            self._later(partial(self.sqs.send, ARRIVALS, junk, {}))
        if schedule.happens(0.2):
            self._later(partial(self._run_operator, 0.1))

    def _plan_writes(self) -> None:
        schedule = self.schedule
        keys = _KEYS[: schedule.random.choice((1, 1, 2))]
        for _ in range(schedule.random.randint(1, 5)):
            key = schedule.random.choice(keys)
            if schedule.happens(0.15):
                self._later(partial(self.s3.delete, key))
            elif schedule.happens(0.1):
                self._later(partial(self._restore_or_remove, key))
            else:
                self._later(partial(self._put, key))

    def _later(self, action: Callable[[], None]) -> None:
        self.schedule.after(5 * self.schedule.latency(), action)

    def _put(self, key: str) -> None:
        random = self.schedule.random
        if self.contents and self.schedule.happens(0.15):
            content = random.choice(self.contents)
        else:
            length = random.choice((0, 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 1))
            content = f"{len(self.contents)}".encode() * length
            self.contents.append(content)
        size_bytes = random.choice(_SIZES) + len(content)
        version = self.s3.put(key, content, size_bytes, archived=self.schedule.happens(0.08))
        for _ in range(1 + self.schedule.happens(0.2)):
            self.schedule.after(self.schedule.latency(), partial(self._arrive, version.created))

    def _restore_or_remove(self, key: str) -> None:
        """Change an existing version: restore it from Glacier, or delete it for good."""
        versions = self.s3.versions.get(key)
        if versions:
            version = self.schedule.random.choice(versions)
            if version.archived:
                version.archived = False
            else:
                self.s3.remove(key, version.version_id)
            self.schedule.log("S3 restores or removes %s %s", key, version.version_id)

    def _arrive(self, created: ObjectCreated) -> None:
        """Deliver an event, at times together with the next, and as version ``null``."""
        if not created.version_id and self.schedule.happens(0.1):
            created = replace(created, version_id=NULL)
        self.events.append(created)
        if self.schedule.happens(0.2):
            self._later(self._deliver)
        else:
            self._deliver()

    def _deliver(self) -> None:
        """Send a message of all events that wait, at times over SNS."""
        if self.events:
            body: dict[str, Any] = notification(*self.events)
            self.events.clear()
            self.sqs.send(
                ARRIVALS, json.dumps(from_sns(body) if self.schedule.happens(0.05) else body), {}
            )

    def _run_operator(self, kills: float) -> None:
        operator = Operator(self.schedule, self.sqs, self.dynamodb)

        def work() -> None:
            operator.redrive()
            operator.requeue(*_KEYS)

        self.schedule.start(Process("operator", kill_probability=kills), work)

    def run(self) -> None:
        """Run to rest, and check; redrive, and check; end all faults, redrive, and check again."""
        self._run_to_rest()
        if self.schedule.happens(0.2):
            self._run_operator(0.2)
            self._run_to_rest()
        self.schedule.log("all faults are over")
        self._heal()
        self.schedule.after(3600, partial(self._run_operator, 0))
        self.schedule.run()
        self.invariants.check_healed(self.sqs, self.dynamodb, self.malformed)

    def _run_to_rest(self) -> None:
        self.schedule.run()
        self.schedule.log("all is at rest")
        self.invariants.check_rest(self.sqs, self.dynamodb)

    def _heal(self) -> None:
        for network in (self.s3.network, self.sqs.network, self.dynamodb.network):
            network.faults = 0
        self.schedule.spread, self.sqs.repeats, self.function.kills = 1, 0, 0
        self.s3.denies = False
        for version in self.s3.existing():
            version.archived = False
