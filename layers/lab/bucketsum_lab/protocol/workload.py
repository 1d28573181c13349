"""The interface of workloads, with defaults."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import ClassVar, Final

from bucketsum.measure import BYTES_PER_MB
from bucketsum_lab.protocol.objects import DataFile, Generated, PlannedObject
from bucketsum_lab.protocol.parameters import Parameter, Setting, Statistic, Value, Variant
from bucketsum_lab.protocol.probe import ProbeAnswer, ProbeContext, ProbeEvent
from bucketsum_lab.protocol.run_records import WorkloadStatistics
from bucketsum_lab.protocol.samples import Sample

PROBE_SECONDS_MAX: Final = 900
"""The prober's time-out."""

NETWORK_BYTES_PER_S: Final = 78_125_000
"""[A] 625 Mbit/s per execution environment, after a burst."""


def read_seconds(size_bytes: int, cpu_mb_per_s: float, *, in_turn: bool = False) -> float:
    """One invocation: the slower of network and CPU, or their sum if they work *in_turn*."""
    network, cpu = size_bytes / NETWORK_BYTES_PER_S, size_bytes / BYTES_PER_MB / cpu_mb_per_s
    return min(network + cpu if in_turn else max(network, cpu), PROBE_SECONDS_MAX)


class Workload(ABC):
    """A kind of work that a sweep measures on objects."""

    name: ClassVar[str]
    """The input's value of ``workload``."""
    task: ClassVar[str]
    """Its work, as ``hashing objects``."""
    noun: ClassVar[str] = "object"
    """Word for one of its objects."""
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    """Its own parameters, besides memory, chunk size and streams."""
    chunk_bytes: ClassVar[int | None] = None
    """Chunk size of a workload whose reads have none to choose; None if the input must give it."""
    object_bytes: ClassVar[range]
    """Allowed sizes of objects, or of data sets, that the sweep generates."""
    default_object_bytes: ClassVar[int | None] = None
    """The size if the input names neither sizes nor keys; None if it must."""
    object_name: ClassVar[str]
    """Key of a generated object; ``{size_bytes}`` is replaced."""
    sample_names: ClassVar[tuple[str, ...]] = ()
    """Attributes that its samples have besides those of every `Sample`."""
    statistics_type: ClassVar[type[WorkloadStatistics] | None] = None
    """Its own statistics of a cell; None if it has none."""
    folded_first: ClassVar[str] = "streams"
    """Parameter that a crowded heat map leaves out first."""
    undeployable: ClassVar[str] = ""
    """Reason given if no setting of a sweep can be deployed."""

    @abstractmethod
    def seconds(self, setting: Setting, size_bytes: int) -> float:
        """Estimated duration of one invocation."""

    @abstractmethod
    def generate(self, size_bytes: int) -> Generated:
        """The object of this size, or the main object of its data set: the same bytes always."""

    @abstractmethod
    def probe(self, event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
        """Measure once; the answer may have `sample_names` too.

        Raises:
            BucketsumError: The object could not be read.
        """

    def effective(self, variant: Variant) -> Variant:
        """*variant* without the parameters that have no effect, given the other values."""
        return variant

    def contents(self, key: str, metadata: Mapping[str, str]) -> Mapping[str, Value] | None:
        """Facts about an object's content, from its metadata, for the probe to check.

        Raises:
            BadSweep: One of them cannot be read.
        """
        return None

    def uses_disk(self, setting: Setting) -> bool:
        """Whether the probe writes to /tmp, which then has to be paid for."""
        return False

    def refusal(self, setting: Setting, planned: PlannedObject, storage_mb: int) -> str | None:
        """Reason why a prober with *storage_mb* MiB of /tmp cannot do it, or None."""
        return None

    def statistics(self, samples: Sequence[Sample]) -> WorkloadStatistics | None:
        """A `statistics_type` of a cell's good *samples*; None if they have none."""
        return None

    def own_medians(self, samples: Sequence[Sample]) -> dict[str, Statistic]:
        """The median of each of `sample_names`; a text is the same in all *samples*."""
        medians: dict[str, Statistic] = {}
        for name in self.sample_names:
            values = [sample.own[name] for sample in samples if name in sample.own]
            numbers = [value for value in values if not isinstance(value, str)]
            if values:
                medians[name] = median(numbers) if numbers else values[0]
        return medians

    def is_deployable(self, setting: Setting) -> bool:
        """Whether the template has parameters for all of *setting*; not if it is `undeployable`."""
        return not self.undeployable

    def deployed_variant(self, parameters: Mapping[str, str]) -> Variant | None:
        """The workload's parameters as *parameters* deploy them; None if they deploy another."""
        return None if self.undeployable else ()

    def template_parameters(self, setting: Setting, storage_mb: int) -> Mapping[str, Value]:
        """Values of the template's parameters besides memory, chunk size and streams."""
        return {}


class DataSetWorkload(Workload):
    """A workload whose objects are data sets: a main object, and the files that lie beside it.

    The size of a data set is not that of its main object.
    """

    noun = "data set"

    @abstractmethod
    def files(self, size_bytes: int) -> Iterable[DataFile]:
        """The files of the data set of this size, which lie beside its main object."""

    def parts(self, settings: Iterable[Setting]) -> tuple[str, ...] | None:
        """The parts of a data set that *settings* read, as `DataFile.part`; None for all."""
        return None

    def files_of(self, size_bytes: int, parts: Collection[str] | None) -> Iterator[DataFile]:
        """Those of its `files` that belong to *parts*; all for None."""
        files = self.files(size_bytes)
        return (file for file in files if parts is None or file.part in parts)

    def prepare(self, size_bytes: int, parts: Collection[str]) -> None:
        """Write those of *parts* that are not S3 objects; they stay for a week."""
