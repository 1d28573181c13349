"""Samples of a sweep: each is one invocation of the prober, in its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bucketsum.step_functions_errors import plain_cause
from bucketsum.table.stored_fields import NOT_STORED, nested, stored
from bucketsum_lab.protocol.parameters import Statistic
from bucketsum_lab.protocol.use import UseCurve


class SampleStatus(StrEnum):
    """Whether there is a measurement."""

    OK = "ok"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SampleFailure:
    """Why a sample failed."""

    error: str
    """Name of the error as Step Functions has it."""
    cause: str | None = None

    def __str__(self) -> str:
        """Error and cause in one text; see `plain_cause`."""
        return plain_cause(self.error, self.cause)


@dataclass(frozen=True, slots=True)
class Reading:
    """The measurement of a sample that read all bytes."""

    size_bytes: int
    """Bytes read and hashed, of an archive its own."""
    seconds: float
    """From the GET to the last byte hashed."""
    mb_per_s: float
    """10⁶ bytes per second of it."""
    cpu_seconds: float | None = None
    """CPU time of the process in that time, all threads; None if the system does not tell."""
    max_rss_bytes: int | None = None
    """Peak resident memory; None if the system does not tell."""
    rss_of: str | None = None
    """``reading`` if the system could reset the peak before it, else ``process``: the peak since
    the execution environment started."""


@dataclass(frozen=True, slots=True)
class Billing:
    """Billed time of an invocation."""

    cold: bool
    """Whether it was the first one of its execution environment."""
    billed_ms: int
    """The handler's whole time rounded up, plus `init_ms` if cold, less `excluded_ms`."""
    excluded_ms: int | None = None
    """Time for preparations and checks that only measuring needs; None for none."""
    init_ms: int | None = None
    """If cold: from the start of the process to the first invocation."""


@dataclass(frozen=True, slots=True)
class DigestCheck:
    """The digest that a sample computed."""

    digest_ok: bool
    """Whether it was the known one."""
    sha1: str


@dataclass(frozen=True, slots=True)
class ProberProcess:
    """The process that measured a sample."""

    memory_mb: int
    """Memory of the version that ran."""
    version: str | None = None
    """The prober's version that ran; None outside Lambda."""
    boto3: str | None = None
    layer: str | None = None
    """Version of the bucketsum library."""
    runtime: str | None = None
    architecture: str | None = None
    log_stream: str | None = None
    """Names the execution environment: equal for invocations that shared one."""


@dataclass(frozen=True, slots=True)
class DiskSpeed:
    """Speeds of the disk for temporary files, past the page cache, or why they are not known."""

    disk_folder: str
    """The folder for temporary files; that of the setting if it names one."""
    disk_write_mb_per_s: float | None = None
    """10⁶ bytes per second, one MiB after the other, with fsync at the end."""
    disk_read_mb_per_s: float | None = None
    """10⁶ bytes per second, one MiB after the other."""
    disk_reads_per_s: float | None = None
    """Reads of 4 KiB at random places, one at a time."""
    disk_reads_per_s_16: float | None = None
    """The same by 16 threads."""
    disk_unmeasured: str | None = None
    """The reason why there are no speeds."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One invocation of the prober, or the reason why there is none."""

    cell_id: str
    repetition: int = field(metadata=stored("run"))
    """1 is the first; 0 is a warm-up, which counts for cold starts alone."""
    invocation: int
    """1 is the first of those that ran at once."""
    status: SampleStatus = field(metadata=stored(read=SampleStatus))
    at: str
    """Time of its end, ISO 8601 UTC."""
    failure: SampleFailure | None = field(default=None, metadata=nested(SampleFailure))
    reading: Reading | None = field(default=None, metadata=nested(Reading))
    """None if it failed before the last byte."""
    billing: Billing | None = field(default=None, metadata=nested(Billing))
    """None if the prober did not answer."""
    check: DigestCheck | None = field(default=None, metadata=nested(DigestCheck))
    """None if no digest was computed."""
    own: Mapping[str, Statistic] = field(default_factory=dict, metadata=NOT_STORED)
    """The workload's own attributes; see `Workload.sample_names`."""
    process: ProberProcess | None = field(default=None, metadata=nested(ProberProcess))
    """None if the prober did not answer."""
    use: UseCurve | None = field(
        default=None, metadata=stored(read=UseCurve.from_text, write=UseCurve.to_text)
    )
    """Use over time; None if it was not recorded."""
    disk: DiskSpeed | None = field(default=None, metadata=nested(DiskSpeed))
    """In the first sample of an execution environment that uses its disk; else None."""

    @property
    def is_cold(self) -> bool:
        """Whether it was the first invocation of its execution environment."""
        return self.billing is not None and self.billing.cold

    @property
    def warm_reading(self) -> Reading | None:
        """The reading if it counts for the statistics: good and not cold."""
        return None if self.status is SampleStatus.FAILED or self.is_cold else self.reading
