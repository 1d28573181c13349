"""What a person asks of a sweep: JSON → frozen SweepInput, or an error that names the field."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from bucketsum.errors import BadSweep
from bucketsum.sweep.axes import AXES, Setting, Workload, settings_in
from bucketsum.sweep.fields import Fields, among, boolean, number, text, whole
from bucketsum.sweep.strategy import Strategy, strategy_from

OBJECT_BYTES_MAX: Final = 30_000_000_000
"""One invocation has to write it in 900 s, and one to read it at 128 MB of memory."""

ARCHIVE_BYTES_MIN: Final = 1_000_000
ARCHIVE_BYTES_MAX: Final = 2_000_000_000
"""Of archives that the sweep makes: small members find room, and none needs Zip64."""

WEAK_BELOW_RUNS: Final = 5
"""Fewer runs of a cell than this say little about its spread."""

DEFAULT_RUNS: Final = 5
_RUNS_MAX: Final = 1000
CONCURRENCY_MAX: Final = 40
"""[A] An inline Map runs at most 40 iterations at once."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a sweep may come to by the planner's estimate; None is no limit.

    Attributes:
        max_usd: US dollars for Lambda.
        max_seconds: Wall time.
    """

    max_usd: float | None = None
    max_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class SweepInput:
    """A sweep as asked for. Every cell is a setting × an object × a concurrency.

    Attributes:
        settings: What is varied, in the order asked for, each once.
        object_bytes: Sizes of objects, or archives, that the sweep makes itself; or else
        keys: objects that lie in the sweep's bucket, with their SHA-1 in the metadata ``sha1``.
        concurrency: How many invocations of a cell run at once.
        workload: What is done with an object's bytes.
        runs: How often each cell is measured.
        strategy: How the recommended setting is chosen.
        warm_up: Whether each version is invoked before it is measured; those samples are kept
            as run 0 and count for cold starts alone.
        limits: What the sweep may cost and last.
    """

    settings: tuple[Setting, ...]
    object_bytes: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()
    concurrency: tuple[int, ...] = (1,)
    workload: Workload = Workload.HASH
    runs: int = DEFAULT_RUNS
    strategy: Strategy = field(default_factory=Strategy)
    warm_up: bool = True
    limits: Limits = field(default_factory=Limits)

    @property
    def weak(self) -> bool:
        """Whether there are too few runs for the spread to mean much."""
        return self.runs < WEAK_BELOW_RUNS

    @property
    def memory_mb(self) -> tuple[int, ...]:
        """Memory sizes in the order asked for, each once."""
        return tuple(dict.fromkeys(setting.memory_mb for setting in self.settings))

    @classmethod
    def from_json(cls, raw: object) -> SweepInput:
        """Read a sweep's input.

        Raises:
            BadSweep: A field is missing, unknown, of another type or out of range.
        """
        fields = Fields("", raw, _KNOWN)
        workload = fields.one("workload", among(Workload), Workload.HASH)
        object_bytes, keys = _objects(fields, workload)
        return cls(
            settings=settings_in(fields, workload),
            object_bytes=object_bytes,
            keys=keys,
            concurrency=fields.many("concurrency", whole(1, CONCURRENCY_MAX), (1,)),
            workload=workload,
            runs=fields.one("runs", whole(1, _RUNS_MAX), DEFAULT_RUNS),
            strategy=fields.one("strategy", strategy_from, Strategy()),
            warm_up=fields.one("warm_up", boolean, default=True),
            limits=fields.one("limits", _limits, Limits()),
        )


_KNOWN: Final = (
    "object_bytes", "keys", *AXES, "concurrency", "workload", "runs", "strategy", "warm_up",
    "limits",
)  # fmt: skip
_SIZES: Final = {
    Workload.HASH: whole(1, OBJECT_BYTES_MAX),
    Workload.UNZIP: whole(ARCHIVE_BYTES_MIN, ARCHIVE_BYTES_MAX),
}


def _objects(fields: Fields, workload: Workload) -> tuple[tuple[int, ...], tuple[str, ...]]:
    if ("object_bytes" in fields) == ("keys" in fields):
        raise BadSweep(
            "give either object_bytes (sizes; the sweep makes the objects) or keys (objects in "
            "the sweep's bucket)"
        )
    return fields.many("object_bytes", _SIZES[workload]), fields.many("keys", text)


def _limits(place: str, raw: object) -> Limits:
    fields = Fields(place, raw, ("max_usd", "max_seconds"))
    return Limits(
        max_usd=fields.one("max_usd", number(0, 1e6), None),
        max_seconds=fields.one("max_seconds", number(0, 31_536_000), None),
    )
