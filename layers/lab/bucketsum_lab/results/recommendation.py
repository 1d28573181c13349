"""Recommendations of settings, as they stand in a run's summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bucketsum.table.codec import attributes_of, from_values
from bucketsum.table.stored_fields import nested, stored
from bucketsum_lab.protocol.measuring import GB_PER_TB
from bucketsum_lab.protocol.parameters import Setting, Value
from bucketsum_lab.protocol.run_records import Run
from bucketsum_lab.workloads import setting_of


def _rounded(digits: int) -> Callable[[float], float]:
    return lambda number: round(number, digits)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One setting over all objects and concurrencies that it was measured with."""

    setting: Setting = field(
        metadata=stored(types=(dict,), read=setting_of, write=lambda setting: setting.values)
    )
    parameters: Mapping[str, Value] = field(metadata=stored(types=(dict,), write=dict))
    """Values of the template's parameters that deploy it."""
    mb_per_s: float = field(metadata=stored(write=_rounded(3)))
    """All objects' bytes over the sum of their median seconds."""
    usd_per_gb: float = field(metadata=stored(write=_rounded(10)))
    """The sum of their invocations' costs over all objects' bytes."""
    few_samples: bool = field(metadata=stored("weak"))
    """Whether one of its cells has too few samples."""

    @property
    def usd_per_tb(self) -> float:
        """`usd_per_gb` for 10¹² bytes."""
        return self.usd_per_gb * GB_PER_TB


@dataclass(frozen=True, slots=True)
class Improvement:
    """The gain of deploying a setting; negative for a loss."""

    deployed: Candidate = field(metadata=nested(Candidate))
    """The setting of the stack's hasher."""
    faster: float = field(metadata=stored(write=_rounded(4)))
    """Gain in MB/s: 0.5 is half as fast again."""
    cheaper: float = field(metadata=stored(write=_rounded(4)))
    """Gain in USD per GB: 0.5 is half the cost."""
    is_significant: bool = field(metadata=stored("significant"))
    """Whether the speeds differ significantly for an object."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The setting to deploy, or the reason why there is none."""

    reason: str
    best: Candidate | None = field(default=None, metadata=nested(Candidate))
    also: tuple[Setting, ...] = field(
        default=(),
        metadata=stored(
            types=(list,),
            read=lambda settings: tuple(map(setting_of, settings)),
            write=lambda settings: [setting.values for setting in settings],
        ),
    )
    """Settings that are indistinguishable from it in speed, for every object."""


def document_of(part: Recommendation | Improvement) -> dict[str, Any]:
    """The form in a run's summary, with the template's names of parameters."""
    return {name: value for name, value in attributes_of(part) if value is not None}


def recommendation_of(run: Run) -> Recommendation:
    """The recommendation in the summary of *run*; without a summary, nothing is recommended."""
    document = (run.summary or {}).get("recommendation")
    if document is None:
        return Recommendation("the run has not reached that step")
    return from_values(Recommendation, document)


def improvement_of(run: Run) -> Improvement | None:
    """The gain in the summary of *run*; None if the deployed setting has no measurement."""
    document = (run.summary or {}).get("deployed")
    return from_values(Improvement, document) if document else None


def require_documents(run: Run) -> None:
    """Read the documents of *run* from which settings are taken.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: Another program changed one of them.
    """
    recommendation_of(run)
    improvement_of(run)
    if run.deployed is not None:
        setting_of(run.deployed)
