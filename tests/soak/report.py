"""The result of a soak."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bench.tables.table import Table
from tests.soak.faults import FaultKind
from tests.soak.log_volume import LogVolume
from tests.soak.workers import Memory

from bucketsum_cli.terminal.formatting import size_text

MEMORY_SPREAD_MAX: Final = 0.05
MEMORY_FROM_OBJECTS: Final = 1_000
"""With fewer, a worker's first archive may come late; it loads 6 MB of modules."""

LOG_BYTES_MAX: Final = 4_000
"""Bytes of the functions' log lines and metrics for each event, retries included."""


@dataclass(frozen=True, slots=True)
class Report:
    """The work done, the events during it, and the verdict.

    Attributes:
        objects: Planned objects.
        seed: Seed of the workload and of the faults.
        seconds: From the first upload to the empty queue after the redrive.
        versions: Versions uploaded.
        size_bytes: Their bytes.
        archive_members: Members of the archives among them, if archives are read.
        deletions: Versions deleted for ever, and delete markers.
        duplicates: Repeated events.
        malformed: Malformed messages.
        events: All messages that this made.
        requests: Requests of workers.
        faults: Kind → number.
        dead_letters: Messages in the dead-letter queue before the redrive, malformed ones included.
        without_reason: Those that the hasher did not give a reason: SQS moved them.
        malformed_dead: Malformed messages that are among them with a reason, once or more often.
        lost: Versions without a row and without a dead letter, or without a row after the redrive.
        wrong: Rows that contradict a version.
        memory: Memory of each worker that lived long enough.
        log: Bytes of log lines.
    """

    objects: int
    seed: int
    seconds: float
    versions: int
    size_bytes: int
    archive_members: int
    deletions: int
    duplicates: int
    malformed: int
    events: int
    requests: int
    faults: Mapping[FaultKind, int]
    dead_letters: int
    without_reason: int
    malformed_dead: int
    lost: tuple[str, ...]
    wrong: tuple[str, ...]
    memory: tuple[Memory, ...]
    log: LogVolume

    def problems(self) -> Iterator[str]:
        """Everything that should not be, in words."""
        yield from (f"lost: {name}" for name in self.lost)
        yield from (f"wrong: {name}" for name in self.wrong)
        if self.malformed_dead != self.malformed:
            yield f"{self.malformed_dead} of {self.malformed} malformed messages have a reason"
        for memory in self.memory:
            if self.objects >= MEMORY_FROM_OBJECTS and memory.spread > MEMORY_SPREAD_MAX:
                yield f"the memory of a worker is not flat: {_megabytes(memory)}"
        if self.log_bytes_per_event > LOG_BYTES_MAX:
            yield f"{self.log_bytes_per_event:,.0f} bytes of log lines for each event"

    @property
    def log_bytes_per_event(self) -> float:
        """Bytes of the functions' log lines and metrics for each event."""
        return self.log.functions / self.events

    def table(self) -> Table:
        """All of it, for a terminal and a document."""
        rows = (
            ("objects planned", f"{self.objects:,}"),
            ("seed", str(self.seed)),
            ("versions uploaded", f"{self.versions:,} ({size_text(self.size_bytes)})"),
            ("members of archives", f"{self.archive_members:,}"),
            ("deletions and delete markers", f"{self.deletions:,}"),
            ("repeated events", f"{self.duplicates:,}"),
            ("malformed messages", f"{self.malformed:,}"),
            ("time", f"{self.seconds:,.0f} s"),
            ("requests of workers", f"{self.requests:,}"),
            *((str(kind), f"{count:,}") for kind, count in sorted(self.faults.items())),
            ("messages in the dead-letter queue before the redrive", f"{self.dead_letters:,}"),
            ("without the hasher's reason", f"{self.without_reason:,}"),
            ("malformed messages there, with a reason", f"{self.malformed_dead:,}"),
            ("**lost**", f"**{len(self.lost):,}**"),
            ("**wrong**", f"**{len(self.wrong):,}**"),
            ("memory of a worker", "; ".join(map(_megabytes, self.memory)) or "not measured"),
            ("log lines and metrics for each event", f"{self.log_bytes_per_event:,.0f} bytes"),
        )
        return Table("soak", ("measure", "value"), rows)

    def as_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            name: getattr(self, name)
            for name in (
                "objects", "seed", "seconds", "versions", "size_bytes", "archive_members",
                "deletions", "duplicates", "malformed", "events", "requests", "dead_letters",
                "without_reason", "lost", "wrong",
            )
        } | {
            "faults": {str(kind): count for kind, count in self.faults.items()},
            "memory_mb": [memory.medians_mb for memory in self.memory],
            "log_bytes_per_event": self.log_bytes_per_event,
            "problems": list(self.problems()),
        }  # fmt: skip


def _megabytes(memory: Memory) -> str:
    return f"{memory.middle_mb:.1f} MB ± {memory.spread:.1%}"
