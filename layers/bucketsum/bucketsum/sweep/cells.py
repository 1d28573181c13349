"""What a sweep measures together, and whether it can be done at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum.settings import BASE_MEMORY_BYTES
from bucketsum.sweep import estimate
from bucketsum.sweep.generated_archive import CONTENT_RATIO
from bucketsum.sweep.prices import FREE_STORAGE_MB

if TYPE_CHECKING:
    from bucketsum.sweep.axes import Setting
    from bucketsum.sweep.prices import Prices

STORAGE_MB_MAX: Final = 10_240
"""[A] The largest /tmp that a function can have."""

_MIB: Final = 1024 * 1024
_KEEPS_ARCHIVE: Final = ("tmp", "discard")
_KEEPS_MEMBERS: Final = ("tmp",)


@dataclass(frozen=True, slots=True)
class PlannedObject:
    """An object that the sweep reads.

    Attributes:
        key: Its key in the sweep's bucket.
        size_bytes: Its size.
        made: Whether the sweep makes it where it is not there yet.
    """

    key: str
    size_bytes: int
    made: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting, one object, one concurrency.

    Attributes:
        setting: What is measured.
        concurrency: Invocations at once.
        number: Index of the object in the plan's objects.
        object: The object.
        prober_storage_mb: The prober's /tmp in MiB.
    """

    setting: Setting
    concurrency: int
    number: int
    object: PlannedObject
    prober_storage_mb: int = FREE_STORAGE_MB

    @property
    def cell_id(self) -> str:
        """Sorts by memory, chunk size, streams, way to unzip, concurrency, object size."""
        one = self.setting
        way = f"-{one.mode}-{one.inflate}" if one.mode else ""
        place = f"o{self.object.size_bytes:012d}"
        if not self.object.made:
            place += f"n{self.number}"  # two objects of one size
        return (
            f"m{one.memory_mb:05d}-c{one.chunk_bytes:09d}-s{one.streams:0>2}{way}"
            f"-k{self.concurrency:02d}-{place}"
        )

    @property
    def storage_mb(self) -> int:
        """The /tmp that is paid for: what costs nothing where the way does not use it."""
        keeps = self.setting.mode in _KEEPS_ARCHIVE
        return self.prober_storage_mb if keeps else FREE_STORAGE_MB

    @property
    def refused(self) -> str | None:
        """Why it is not run, or None."""
        return _memory_refusal(self.setting) or self._storage_refusal()

    @property
    def seconds(self) -> float:
        """How long one invocation is estimated to take."""
        return estimate.probe_seconds(self.setting, self.object.size_bytes)

    def usd(self, prices: Prices) -> float:
        """What all invocations of a run are estimated to cost."""
        one = prices.invocation_usd(self.seconds * 1000, self.setting.memory_mb, self.storage_mb)
        return one * self.concurrency

    def _storage_refusal(self) -> str | None:
        """Before it is read only what a made archive holds is known; reading checks the rest."""
        if self.setting.mode not in _KEEPS_ARCHIVE:
            return None
        kept = 1 + CONTENT_RATIO * (self.object.made and self.setting.mode in _KEEPS_MEMBERS)
        needed_mb = -(-round(self.object.size_bytes * kept) // _MIB)
        if needed_mb <= self.prober_storage_mb:
            return None
        told = (
            f"mode is {self.setting.mode}; an archive of {self.object.size_bytes} bytes needs "
            f"{needed_mb} MB of /tmp, the prober has {self.prober_storage_mb}"
        )
        if needed_mb > STORAGE_MB_MAX:
            return f"{told} and can have {STORAGE_MB_MAX} at most: stream it, or take a smaller one"
        return f"{told}: deploy with EphemeralStorageSize={needed_mb} or more"


def _memory_refusal(setting: Setting) -> str | None:
    room = setting.memory_mb * _MIB - BASE_MEMORY_BYTES
    if setting.reading.held_bytes <= room:
        return None
    held = 1 + (setting.reading.count or 1)
    return (
        f"chunk_bytes is {setting.chunk_bytes} and streams {setting.streams}; {held} chunks do not "
        f"fit into {setting.memory_mb} MB of memory beside {BASE_MEMORY_BYTES} bytes of the "
        f"runtime: at most {room // held} bytes each do"
    )
