"""One soak: uploads under faults, the comparison, the redrive, and the comparison again."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.soak.faults import Faults
from tests.soak.findings import Findings, compared, dead_letters, is_malformed, keys_in
from tests.soak.log_volume import log_volume
from tests.soak.proxy import faulty_proxy
from tests.soak.queues import VISIBILITY_SECONDS, Backlog, through_proxy, visibility_of
from tests.soak.report import Report
from tests.soak.workers import Workers, disturbed
from tests.soak.workload import PREFIX, Uploaded, Version, Workload

from bucketsum.table.rows import RowKey
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.bucket_contents import emptied_folder
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.dead_letters.messages import DeadLetter
from bucketsum_cli.dead_letters.redrive import send_back
from bucketsum_cli.emulator import emulator_state
from bucketsum_cli.emulator.emulator_state import LocalProject


@dataclass(frozen=True, slots=True)
class Moment:
    """The progress of a soak.

    Attributes:
        step: The current step.
        objects: Objects uploaded so far.
        waiting: Messages in the arrivals queue.
        faults: Faults so far.
    """

    step: str
    objects: int
    waiting: int
    faults: int


class Soak:
    """A soak of a deployed stack on the local emulator."""

    def __init__(
        self,
        stack: Stack,
        project: LocalProject,
        objects: int,
        seed: int,
        show: Callable[[Moment], object],
        visibility_seconds: int = VISIBILITY_SECONDS,
    ) -> None:
        self._stack = stack
        self._aws = emulator_state.running(project)
        self._home = project.home
        self._objects = objects
        self._seed = seed
        self._show = show
        self._visibility_seconds = visibility_seconds
        self._faults = Faults(seed)
        self._workers = Workers(self._aws.pid, stack.function)
        self._backlog = Backlog(stack)
        self._uploads: list[Uploaded] = []

    def run(self) -> Report:
        """Run it.

        Raises:
            CannotDoError: The queue does not become empty.
        """
        started = time.monotonic()
        log = self._home / "gateway.log"
        log_bytes = log.stat().st_size
        self._drain("waiting for earlier messages")  # one in flight keeps the old time-out
        with visibility_of(self._stack, self._visibility_seconds):
            self._upload_under_faults()
            before = self._compared("comparing")
            letters = dead_letters(self._stack, {version.row_key for version in self._versions})
            self._redrive(letters)
            after = self._compared("comparing again") if before.missing else before
        return self._report(
            letters=letters,
            lost={*(set(before.missing) - keys_in(letters)), *after.missing},
            wrong={*before.wrong, *after.wrong},
            seconds=time.monotonic() - started,
            log_start=log_bytes,
        )

    def remove_objects(self) -> None:
        """Delete the soak's objects, and wait until their events are handled.

        The emulator answers nobody while it deletes many objects; a message whose worker waited too
        long for it must come back soon.
        """
        soaked = S3Place(self._stack.bucket, PREFIX)
        with visibility_of(self._stack, self._visibility_seconds):
            for _ in emptied_folder(self._stack.client("s3"), soaked, PREFIX.rstrip("/")):
                self._moment("removing the objects")
            self._drain("removing the objects")

    @property
    def _versions(self) -> list[Version]:
        return [version for upload in self._uploads for version in upload.versions]

    def _upload_under_faults(self) -> None:
        workload = Workload(self._stack, self._seed)
        with (
            faulty_proxy(self._aws, self._home, self._faults) as proxy,
            through_proxy(self._stack, proxy.endpoint),
            disturbed(self._workers, proxy, self._faults, self._seed, self._progress),
        ):
            for uploaded in workload.uploaded(range(self._objects), self._backlog):
                self._uploads.append(uploaded)
                self._moment("uploading")
            self._drain("emptying the queue")

    def _progress(self) -> float:
        """The share of the objects that workers have handled, if each message is of another one."""
        return max(0, len(self._uploads) - self._backlog.length) / self._objects

    def _drain(self, step: str) -> None:
        for _ in self._backlog.drain():
            self._moment(step)

    def _redrive(self, letters: list[DeadLetter]) -> None:
        """Send all but the malformed messages back, which are deleted; no faults now."""
        sqs = self._stack.client("sqs")
        for letter in letters:
            if is_malformed(letter):
                sqs.delete_message(
                    QueueUrl=self._stack.dead_letter_queue_url, ReceiptHandle=letter.receipt_handle
                )
        send_back(self._stack, [letter for letter in letters if not is_malformed(letter)])
        self._drain("redriving")

    def _compared(self, step: str) -> Findings:
        self._moment(step)
        return compared(self._stack, self._versions)

    def _moment(self, step: str) -> None:
        faults = sum(self._faults.counts.values())
        self._show(Moment(step, len(self._uploads), self._backlog.length, faults))

    def _report(
        self,
        letters: list[DeadLetter],
        lost: set[RowKey],
        wrong: set[str],
        seconds: float,
        log_start: int,
    ) -> Report:
        versions = self._versions
        markers = sum(upload.markers for upload in self._uploads)
        return Report(
            objects=self._objects,
            seed=self._seed,
            seconds=seconds,
            versions=len(versions),
            size_bytes=sum(version.size_bytes for version in versions),
            archive_members=sum(len(version.members) for version in versions),
            deletions=markers + sum(version.deleted for version in versions),
            duplicates=sum(upload.duplicates for upload in self._uploads),
            malformed=sum(upload.malformed for upload in self._uploads),
            events=sum(upload.events for upload in self._uploads),
            requests=self._faults.requests,
            faults=dict(self._faults.counts),
            dead_letters=len(letters),
            without_reason=sum(letter.document.reason is None for letter in letters),
            malformed_dead=len(
                {
                    letter.document.body
                    for letter in letters
                    if is_malformed(letter) and letter.document.reason
                }
            ),
            lost=tuple(sorted(map(str, lost))),
            wrong=tuple(sorted(wrong)),
            memory=tuple(self._workers.memory()),
            log=log_volume(self._home / "gateway.log", log_start),
        )
