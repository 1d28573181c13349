"""Step Functions: executions of the product's state machine for backfills, as its file says."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from tests.simulation.dynamodb_model import BACKFILLS, DynamoDb
from tests.simulation.lambda_model import TIME_OUT_SECONDS, Handler, context_of
from tests.simulation.s3_model import BUCKET, S3, Version
from tests.simulation.schedule import Killed, Process, Schedule

from bucketsum.backfill import backfill_records
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part, Tally
from bucketsum.hashing.ending import Purpose
from bucketsum.table.codec import decoded, encoded

_RUNS: Final = "backfills"
_ATTEMPTS: Final = 5
_INTERVAL_SECONDS: Final = 5.0


class Backfills:
    """Backfills of the bucket.

    Attributes:
        kills: Probability, at each AWS call, that an enqueuer dies there.
    """

    def __init__(self, schedule: Schedule, s3: S3, dynamodb: DynamoDb, handler: Handler) -> None:
        self.kills = 0.0
        self._schedule, self._s3, self._dynamodb, self._handler = schedule, s3, dynamodb, handler
        self._begun: list[tuple[Backfill, list[Version]]] = []
        """Each with the versions that it must list."""
        self._listed_at = 0
        """The bucket's number when they were last looked for."""

    def __bool__(self) -> bool:
        """Whether there were any."""
        return bool(self._begun)

    def start(self, *, all_versions: bool, purpose: Purpose = Purpose.RECORD) -> None:
        """Begin a backfill, whose record a person's command has written."""
        number = len(self._begun)
        backfill = Backfill(
            backfill_id=f"20261122-{number}",
            bucket=BUCKET,
            status=BackfillStatus.RUNNING,
            started_at="2026-11-22T00:00:00.000Z",
            all_versions=all_versions,
            purpose=purpose,
        )
        self._begun.append((backfill, self._listable(all_versions=all_versions)))
        item = encoded(backfill, "") | {
            "backfill": {"S": _RUNS},
            "item": {"S": backfill.backfill_id},
        }
        self._dynamodb.seed(BACKFILLS, item)
        self._step(backfill.backfill_id)

    def resume(self) -> None:
        """Begin another execution of each that ended early."""
        for backfill, _ in self._begun:
            if not self._is_queued(backfill):
                self._step(backfill.backfill_id)

    def mark_due(self, changed: set[str]) -> None:
        """Note the versions that must be hashed, as backfills that are done have listed them.

        Nothing is known of the backfills whose items another program has *changed*.
        """
        for backfill, versions in self._begun:
            if backfill.backfill_id not in changed and self._is_queued(backfill):
                listed = set(self._listable(all_versions=backfill.all_versions))
                for version in listed.intersection(versions):
                    version.is_due = True

    def check_queued(self, changed: set[str], listed: Mapping[str, int]) -> None:
        """A part counts no object as queued before its message was sent."""
        for backfill_id in sorted({backfill.backfill_id for backfill, _ in self._begun} - changed):
            key = backfill_id, "part#000000"
            queued = int(self._dynamodb.attribute(BACKFILLS, key, "objects") or 0)
            if queued > listed[backfill_id]:
                self._schedule.violate(f"{queued} objects are queued without their messages")

    def check_done(self, changed: set[str], is_left: Callable[[Version], bool]) -> None:
        """A backfill whose counts are complete has left out no version that it must list."""
        if self._s3.number != self._listed_at:
            self._listed_at = self._s3.number
            for backfill, versions in self._begun:
                listed = set(self._listable(all_versions=backfill.all_versions))
                versions[:] = [version for version in versions if version in listed]  # for good
        for backfill, versions in self._begun:
            name = backfill.backfill_id
            if name in changed or not self._is_queued(backfill) or not any(map(is_left, versions)):
                continue
            items = {i["item"]["S"]: i for i in self._dynamodb.items(BACKFILLS)
                     if i["backfill"]["S"] == name}  # fmt: skip
            tally = decoded(Tally, items.pop("tally", {}))
            parts = [decoded(Part, item, number=0) for item in items.values()]
            if backfill_records.is_complete(parts, tally):
                for version in filter(is_left, versions):
                    self._schedule.violate(f"{name} is done, but {version.key} is left")

    @property
    def has_listed_all(self) -> bool:
        """Whether all objects of the last backfill are queued."""
        return self._is_queued(self._begun[-1][0])

    def _is_queued(self, backfill: Backfill) -> bool:
        status = self._dynamodb.attribute(BACKFILLS, (_RUNS, backfill.backfill_id), "status")
        return status == BackfillStatus.QUEUED

    def _listable(self, *, all_versions: bool) -> list[Version]:
        return [
            version
            for version in self._s3.existing()
            if all_versions or version is self._s3.versions[version.key][-1]
        ]

    def _step(self, backfill_id: str) -> None:
        event = {"action": "step", "backfill_id": backfill_id}
        self._invoke(event, partial(self._enqueue, backfill_id), _ATTEMPTS)

    def _enqueue(self, backfill_id: str, step: Mapping[str, Any]) -> None:
        """Go on until all is queued: what follows is in `tests.simulation.evidence`."""
        shares = [event for event in step["events"] if event["action"] == "enqueue"]
        left = len(shares)

        def end_share(_: object) -> None:
            nonlocal left
            left -= 1
            if not left:
                self._step(backfill_id)

        for share in shares:
            self._invoke(share, end_share, _ATTEMPTS)

    def _invoke(self, event: Any, then: Callable[[Any], None], attempts: int) -> None:  # noqa: ANN401 - JSON
        """Invoke the enqueuer, again if it fails; without an attempt left the execution ends."""
        process = Process("enqueuer", self._schedule.now + TIME_OUT_SECONDS, self.kills)
        retry = partial(self._invoke, event, then, attempts - 1)

        def work() -> None:
            self._schedule.log("is invoked with %s", event)
            try:
                result = self._handler(event, context_of(self._schedule))
            except (Exception, Killed) as error:
                self._schedule.log("ends with %r", error)
                if attempts > 1:
                    self._schedule.after(_INTERVAL_SECONDS, retry)
                if isinstance(error, Killed):
                    raise
            else:
                self._schedule.after(0, partial(then, result))

        self._schedule.start(process, work)
