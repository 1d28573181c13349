"""Readers in turns in one shape: samples, each with its digest compared."""

from __future__ import annotations

import json
import os
import select
import time
from typing import TYPE_CHECKING, Any, Final

from bench.box.objects import BUCKET
from bench.box.server import PROJECT
from bench.readers.samples import FAILED, GOOD, OUT_OF_MEMORY, TIMED_OUT, WRONG, Sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bench.box.box import Box, Inside
    from bench.box.objects import KnownObject
    from bench.box.server import Server
    from bench.readers.registry import Entry
    from bench.readers.rivals import Peers

_READY_SECONDS: Final = 120.0
_SLOWEST_BYTES_PER_S: Final = 3e6


class _SilentError(Exception):
    """The reader ended, or said nothing in time."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Runner:
    """Runs readers in a box, against its server."""

    def __init__(
        self, box: Box, server: Server, known: KnownObject, peers: Peers, folder: Path
    ) -> None:
        self._box = box
        self._server = server
        self._known = known
        self._peers = peers
        self._folder = folder
        self._rested_at = 0.0
        self._tire(box.profile.burst_bytes)  # what calibration has left of the burst is not known

    def rounds(self, entries: Sequence[Entry], rounds: int) -> Iterator[Sample]:
        """Every entry once per round, each round beginning with another one."""
        for number in range(rounds):
            for entry in turned(entries, number):
                yield self.sample(entry, number)

    def sample(self, entry: Entry, number: int) -> Sample:
        """One reading in a fresh process; what goes wrong in it is a sample, too."""
        log = self._folder / "reader.log"
        log.write_bytes(b"")
        inside = self._box.start(self._command(), self._environment(), log, cwd=PROJECT)
        outcome, told = FAILED, {}
        try:
            told = self._conversation(inside, self._job(entry))
            outcome = GOOD if told["sha1"] == self._known.sha1 else WRONG
        except _SilentError as silent:
            outcome = silent.outcome
        finally:
            kills = self._box.finish(inside)
            self._tire(self._known.size_bytes)
        if outcome != GOOD:
            outcome = OUT_OF_MEMORY if kills else outcome
            detail = f"got {told['sha1']}" if told else _end_of(log)
            return Sample(entry.name, number, outcome, kills=kills, detail=detail)
        del told["sha1"]
        return Sample(entry.name, number, outcome, **told, kills=kills)

    def _conversation(self, inside: Inside, job: dict[str, Any]) -> dict[str, Any]:
        _say(inside, json.dumps(job))
        _hear(inside, _READY_SECONDS + self._longest)
        inside.limit_cpu()
        if self._box.profile.warm:
            self._tire(self._known.size_bytes)
        self.rest()
        _say(inside, "go")
        return _hear(inside, self._longest)

    @property
    def _longest(self) -> float:
        return 60 + self._known.size_bytes / _SLOWEST_BYTES_PER_S

    def _tire(self, size_bytes: int) -> None:
        """So much has come over the link: note when its burst is whole again."""
        profile = self._box.profile
        now = time.monotonic()
        spent = min(profile.burst_bytes, size_bytes) / profile.link_bytes_per_s
        longest = profile.burst_bytes / profile.link_bytes_per_s
        self._rested_at = min(max(now, self._rested_at) + spent, now + longest)

    def rest(self) -> None:
        """Wait until the burst is whole again; at once where the link has none."""
        time.sleep(max(0.0, self._rested_at - time.monotonic()))

    def _job(self, entry: Entry) -> dict[str, Any]:
        return {
            "reader": f"bench.readers.ways.{entry.reader}",
            "options": filled(entry.options, self._peers.programs),
            "warm": self._box.profile.warm,
            "target": {
                "endpoint": self._server.endpoint,
                "certificates": str(self._server.certificates),
                "bucket": BUCKET,
                "key": self._known.key,
                "size_bytes": self._known.size_bytes,
                "memory_mb": self._box.profile.memory_mb,
            },
        }

    def _command(self) -> list[str]:
        return [str(self._peers.python), "-m", "bench.readers.harness"]

    def _environment(self) -> dict[str, str]:
        certificates = str(self._server.certificates)
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "PYTHONPATH": f"{PROJECT}:{PROJECT / 'layers' / 'bucketsum'}",
            "HOME": str(self._folder),
            "LANG": "C.UTF-8",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL_S3": self._server.endpoint,
            "AWS_CA_BUNDLE": certificates,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(self._box.profile.memory_mb),
            "SSL_CERT_FILE": certificates,
            "RCLONE_S3_PROVIDER": "Other",
            "RCLONE_S3_ENV_AUTH": "true",
            "RCLONE_S3_ENDPOINT": self._server.endpoint,
        }


def turned(entries: Sequence[Entry], number: int) -> list[Entry]:
    """*entries* beginning with another one each round, so that none is always first."""
    start = number % len(entries)
    return [*entries[start:], *entries[:start]]


def filled(options: dict[str, Any], programs: dict[str, str]) -> dict[str, Any]:
    """*options* with the programs' paths in the places that are left for them."""
    return {
        name: [text.format(**programs) for text in value] if isinstance(value, list) else value
        for name, value in options.items()
    }


def _say(inside: Inside, line: str) -> None:
    assert inside.process.stdin is not None  # noqa: S101 - made with pipes
    try:
        inside.process.stdin.write(f"{line}\n")
        inside.process.stdin.flush()
    except BrokenPipeError:
        raise _SilentError(FAILED) from None


def _hear(inside: Inside, seconds: float) -> dict[str, Any]:
    pipe = inside.process.stdout
    assert pipe is not None  # noqa: S101 - made with pipes
    if not select.select([pipe], [], [], seconds)[0]:
        raise _SilentError(TIMED_OUT)
    line = pipe.readline()  # the harness writes whole lines
    if not line:
        raise _SilentError(FAILED)
    answer: dict[str, Any] = json.loads(line)
    return answer


def _end_of(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
