"""Samples → medians, spreads and ratios; nothing here reads a clock."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from bench.readers.samples import GOOD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.box.profiles import Profile
    from bench.readers.samples import Sample


@dataclass(frozen=True, slots=True)
class Spread:
    """Some numbers, told by three.

    Attributes:
        median: Half are not above it.
        low: The smallest.
        high: The largest.
    """

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers: Iterable[float]) -> Spread | None:
        """Of *numbers*, or None where there are none."""
        all_of_them = list(numbers)
        if not all_of_them:
            return None
        return cls(median(all_of_them), min(all_of_them), max(all_of_them))


@dataclass(frozen=True, slots=True)
class Summary:
    """What the samples of one reader in one shape come to.

    Attributes:
        reader: The entry's name.
        mb_per_s: Speed; None where every sample failed.
        ratio: Speed over the baseline's in the same round.
        link_share: The least time that the link needs, over the time taken.
        cpu_s_per_gb: Processor seconds per 10⁹ bytes.
        cpu_ratio: Processor time over the baseline's in the same round.
        peak_mb: Most that was resident in any sample, in MB of 10⁶ bytes.
        samples: How many there are, the failed included.
        kills: Processes killed for want of memory, in all samples.
        failures: Outcome → how many samples, for what was not good.
    """

    reader: str
    mb_per_s: Spread | None
    ratio: Spread | None
    link_share: Spread | None
    cpu_s_per_gb: Spread | None
    cpu_ratio: Spread | None
    peak_mb: float
    samples: int
    kills: int
    failures: dict[str, int]


def summaries(samples: Sequence[Sample], profile: Profile, baseline: str) -> list[Summary]:
    """One per reader, in the order in which *samples* first name them."""
    readers = list(dict.fromkeys(one.reader for one in samples))
    base = {one.round: one for one in samples if one.reader == baseline and one.outcome == GOOD}
    return [
        _summary([one for one in samples if one.reader == reader], base, profile)
        for reader in readers
    ]


def _summary(samples: list[Sample], base: dict[int, Sample], profile: Profile) -> Summary:
    good = [one for one in samples if one.outcome == GOOD]
    pairs = [(one, base[one.round]) for one in good if one.round in base]
    bad = [one.outcome for one in samples if one.outcome != GOOD]
    return Summary(
        reader=samples[0].reader,
        mb_per_s=Spread.of(one.mb_per_s for one in good),
        ratio=Spread.of(one.mb_per_s / other.mb_per_s for one, other in pairs),
        link_share=Spread.of(profile.best_seconds / one.seconds for one in good),
        cpu_s_per_gb=Spread.of(one.cpu_seconds / one.size_bytes * 1e9 for one in good),
        cpu_ratio=Spread.of(one.cpu_seconds / other.cpu_seconds for one, other in pairs),
        peak_mb=max((one.peak_bytes for one in good), default=0) / 1e6,
        samples=len(samples),
        kills=sum(one.kills for one in samples),
        failures={outcome: bad.count(outcome) for outcome in dict.fromkeys(bad)},
    )
