"""The machine that measures a run without Lambda, and the limits of its processes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from bucketsum.table.codec import from_values
from bucketsum.table.stored_fields import stored
from bucketsum_cli.machine.cgroups import cgroup_roots, remove_roots
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import count_text, usd_text

if TYPE_CHECKING:
    from bucketsum_lab.protocol.run_records import Run


class Confinement(StrEnum):
    """Limits of the processes that measure."""

    NONE = "none"
    """The whole machine."""
    MEMORY = "memory"
    """The memory of each setting; all CPUs."""
    LAMBDA = "lambda"
    """The memory of each setting, and Lambda's CPU share of it."""


_LIMITS: Final = {
    Confinement.NONE: "none: memory_mb is not enforced, each process has the whole machine",
    Confinement.MEMORY: "memory_mb by control groups; all CPUs",
    Confinement.LAMBDA: "memory_mb and Lambda's CPU share by control groups",
}


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine, as the run records it.

    Attributes:
        cpu: Model of its CPU.
        cores: Number of logical CPUs.
        ram_mb: Memory in MiB.
        kernel: System and version.
        disk: File system, device and model of the disk of temporary files.
        confinement: Limits of the processes that measured.
        instance_type: Type of the EC2 instance; None elsewhere.
        endpoint: Address of S3 if it is not AWS's.
        usd_per_hour: Price; None if it is not known.
    """

    cpu: str
    cores: int
    ram_mb: int
    kernel: str
    disk: str
    confinement: Confinement = field(metadata=stored(read=Confinement))
    instance_type: str | None = None
    endpoint: str | None = None
    usd_per_hour: float | None = None

    @property
    def name(self) -> str:
        """Instance type, CPU and cores."""
        cores = count_text(self.cores, "core")
        return ", ".join(filter(None, [self.instance_type, self.cpu, cores]))

    @property
    def has_memory_axis(self) -> bool:
        """Whether the memory of a setting was a limit."""
        return self.confinement is not Confinement.NONE

    def facts(self) -> Iterator[tuple[str, str]]:
        """Name and text of each known property of the machine."""
        yield "machine", self.name
        yield "RAM", f"{self.ram_mb:,} MB"
        yield "disk", self.disk
        yield "kernel", self.kernel
        if self.endpoint:
            yield "S3 at", self.endpoint
        yield "limits", _LIMITS[self.confinement]
        usd = self.usd_per_hour
        unknown = "unknown (--usd-per-hour)"
        yield "price", unknown if usd is None else f"{usd_text(usd)} USD per hour"


def machine_of(run: Run) -> Machine | None:
    """The machine of *run*; None for Lambda.

    Raises:
        ValueError: A value is missing, or of another type.
    """
    return None if run.machine is None else from_values(Machine, run.machine)


@contextmanager
def confined(wanted: Confinement | None) -> Iterator[tuple[Confinement, Mapping[str, str] | None]]:
    """The limits, and the folders for control groups that enforce them; removed at the end.

    If None is *wanted*, memory is limited if the machine allows it.

    Raises:
        CannotDoError: The machine does not allow it.
    """
    roots = None
    if wanted is not Confinement.NONE:
        roots = cgroup_roots(f"bucketsum-here-{os.getpid()}")
    if roots is None and wanted not in (None, Confinement.NONE):
        raise CannotDoError(
            f"--confine {wanted} needs control groups for cpu and memory that this user may write: "
            "run as root, or use --confine none"
        )
    try:
        yield (wanted or Confinement.MEMORY) if roots else Confinement.NONE, roots
    finally:
        if roots:
            remove_roots(roots)
