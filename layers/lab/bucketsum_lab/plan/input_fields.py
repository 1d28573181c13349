"""Fields of a sweep's input: parser, options, documents and errors follow from this table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

from bucketsum.memory import CHUNK_BYTES_MAX, CHUNK_BYTES_MIN
from bucketsum.s3.read_plan import AUTO_STREAMS, STREAMS_MAX
from bucketsum_lab.protocol.fields import Fields, Reader, among, boolean, number, several, whole
from bucketsum_lab.protocol.fields import text as any_text
from bucketsum_lab.protocol.parameters import MEMORY_MB_MAX, MEMORY_MB_MIN, Value, stream_count
from bucketsum_lab.workloads import OWN_PARAMETERS, WorkloadName

T = TypeVar("T")

CONCURRENCY_MAX: Final = 40
"""[A] An inline Map runs at most 40 iterations at once."""

_RUNS_MAX: Final = 1000


class StrategyName(StrEnum):
    """The aim of a recommendation."""

    CHEAPEST = "cheapest"
    FASTEST = "fastest"
    BALANCED = "balanced"
    CHEAPEST_AT_LEAST = "cheapest-at-least"
    """The cheapest of those that reach ``mb_per_s``."""
    FASTEST_BELOW = "fastest-below"
    """The fastest of those that cost at most ``usd_per_gb``."""


@dataclass(frozen=True, slots=True)
class Field(Generic[T]):
    """A field that every workload has; those of `limits` and `strategy` have dotted names."""

    name: str
    read: Reader[T] = any_text  # type: ignore[assignment] # of a field that is read with others
    default: Any = None
    """The value if the input has none; None if it must have one, or may go without."""
    kind: str = ""
    """Its type in the documents; fields without are documented with another."""
    meaning: str = ""
    """Its meaning in the documents."""
    option: str = ""
    """The command's option for it, if there is one."""
    metavar: str = ""
    help: str = ""

    @property
    def leaf(self) -> str:
        """Its name in the object that it is a field of."""
        return self.name.rpartition(".")[2]

    @property
    def parameter(self) -> str:
        """Name of the option's value in the command."""
        return self.name.replace(".", "_")

    def of(self, fields: Fields) -> T:
        """The value in *fields*, or the default."""
        value: T = fields.optional(self.leaf, self.read, self.default)
        return value

    def needed(self, fields: Fields) -> T:
        """The value in *fields*.

        Raises:
            BadSweep: It is absent.
        """
        return fields.needed(self.leaf, self.read)


def _choices(names: type[StrEnum], default: str) -> str:
    return ", ".join(f"{name} (default)" if name == default else name for name in names)


MEMORY_MB: Final = whole(MEMORY_MB_MIN, MEMORY_MB_MAX)
CHUNK_BYTES: Final = whole(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX)

CHUNK_BYTES_DEFAULT: Final = 1_048_576
"""The template's default, for settings with which it has no effect."""

