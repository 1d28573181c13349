"""Cells: one setting, one object, one concurrency, and whether it can be measured at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from zlib import crc32

from bucketsum.memory import BASE_MEMORY_BYTES
from bucketsum.prices import FREE_STORAGE_MB, Prices
from bucketsum_lab.protocol.objects import PlannedObject
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.probe import CellEvent
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.protocol.workload import Workload

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """The invocations that are compared as one: equal in setting, object and concurrency."""

    workload: Workload
    setting: Setting
    concurrency: int
    """Invocations at once."""
    number: int
    """Index of the object in the plan's objects."""
    object: PlannedObject
    prober_storage_mb: int = FREE_STORAGE_MB
    """The prober's /tmp in MiB."""

    @property
    def cell_id(self) -> str:
        """Sorts by memory, chunk size, streams, variant, disk, concurrency, object size."""
        setting = self.setting
        variant = "".join(f"-{value}" for value in setting.own.values())
        if setting.disk is not None:
            variant += f"-d{crc32(setting.disk.encode()):08x}"  # a path may be longer than a key
        size = f"o{self.object.size_bytes:012d}"
        if not self.object.generated:
            size += f"n{self.number}"  # two objects of one size
        return (
            f"m{setting.memory_mb:05d}-c{setting.chunk_bytes:09d}-s{setting.streams:0>2}{variant}"
            f"-k{self.concurrency:02d}-{size}"
        )

    @property
    def storage_mb(self) -> int:
        """The size of /tmp: the 512 MB that cost nothing, unless the workload uses the disk."""
        uses_disk = self.workload.uses_disk(self.setting)
        return self.prober_storage_mb if uses_disk else FREE_STORAGE_MB

    @property
    def row(self) -> CellRow:
        """The cell before its first sample, with the reason if it cannot run."""
        return CellRow(
            cell_id=self.cell_id,
            setting=self.setting,
            concurrency=self.concurrency,
            object_bytes=self.object.size_bytes,
            key=self.object.key,
            workload=self.workload.name,
            storage_mb=self.storage_mb,
            cause=self.refused,
        )

    @property
    def event(self) -> CellEvent:
        """The cell as the plan passes it to the state machine."""
        setting = self.setting
        event: CellEvent = {
            "cell_id": self.cell_id,
            "chunk_bytes": setting.chunk_bytes,
            "streams": setting.streams,
            "concurrency": self.concurrency,
            "object": self.number,
        }
        if setting.variant:
            event["variant"] = setting.own
        if setting.disk is not None:
            event["disk"] = setting.disk
        return event

    @property
    def refused(self) -> str | None:
        """The reason why it is not run, or None."""
        return _memory_refusal(self.setting) or self.workload.refusal(
            self.setting, self.object, self.prober_storage_mb
        )

    @property
    def seconds(self) -> float:
        """Estimated duration of one invocation."""
        return self.workload.seconds(self.setting, self.object.size_bytes)

    def usd(self, prices: Prices) -> float:
        """Estimated cost of all its invocations in one repetition."""
        usd = prices.invocation_usd(self.seconds * 1000, self.setting.memory_mb, self.storage_mb)
        return usd * self.concurrency


def _memory_refusal(setting: Setting) -> str | None:
    room = setting.memory_mb * _MIB - BASE_MEMORY_BYTES
    policy = setting.read_policy
    if policy.held_bytes <= room:
        return None
    held = 1 + (policy.count or 1)  # botocore holds two chunks, as one stream does
    return (
        f"chunk_bytes is {setting.chunk_bytes} and streams {setting.streams}; {held} chunks do not "
        f"fit into {setting.memory_mb} MB of memory beside {BASE_MEMORY_BYTES} bytes of the "
        f"runtime: at most {room // held} bytes each do"
    )
