"""What a sweep varies: the fields of its input that are lists of settings → every Setting."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import TYPE_CHECKING, Final

from bucketsum.errors import BadSweep
from bucketsum.s3.read_plan import STREAMS_MAX, ReadPolicy
from bucketsum.settings import AUTO_STREAMS, CHUNK_BYTES_MAX, CHUNK_BYTES_MIN
from bucketsum.sweep.fields import Fields, among, whole

if TYPE_CHECKING:
    from collections.abc import Iterable

MEMORY_MB_MIN: Final = 128
MEMORY_MB_MAX: Final = 10_240

MODES: Final = ("stream", "tmp", "discard")
"""`bucketsum.archives.model.Mode`; the planner does without what reads archives."""

ENGINES: Final = ("isal", "zlib")
"""What can inflate where the layer has all its wheels, the hasher's own first."""


class Workload(StrEnum):
    """What is done with an object's bytes."""

    HASH = "hash"
    UNZIP = "unzip"
    """The object is a zip archive; its members are hashed too."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is measured; what of it can be deployed says `bucketsum.sweep.recommend`.

    Attributes:
        memory_mb: The function's memory in MiB, as Lambda counts.
        chunk_bytes: Bytes of a part, where several streams read; what botocore reads at a time.
        streams: Connections that read one object; `AUTO_STREAMS` leaves them to the rule.
        mode: How an archive is read, one of `MODES`; None where none is.
        inflate: What inflates its members, one of `ENGINES`; None where there are none.
    """

    memory_mb: int
    chunk_bytes: int
    streams: int | str = AUTO_STREAMS
    mode: str | None = None
    inflate: str | None = None

    @property
    def order(self) -> tuple[int, ...]:
        """Where it stands among others: modes and engines as they are listed here."""
        return (
            self.memory_mb,
            self.chunk_bytes,
            STREAMS_MAX + 1 if isinstance(self.streams, str) else self.streams,
            MODES.index(self.mode) if self.mode else 0,
            ENGINES.index(self.inflate) if self.inflate else 0,
        )

    @property
    def reading(self) -> ReadPolicy:
        """How the function reads an object with it."""
        count = None if self.streams == AUTO_STREAMS else int(self.streams)
        return ReadPolicy(count, self.chunk_bytes, self.memory_mb)


AXES: Final = ("memory_mb", "chunk_bytes", "pairs", "streams", "mode", "inflate")
"""Names of the fields that `settings_in` reads."""

_MEMORY_MB: Final = whole(MEMORY_MB_MIN, MEMORY_MB_MAX)
_CHUNK_BYTES: Final = whole(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX)


def settings_in(fields: Fields, workload: Workload) -> tuple[Setting, ...]:
    """Every combination that is asked for, each once.

    Raises:
        BadSweep: A field is missing, out of range, or means nothing to the workload.
    """
    rule: int | str = AUTO_STREAMS  # the hasher's own, so applying a result changes nothing else
    streams = fields.many("streams", _streams, (rule,))
    ways = _ways(fields, workload)
    return tuple(
        Setting(*pair, count, *way) for pair, count, way in product(_pairs(fields), streams, ways)
    )


def _streams(place: str, raw: object) -> int | str:
    if raw == AUTO_STREAMS:
        return AUTO_STREAMS
    try:
        return whole(1, STREAMS_MAX)(place, raw)
    except BadSweep as error:
        raise BadSweep(f"{error}, nor {AUTO_STREAMS}") from None


def _pairs(fields: Fields) -> Iterable[tuple[int, int]]:
    if "pairs" not in fields:
        sizes = fields.needed_many("memory_mb", _MEMORY_MB)
        return product(sizes, fields.needed_many("chunk_bytes", _CHUNK_BYTES))
    if "memory_mb" in fields or "chunk_bytes" in fields:
        raise BadSweep("give either pairs, or memory_mb and chunk_bytes, not both")
    return fields.many("pairs", _pair)


def _pair(place: str, raw: object) -> tuple[int, int]:
    fields = Fields(place, raw, ("memory_mb", "chunk_bytes"))
    return fields.needed("memory_mb", _MEMORY_MB), fields.needed("chunk_bytes", _CHUNK_BYTES)


def _ways(fields: Fields, workload: Workload) -> Iterable[tuple[str | None, str | None]]:
    if workload is Workload.UNZIP:
        modes = fields.many("mode", among(MODES), MODES[:1])
        return product(modes, fields.many("inflate", among(ENGINES), ENGINES[:1]))
    for name in ("mode", "inflate"):
        if name in fields:
            raise BadSweep(f"{name} means nothing to the workload {workload}")
    return ((None, None),)
