"""Recommendations of settings, as they stand in a run's summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bucketsum_lab.protocol.measuring import GB_PER_TB
from bucketsum_lab.workloads import setting_of

if TYPE_CHECKING:
    from bucketsum_lab.protocol.parameters import Setting, Value
    from bucketsum_lab.protocol.run_records import Run


@dataclass(frozen=True, slots=True)
class Candidate:
    """One setting over all objects and concurrencies that it was measured with."""

    setting: Setting
    parameters: Mapping[str, Value]
    """Values of the template's parameters that deploy it."""
    mb_per_s: float
    """All objects' bytes over the sum of their median seconds."""
    usd_per_gb: float
    """The sum of their invocations' costs over all objects' bytes."""
    few_samples: bool
    """Whether one of its cells has too few samples."""

    @property
    def usd_per_tb(self) -> float:
        """`usd_per_gb` for 10¹² bytes."""
        return self.usd_per_gb * GB_PER_TB

    def to_json(self) -> dict[str, Any]:
        """The form in a run's summary, with the template's names of the parameters."""
        return {
            "parameters": dict(self.parameters),
            "setting": self.setting.values,
            "mb_per_s": round(self.mb_per_s, 3),
            "usd_per_gb": round(self.usd_per_gb, 10),
            "weak": self.few_samples,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Candidate:
        """The inverse of `to_json`."""
        return cls(
            setting_of(document["setting"]),
            dict(document["parameters"]),
            float(document["mb_per_s"]),
            float(document["usd_per_gb"]),
            bool(document["weak"]),
        )


@dataclass(frozen=True, slots=True)
class Improvement:
    """The gain of deploying a setting; negative for a loss."""

    deployed: Candidate
    """The setting of the stack's hasher."""
    faster: float
    """Gain in MB/s: 0.5 is half as fast again."""
    cheaper: float
    """Gain in USD per GB: 0.5 is half the cost."""
    is_significant: bool
    """Whether the speeds differ significantly for an object."""

    def to_json(self) -> dict[str, Any]:
        """The form in a run's summary."""
        return {
            **self.deployed.to_json(),
            "faster": round(self.faster, 4),
            "cheaper": round(self.cheaper, 4),
            "significant": self.is_significant,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Improvement:
        """The inverse of `to_json`."""
        return cls(
            Candidate.from_json(document),
            float(document["faster"]),
            float(document["cheaper"]),
            bool(document["significant"]),
        )


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The setting to deploy, or the reason why there is none."""

    best: Candidate | None
    reason: str
    also: tuple[Setting, ...] = field(default=())
    """Settings that are indistinguishable from it in speed, for every object."""

    def to_json(self) -> dict[str, Any]:
        """The form in a run's summary."""
        if self.best is None:
            return {"reason": self.reason}
        also = [setting.values for setting in self.also]
        return {"reason": self.reason, **self.best.to_json(), "also": also}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Recommendation:
        """The inverse of `to_json`."""
        if "setting" not in document:
            return cls(None, str(document["reason"]))
        also = tuple(map(setting_of, document.get("also", ())))
        return cls(Candidate.from_json(document), str(document["reason"]), also)


def recommendation_of(run: Run) -> Recommendation:
    """The recommendation in the summary of *run*; without a summary, nothing is recommended."""
    document = (run.summary or {}).get("recommendation")
    if document is None:
        return Recommendation(None, "the run has not reached that step")
    return Recommendation.from_json(document)


def improvement_of(run: Run) -> Improvement | None:
    """The gain in the summary of *run*; None if the deployed setting has no measurement."""
    document = (run.summary or {}).get("deployed")
    return Improvement.from_json(document) if document else None


def require_documents(run: Run) -> None:
    """Read the documents of *run* from which settings are taken.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: One of them is none that bucketsum writes.
    """
    recommendation_of(run)
    improvement_of(run)
    if run.deployed is not None:
        setting_of(run.deployed)
