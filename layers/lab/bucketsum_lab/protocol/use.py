"""Use of CPU, network, disk and memory over time, and the names of bottlenecks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from enum import StrEnum
from typing import Any, Final, TypeAlias

INTERVALS_MAX: Final = 60
"""A longer curve is stored with longer intervals: an item of DynamoDB has at most 400 KB."""

_Number: TypeAlias = "int | float"


class UseLimit(StrEnum):
    """Bottleneck of a cell."""

    CPU = "cpu"
    """All CPUs, or one thread that never pauses."""
    CPU_SHARE = "cpu share"
    """The control group's CPU quota, which follows from the memory."""
    NETWORK = "network"
    DISK = "disk"
    WAITING = "waiting"
    """Latency: nothing is at its limit."""


@dataclass(frozen=True, slots=True)
class Use:
    """Use in one interval, of about a second; None is what the system does not tell."""

    seconds: float
    user: float | None = None
    """CPU seconds of the process and its children, as `system`."""
    system: float | None = None
    busiest: float | None = None
    """CPU seconds of the busiest thread."""
    wait: float | None = None
    """Seconds in which CPUs of the machine were idle and waited for a disk."""
    stolen: float | None = None
    """CPU seconds that the hypervisor gave to others."""
    throttled: float | None = None
    """Seconds for which the control group was throttled."""
    received_bytes: int | None = None
    sent_bytes: int | None = None
    read_bytes: int | None = None
    """From the disk: what the page cache has is not counted."""
    written_bytes: int | None = None
    memory_bytes: int | None = None
    """Resident memory at the end of the interval."""

    @property
    def cpu(self) -> float | None:
        """CPU seconds of the process."""
        return None if self.user is None or self.system is None else self.user + self.system

    @property
    def network_bytes(self) -> int | None:
        """Bytes of the busier direction."""
        known = [count for count in (self.received_bytes, self.sent_bytes) if count is not None]
        return max(known, default=None)

    @property
    def disk_bytes(self) -> int | None:
        """Bytes of both directions."""
        known = [count for count in (self.read_bytes, self.written_bytes) if count is not None]
        return sum(known) if known else None


_NAMES: Final = tuple(field.name for field in fields(Use))


@dataclass(frozen=True, slots=True)
class UseCurve:
    """Use over the time of a sample, which includes its preparations."""

    cores: int
    """CPUs of the machine that the process may use."""
    quota: float | None
    """CPUs that the control group allows; None without a limit, or if it is not known."""
    uses: tuple[Use, ...]

    def to_json(self) -> dict[str, Any]:
        """The curve with a list for each quantity: one number for each interval."""
        columns = zip(*map(astuple, self.uses), strict=True)
        return {
            "cores": self.cores,
            "quota": self.quota,
            **dict(zip(_NAMES, columns, strict=False)),
        }

    def to_text(self) -> str:
        """`to_json` as a text of one line, with at most `INTERVALS_MAX` intervals."""
        step = -(-len(self.uses) // INTERVALS_MAX) or 1
        groups = (self.uses[first : first + step] for first in range(0, len(self.uses), step))
        merged = UseCurve(self.cores, self.quota, tuple(map(_merged, groups)))
        return json.dumps(merged.to_json(), separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> UseCurve:
        """The inverse of `to_text`.

        Raises:
            ValueError: It is not such a text.
        """
        try:
            document = json.loads(text)
            columns = [[_checked(value) for value in document.get(name, ())] for name in _NAMES]
            uses = tuple(Use(*values) for values in zip(*columns, strict=True))
            return cls(int(document["cores"]), _checked(document["quota"]), uses)
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("not a curve of use") from error


def _checked(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise TypeError("not a number")
    return value


def _merged(uses: Sequence[Use]) -> Use:
    """One interval in place of *uses*, one after the other."""
    *sums, memory = zip(*map(astuple, uses), strict=True)
    values: list[Any] = [*map(_sum, sums), memory[-1]]
    return Use(*values)


def _sum(values: Sequence[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return round(sum(known), 4) if len(known) == len(values) else None
