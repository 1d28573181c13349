"""The protocol of workloads, with the defaults of one that has nothing of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bucketsum.sweep.cells import PlannedObject
    from bucketsum.sweep.generated_objects import Generated
    from bucketsum.sweep.parameters import Parameter, Setting, Value
    from bucketsum.sweep.probe import ProbeAnswer, ProbeContext, ProbeEvent
    from bucketsum.sweep.records import Sample


class Workload(ABC):
    """A kind of work that a sweep measures on objects."""

    noun: ClassVar[str] = "object"
    """Word for one of its objects."""
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    """Its own parameters, besides memory, chunk size and streams."""
    object_bytes: ClassVar[range]
    """Allowed sizes of objects that the sweep generates."""
    object_name: ClassVar[str]
    """Key of a generated object; ``{size_bytes}`` is replaced."""
    sample_names: ClassVar[tuple[str, ...]] = ()
    """Attributes that its samples have besides those of every `Sample`."""
    statistic_names: ClassVar[tuple[str, ...]] = ()
    """Names of its own statistics of a cell."""
    columns: ClassVar[tuple[str, ...]] = ()
    """Names of its own columns in the table of results."""
    plots: ClassVar[tuple[str, ...]] = ("heat", "memory", "cost")
    """Names of the plots in its report, in their order."""
    folded_first: ClassVar[str] = "streams"
    """Parameter that a crowded heat map leaves out first."""
    undeployable: ClassVar[str] = ""
    """Reason given if no setting of a sweep can be deployed."""

    @abstractmethod
    def seconds(self, setting: Setting, size_bytes: int) -> float:
        """Estimated duration of one invocation."""

    @abstractmethod
    def generate(self, size_bytes: int) -> Generated:
        """The object of this size: the same bytes every time."""

    @abstractmethod
    def probe(self, event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
        """Measure once; the answer may have `sample_names` too.

        Raises:
            BucketsumError: The object could not be read.
        """

    def contents(self, key: str, metadata: Mapping[str, str]) -> Mapping[str, Value] | None:  # noqa: ARG002 - a default
        """Facts about an object's content that its metadata state, for the probe to check.

        Raises:
            BadSweep: One of them cannot be read.
        """
        return None

    def uses_disk(self, setting: Setting) -> bool:  # noqa: ARG002 - a default
        """Whether the probe writes to /tmp, which then has to be paid for."""
        return False

    def refusal(self, setting: Setting, planned: PlannedObject, storage_mb: int) -> str | None:  # noqa: ARG002 - a default
        """Reason why a prober with *storage_mb* MiB of /tmp cannot do it, or None."""
        return None

    def statistics(self, samples: Sequence[Sample]) -> Mapping[str, Value]:  # noqa: ARG002 - a default
        """Its `statistic_names` with their values, from a cell's good *samples*."""
        return {}

    def is_deployable(self, setting: Setting) -> bool:  # noqa: ARG002 - a default
        """Whether the template has parameters for all of *setting*."""
        return True

    def template_parameters(self, setting: Setting, storage_mb: int) -> Mapping[str, Value]:  # noqa: ARG002 - a default
        """Values of the template's parameters besides memory, chunk size and streams."""
        return {}
