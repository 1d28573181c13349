"""The machine that measured a run without Lambda."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bucketsum_cli.tune.formatting import count_text, usd_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bucketsum.sweep.records import Run


class Confinement(StrEnum):
    """Limits of the processes that measure."""

    NONE = "none"
    """The whole machine."""
    MEMORY = "memory"
    """The memory of each setting; all CPUs."""
    LAMBDA = "lambda"
    """The memory of each setting, and Lambda's CPU share of it."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine, as the run records it.

    Attributes:
        cpu: Model of its CPU.
        cores: Number of logical CPUs.
        ram_mb: Memory in MiB.
        kernel: System and version.
        disk: File system, device and model of the disk of temporary files.
        reader: ``libcurl`` or ``botocore``.
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
    reader: str
    confinement: Confinement
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

    @property
    def price_text(self) -> str:
        """The price, or that it is not known."""
        if self.usd_per_hour is None:
            return "unknown (--usd-per-hour)"
        return f"{usd_text(self.usd_per_hour)} USD per hour"

    def facts(self) -> Iterator[tuple[str, str]]:
        """Names and texts of all that is known."""
        yield "machine", self.name
        yield "RAM", f"{self.ram_mb:,} MB"
        yield "disk", self.disk
        yield "kernel", self.kernel
        yield "reader", self.reader
        if self.endpoint:
            yield "S3 at", self.endpoint
        yield "limits", limits_text(self.confinement)
        yield "price", self.price_text

    def to_json(self) -> dict[str, Any]:
        """The form in a run."""
        return asdict(self)


def limits_text(confinement: Confinement) -> str:
    """The limits in words."""
    return {
        Confinement.NONE: "none: memory_mb is not enforced, each process has the whole machine",
        Confinement.MEMORY: "memory_mb by control groups; all CPUs",
        Confinement.LAMBDA: "memory_mb and Lambda's CPU share by control groups",
    }[confinement]


def machine_of(run: Run) -> Machine | None:
    """The machine of *run*; None for Lambda."""
    return None if run.machine is None else _machine(run.machine)


def _machine(document: Mapping[str, Any]) -> Machine:
    values: dict[str, Any] = {field.name: document.get(field.name) for field in fields(Machine)}
    return Machine(**values | {"confinement": Confinement(document["confinement"])})
