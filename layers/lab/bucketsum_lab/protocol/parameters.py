"""Parameters of a sweep, and a `Setting`: a value for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from bucketsum.s3.read_plan import AUTO_STREAMS, STREAMS_MAX, ReadPolicy
from bucketsum_lab.errors import BadSweep, FieldPlace
from bucketsum_lab.protocol.fields import among, shown, whole

MEMORY_MB_MIN: Final = 128
MEMORY_MB_MAX: Final = 10_240

Value = int | str

SettingOrder = tuple[int, int, int, tuple[int, ...], str]
"""See `Setting.order`."""

Statistic = int | float | str
"""A workload's own attribute of a sample, or statistic of a cell; a list is a text of JSON."""

_STREAMS_IN_ORDER: Final = (*range(1, STREAMS_MAX + 1), AUTO_STREAMS)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of one workload alone; its field in the input is a list of values."""

    name: str
    """The field, and the attribute of stored cells."""
    allowed: tuple[Value, ...] | range
    """Values in the order of tables and plots."""
    label: str = "{}"
    """Text of a value in labels, as ``{} threads``."""
    default: Value | None = None
    """The value if the input gives none; None for the first that is allowed."""
    meaning: str = "{}"
    """Its explanation in the command's help; ``{}`` stands for the allowed values."""
    option: str = ""
    """Name of the command's option if the field's name does not say enough."""

    @property
    def default_value(self) -> Value:
        """The value of a cell whose input gives none."""
        return self.allowed[0] if self.default is None else self.default

    @property
    def option_name(self) -> str:
        """Name of the command's option."""
        return self.option or self.name.replace("_", "-")

    @property
    def choices(self) -> str:
        """The allowed values as a text."""
        if isinstance(self.allowed, range):
            return f"{self.allowed[0]:,} to {self.allowed[-1]:,}"
        return ", ".join(map(str, self.allowed))

    def rank(self, value: Value) -> int:
        """The place of *value* in tables and plots."""
        return self.allowed.index(value)  # type: ignore[arg-type] # a value is of its type

    def read(self, place: FieldPlace, raw: object) -> Value:
        """Check one value of the input.

        Raises:
            BadSweep: It is not allowed.
        """
        if isinstance(self.allowed, range):
            return whole(self.allowed[0], self.allowed[-1])(place, raw)
        return among(self.allowed)(place, raw)


Variant = tuple[tuple[Parameter, Value], ...]
"""A workload's own parameters with a value each, in the workload's order."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The values that a cell measures; `Workload.is_deployable` tells which can be deployed."""

    memory_mb: int
    """The function's memory in MiB, as Lambda counts."""
    chunk_bytes: int
    """Bytes of a range if several streams read an object; read size of botocore."""
    streams: Value = AUTO_STREAMS
    """Connections that read one object, or `AUTO_STREAMS`."""
    variant: Variant = ()
    """Values of the workload's own parameters."""
    disk: str | None = None
    """Folder for temporary files; None for the system's. Only a machine has others."""

    @property
    def order(self) -> SettingOrder:
        """Sort key: memory, chunk size, streams, the ranks of the variant's values, the disk."""
        ranks = tuple(parameter.rank(value) for parameter, value in self.variant)
        streams = _STREAMS_IN_ORDER.index(self.streams)
        return self.memory_mb, self.chunk_bytes, streams, ranks, self.disk or ""

    @property
    def own(self) -> dict[str, Value]:
        """Values of the workload's own parameters by name."""
        return {parameter.name: value for parameter, value in self.variant}

    @property
    def values(self) -> dict[str, Value]:
        """All values by name."""
        shared = {"memory_mb": self.memory_mb, "chunk_bytes": self.chunk_bytes}
        disk: dict[str, Value] = {} if self.disk is None else {"disk": self.disk}
        return {**shared, "streams": self.streams, **self.own, **disk}

    @property
    def chunk_has_effect(self) -> bool:
        """Whether the chunk size matters: libcurl and the rule of ``auto`` choose sizes."""
        return has_parts(self.streams)

    def equals(self, other: Setting) -> bool:
        """Whether it equals *other*; a chunk size without an effect is ignored."""
        alike = self if self.chunk_has_effect else replace(self, chunk_bytes=other.chunk_bytes)
        return alike == other

    @property
    def read_policy(self) -> ReadPolicy:
        """The policy with which the function reads an object."""
        return read_policy(self.streams, self.chunk_bytes, self.memory_mb)


def has_parts(streams: Value) -> bool:
    """Whether *streams* connections read parts of an object, each of the chunk size."""
    return isinstance(streams, int) and streams > 1


def read_policy(streams: Value, chunk_bytes: int, memory_mb: int) -> ReadPolicy:
    """The policy for *streams* connections, or for `AUTO_STREAMS`.

    Raises:
        BadSweep: *streams* is neither.
    """
    if streams not in _STREAMS_IN_ORDER:
        raise BadSweep(
            FieldPlace("streams"),
            f" is {shown(streams)}, neither {AUTO_STREAMS} nor in 1..{STREAMS_MAX}",
        )
    return ReadPolicy(streams if isinstance(streams, int) else None, chunk_bytes, memory_mb)


def stream_count(place: FieldPlace, raw: object) -> Value:
    """Check one value of ``streams``.

    Raises:
        BadSweep: It is not allowed.
    """
    if raw == AUTO_STREAMS:
        return AUTO_STREAMS
    try:
        return whole(1, STREAMS_MAX)(place, raw)
    except BadSweep as error:
        raise BadSweep(*error.parts, f", nor {AUTO_STREAMS}") from None
