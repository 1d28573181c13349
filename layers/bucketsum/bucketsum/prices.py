"""Lambda's prices: a dated table of Regions, first tier.

An unknown Region has the prices of us-east-1, and says so. To correct the table, change
`_BASE_REGIONS` or `_OTHER_REGIONS` together with `PRICE_DATE`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bucketsum.errors import BadSweep

PRICE_DATE: Final = "2026-11-01"
PRICE_SOURCE: Final = "https://aws.amazon.com/lambda/pricing/"

DEFAULT_REGION: Final = "us-east-1"
"""The Region whose prices an unknown Region has."""

_STORAGE_USD_PER_GB_SECOND: Final = 0.0000000309
FREE_STORAGE_MB: Final = 512
"""The size of /tmp that is free."""

_MB_PER_GB: Final = 1024
_MS_PER_HOUR: Final = 3_600_000
"""Lambda's GB is 1,024 of its MB."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """Prices of some Regions, in US dollars."""

    gb_second: dict[str, float]
    """By architecture."""
    request: float


_BASE: Final = _Listed({"arm64": 0.0000133334, "x86_64": 0.0000166667}, 0.20e-6)
_MIDDLE_EAST: Final = _Listed({"arm64": 0.0000165334, "x86_64": 0.0000206667}, 0.25e-6)
_BASE_REGIONS: Final = (
    "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1",
    "ap-southeast-2", "ap-southeast-3", "ca-central-1", "eu-central-1", "eu-north-1", "eu-west-1",
    "eu-west-2", "eu-west-3", "sa-east-1", "us-east-1", "us-east-2", "us-west-1", "us-west-2",
)  # fmt: skip
_OTHER_REGIONS: Final = {
    "af-south-1": _Listed({"arm64": 0.00001768, "x86_64": 0.0000221}, 0.27e-6),
    "ap-east-1": _Listed({"arm64": 0.0000183, "x86_64": 0.00002292}, 0.28e-6),
    "eu-south-1": _Listed({"arm64": 0.0000156138, "x86_64": 0.0000195172}, 0.23e-6),
    "me-central-1": _MIDDLE_EAST,
    "me-south-1": _MIDDLE_EAST,
}
_LISTED: Final = dict.fromkeys(_BASE_REGIONS, _BASE) | _OTHER_REGIONS
ARCHITECTURES: Final = tuple(_BASE.gb_second)


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of one Region and architecture, in US dollars."""

    region: str
    architecture: str
    """arm64 or x86_64."""
    gb_second: float
    """Per GB of memory and second."""
    request: float
    """Per invocation."""
    storage_gb_second: float = _STORAGE_USD_PER_GB_SECOND
    """Per GB of /tmp above the free 512 MB and second. The table has that of us-east-1 alone."""
    date: str = PRICE_DATE
    """Day on which the source was read."""
    source: str = PRICE_SOURCE
    priced_as: str | None = None
    """The Region whose prices these are, if those of `region` are not known."""

    def invocation_usd(
        self, billed_ms: float, memory_mb: int, storage_mb: int = FREE_STORAGE_MB
    ) -> float:
        """Cost of one invocation of *billed_ms*."""
        seconds = billed_ms / 1000
        memory = seconds * memory_mb / _MB_PER_GB * self.gb_second
        extra_mb = max(0, storage_mb - FREE_STORAGE_MB)
        return memory + seconds * extra_mb / _MB_PER_GB * self.storage_gb_second + self.request


@dataclass(frozen=True, slots=True)
class MachinePrice:
    """Price of a machine without Lambda, in US dollars."""

    usd_per_hour: float | None = None
    """None if it is not known."""
    date: str | None = None
    """Day on which it was given."""
    priced_as: None = None

    def invocation_usd(
        self,
        billed_ms: float,
        memory_mb: int,  # noqa: ARG002 - as `Prices`
        storage_mb: int = FREE_STORAGE_MB,  # noqa: ARG002 - as `Prices`
    ) -> float | None:
        """Cost of *billed_ms* of the whole machine; None if its price is not known."""
        return None if self.usd_per_hour is None else billed_ms / _MS_PER_HOUR * self.usd_per_hour


def prices_in(region: str, architecture: str) -> Prices:
    """The table's prices of *region* for *architecture*, else those of us-east-1.

    Raises:
        BadSweep: Lambda has no such architecture.
    """
    if architecture not in ARCHITECTURES:
        raise BadSweep(
            f"no prices for the architecture {architecture!r}; known are {', '.join(ARCHITECTURES)}"
        )
    listed = _LISTED.get(region)
    priced = listed or _LISTED[DEFAULT_REGION]
    return Prices(
        region,
        architecture,
        priced.gb_second[architecture],
        priced.request,
        priced_as=None if listed else DEFAULT_REGION,
    )
