"""Samples of readers, and their medians, ranges and ratios."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median_low

from bench.readers.registry import BASELINE
from bench.sandbox.profiles import Profile
from bench.tables.table import Spread, spread_of
from bucketsum.measure import mb_per_s


class ReaderOutcome(StrEnum):
    """Outcome of a sample."""

    GOOD = "ok"
    OUT_OF_MEMORY = "out of memory"
    WRONG = "wrong digest"
    FAILED = "failed"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True)
class ReaderSample:
    """One object, read once by a fresh process; numbers are 0 if it failed.

    The peak is of resident memory; *kills* are the kernel's, for want of memory; *detail* is the
    reader's last line.
    """

    reader: str
    round: int
    outcome: ReaderOutcome
    size_bytes: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    gets: int = 0
    kills: int = 0
    detail: str = ""

    @property
    def good(self) -> bool:
        """Whether the sample succeeded and counts in the medians."""
        return self.outcome is ReaderOutcome.GOOD

    @property
    def mb_per_s(self) -> float:
        """10⁶ bytes per second of wall time; 0 if it failed."""
        return mb_per_s(self.size_bytes, self.seconds)


@dataclass(frozen=True, slots=True)
class Summary:
    """All samples of one reader in one configuration.

    Ratios are to the baseline in the same round; `link_share` is the shortest possible transfer
    time ÷ the time taken. Spreads and peak are None without a sample that counts.
    """

    reader: str
    mb_per_s: Spread | None
    ratio: Spread | None
    link_share: Spread | None
    cpu_s_per_gb: Spread | None
    cpu_ratio: Spread | None
    peak_mb: float | None
    gets: int | None
    samples: int
    kills: int
    failures: dict[str, int]


def summaries(samples: Sequence[ReaderSample], profile: Profile) -> list[Summary]:
    """One summary per reader, in the order of their first samples."""
    readers = dict.fromkeys(sample.reader for sample in samples)
    base = {sample.round: sample for sample in samples if sample.reader == BASELINE and sample.good}
    return [
        _summary([sample for sample in samples if sample.reader == reader], base, profile)
        for reader in readers
    ]


def _summary(
    samples: list[ReaderSample], base: dict[int, ReaderSample], profile: Profile
) -> Summary:
    good = [sample for sample in samples if sample.good]
    pairs = [(sample, base[sample.round]) for sample in good if sample.round in base]
    bad = [sample.outcome.value for sample in samples if not sample.good]
    return Summary(
        reader=samples[0].reader,
        mb_per_s=spread_of(sample.mb_per_s for sample in good),
        ratio=spread_of(sample.mb_per_s / other.mb_per_s for sample, other in pairs),
        link_share=spread_of(profile.best_seconds / sample.seconds for sample in good),
        cpu_s_per_gb=spread_of(sample.cpu_seconds / sample.size_bytes * 1e9 for sample in good),
        cpu_ratio=spread_of(sample.cpu_seconds / other.cpu_seconds for sample, other in pairs),
        peak_mb=max((sample.peak_bytes / 1e6 for sample in good), default=None),
        gets=median_low(sample.gets for sample in good) if good else None,
        samples=len(samples),
        kills=sum(sample.kills for sample in samples),
        failures={outcome: bad.count(outcome) for outcome in dict.fromkeys(bad)},
    )
