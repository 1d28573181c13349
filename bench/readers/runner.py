"""Readers in turns in one configuration; every digest is compared."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.readers import implementations
from bench.readers.environments import Environments
from bench.readers.registry import ComparedReader
from bench.readers.samples import ReaderOutcome, ReaderSample
from bench.sandbox.objects import BUCKET, StoredObject
from bench.sandbox.sandbox import Inside, Sandbox
from bench.sandbox.server import Server
from bucketsum_cli.machine.json_lines import NoAnswerError

_READY_SECONDS: Final = 120.0
_SLOWEST_BYTES_PER_S: Final = 3e6


@dataclass(slots=True)
class Runner:
    """Runs readers in a sandbox, against its server, for the *known* object."""

    sandbox: Sandbox
    server: Server
    known: StoredObject
    environments: Environments
    folder: Path
    _burst_full_at: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        # calibration has used an unknown part of the burst
        self._use_link(self.sandbox.profile.burst_bytes)

    def rounds(self, entries: Sequence[ComparedReader], rounds: int) -> Iterator[ReaderSample]:
        """Every entry once per round; each round begins with another entry."""
        for number in range(rounds):
            for entry in rotated(entries, number):
                yield self.sample(entry, number)

    def sample(self, entry: ComparedReader, number: int) -> ReaderSample:
        """One reading in a fresh process; a failure is a sample, too."""
        log = self.folder / "reader.log"
        log.write_bytes(b"")
        command = [str(self.environments.python), "-m", implementations.__name__]
        inside = self.sandbox.start(command, self._environment(), log)
        measured: dict[str, Any] = {}
        try:
            measured = self._measure(inside, self._job(entry))
            sha1 = measured.pop("sha1")
            outcome = ReaderOutcome.GOOD if sha1 == self.known.sha1 else ReaderOutcome.WRONG
            detail = f"got {sha1}"
        except NoAnswerError as error:
            outcome = ReaderOutcome.TIMED_OUT if error.timed_out else ReaderOutcome.FAILED
            detail = (log.read_text(errors="replace").strip().splitlines() or [""])[-1]
        finally:
            kills = self.sandbox.finish(inside)
            self._use_link(self.known.size_bytes)
        if outcome is ReaderOutcome.GOOD:
            return ReaderSample(entry.name, number, outcome, **measured, kills=kills)
        outcome = ReaderOutcome.OUT_OF_MEMORY if kills else outcome
        return ReaderSample(entry.name, number, outcome, kills=kills, detail=detail)

    def _measure(self, inside: Inside, job: dict[str, Any]) -> dict[str, Any]:
        inside.ask(job, _READY_SECONDS + self._longest_seconds)
        inside.limit_cpu()
        if self.sandbox.profile.warm:
            self._use_link(self.known.size_bytes)
        self.rest()
        earlier_gets = self.server.request_count()
        measured = inside.ask("go", self._longest_seconds)
        return measured | {"gets": self.server.request_count() - earlier_gets}

    @property
    def _longest_seconds(self) -> float:
        return 60 + self.known.size_bytes / _SLOWEST_BYTES_PER_S

    def _use_link(self, size_bytes: int) -> None:
        """Record link use, and when the burst allowance will have refilled."""
        profile = self.sandbox.profile
        now = time.monotonic()
        spent = min(profile.burst_bytes, size_bytes) / profile.link_bytes_per_s
        longest = profile.burst_bytes / profile.link_bytes_per_s
        self._burst_full_at = min(max(now, self._burst_full_at) + spent, now + longest)

    def rest(self) -> None:
        """Wait until the burst allowance is full; a link without a burst needs no wait."""
        time.sleep(max(0.0, self._burst_full_at - time.monotonic()))

    def _job(self, entry: ComparedReader) -> dict[str, Any]:
        return {
            "reader": entry.reader,
            "options": entry.options,
            "warm": self.sandbox.profile.warm,
            "target": {
                "endpoint": self.server.endpoint,
                "certificates": str(self.server.certificates),
                "bucket": BUCKET,
                "key": self.known.key,
                "size_bytes": self.known.size_bytes,
                "memory_mb": self.sandbox.profile.memory_mb,
                "programs": self.environments.programs,
            },
        }

    def _environment(self) -> dict[str, str]:
        return {
            **self.server.client_environment(self.folder),
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(self.sandbox.profile.memory_mb),
            "RCLONE_S3_PROVIDER": "Other",
            "RCLONE_S3_ENV_AUTH": "true",
            "RCLONE_S3_ENDPOINT": self.server.endpoint,
        }


def rotated(entries: Sequence[ComparedReader], number: int) -> list[ComparedReader]:
    """*entries*, starting with another one each round."""
    start = number % len(entries)
    return [*entries[start:], *entries[:start]]