MEMORY: Final = Field(
    "memory_mb", several(MEMORY_MB), kind=f"list of {MEMORY_MB_MIN:,} to {MEMORY_MB_MAX:,}",
    meaning="memory sizes, as Lambda counts them",
    option="memory", metavar="MB,...", help="Memory sizes, for example 128,512,1769.",
)  # fmt: skip
CHUNKS: Final = Field(
    "chunk_bytes", several(CHUNK_BYTES), kind=f"list of {CHUNK_BYTES_MIN:,} to {CHUNK_BYTES_MAX:,}",
    meaning="size of a part; needed if `streams` has a number above 1, unless the next table has "
    "a default",
    option="chunk", metavar="SIZE,...", help="Chunk sizes, for example 256KiB,10MB.",
)  # fmt: skip
OBJECT_BYTES: Final[Field[tuple[int, ...]]] = Field(
    "object_bytes", default=(), kind="list of sizes",
    meaning="sizes of objects, archives or data sets to generate, as in the next table. Give "
    "either this field or `keys`",
    option="object-size", metavar="SIZE,...",
    help="Sizes of objects to generate, such as 100MB,1GB.",
)  # fmt: skip
KEYS: Final = Field(
    "keys", several(any_text), default=(), kind="list of texts",
    meaning="objects in the bucket `SweepBucketName`, with their SHA-1 in the metadata `sha1`",
    option="key", metavar="KEY",
    help="Object in the stack's SweepBucket, or in --bucket; may be repeated.",
)  # fmt: skip
PAIRS: Final[Field[tuple[tuple[int, int], ...]]] = Field(
    "pairs", kind='list of `{"memory_mb", "chunk_bytes"}`',
    meaning="exactly these pairs, instead of the two fields above",
)  # fmt: skip
STREAMS: Final[Field[tuple[Value, ...]]] = Field(
    # the default is the hasher's own, so that applying a result changes no more
    "streams", several(stream_count), default=(AUTO_STREAMS,),
    kind=f"list of 1 to {STREAMS_MAX} and `{AUTO_STREAMS}`", meaning="connections per object",
    option="streams", metavar="N,...",
    help=f"Connections per object: 1 to {STREAMS_MAX}, or auto (default).",
)  # fmt: skip
WORKLOAD: Final = Field(
    "workload", among(WorkloadName), default=WorkloadName.HASH,
    kind=", ".join(f"`{name}`" for name in WorkloadName), meaning="what to do with the objects",
    option="workload", metavar="NAME",
    help=f"The work to measure: {_choices(WorkloadName, WorkloadName.HASH)}; "
    "docs/reference/sweeps.md explains them, and --workload NAME --help shows the options of one.",
)  # fmt: skip
CONCURRENCY: Final = Field(
    "concurrency", several(whole(1, CONCURRENCY_MAX)), default=(1,),
    kind=f"list of 1 to {CONCURRENCY_MAX}", meaning="concurrent invocations of a cell",
    option="concurrency", metavar="N,...", help="Concurrent invocations per cell; 1 by default.",
)  # fmt: skip
RUNS: Final = Field(
    "runs", whole(1, _RUNS_MAX), default=5, kind=f"1 to {_RUNS_MAX:,}",
    meaning="how often each cell is measured",
    option="runs", metavar="N", help="Measurements of each cell; 5 by default.",
)  # fmt: skip
STRATEGY: Final = Field(
    "strategy.name", among(StrategyName), default=StrategyName.CHEAPEST,
    option="strategy", metavar="NAME",
    help=f"Setting to recommend: {_choices(StrategyName, StrategyName.CHEAPEST)}.",
)  # fmt: skip
WEIGHT: Final = Field(
    "strategy.weight", number(0, 1), default=0.5, option="weight", metavar="0..1",
    help="With --strategy balanced: weight of cost, from 0 (speed alone) to 1 (cost alone); 0.5 by "
    "default.",
)  # fmt: skip
MB_PER_S: Final = Field(
    "strategy.mb_per_s", number(0.001, 1e6), option="mb-per-s", metavar="X",
    help="With --strategy cheapest-at-least: minimum MB/s.",
)  # fmt: skip
USD_PER_GB: Final = Field(
    "strategy.usd_per_gb", number(1e-9, 1e3), option="usd-per-tb", metavar="X",
    help="With --strategy fastest-below: maximum USD per TB.",
)  # fmt: skip
WARM_UP: Final = Field(
    "warm_up", boolean, default=True, kind="true, false",
    meaning="invoke each version once before measuring",
)  # fmt: skip
MAX_USD: Final = Field(
    "limits.max_usd", number(0, 1e6), default=5.0, option="max-usd", metavar="X",
    help="Refuse a higher estimated cost; 5 by default.",
)  # fmt: skip
MAX_SECONDS: Final = Field("limits.max_seconds", number(0, 31_536_000))

FIELDS: Final[tuple[Field[Any], ...]] = (
    OBJECT_BYTES, KEYS, MEMORY, CHUNKS, PAIRS, STREAMS, CONCURRENCY, WORKLOAD, RUNS,
    Field("strategy", default={"name": STRATEGY.default}, kind="object",
          meaning="the rule for the recommendation"),
    STRATEGY, WEIGHT, MB_PER_S, USD_PER_GB, WARM_UP,
    Field("limits", default={"max_usd": MAX_USD.default}, kind='`{"max_usd", "max_seconds"}`',
          meaning="refuse a sweep with a higher estimated cost in US dollars, or duration"),
    MAX_USD, MAX_SECONDS,
)  # fmt: skip
"""In the order of the documents."""

PARAMETER_OF: Final = {
    StrategyName.BALANCED: WEIGHT,
    StrategyName.CHEAPEST_AT_LEAST: MB_PER_S,
    StrategyName.FASTEST_BELOW: USD_PER_GB,
}
"""Strategy → the field that is its own."""


def known_in(place: str = "") -> tuple[str, ...]:
    """Names of the fields of the object at *place* of the input; "" is the whole of it."""
    shared = tuple(field.leaf for field in FIELDS if field.name.rpartition(".")[0] == place)
    return shared if place else (*shared, *OWN_PARAMETERS)
