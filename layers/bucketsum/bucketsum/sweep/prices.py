"""Lambda's prices: a dated table. A Region that is not in it is an error, not a default.

Source: https://aws.amazon.com/lambda/pricing/, first tier. To refresh it, or to add a Region,
look there (or at the public price list, service code AWSLambda), change `_PER_GB_SECOND` and
`PRICE_DATE` together, and run tests/unit/sweep/test_prices.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bucketsum.errors import BadSweep

PRICE_DATE: Final = "2026-11-01"
PRICE_SOURCE: Final = "https://aws.amazon.com/lambda/pricing/"

_X86_USD: Final = 0.0000166667
_ARM_USD: Final = 0.0000133334
_PER_GB_SECOND: Final = {
    "us-east-1": {"x86_64": _X86_USD, "arm64": _ARM_USD},
}
_REQUEST_USD: Final = 0.20 / 1_000_000
_STORAGE_USD_PER_GB_SECOND: Final = 0.0000000309
FREE_STORAGE_MB: Final = 512
"""The size of /tmp that is free."""

_MB_PER_GB: Final = 1024
"""Lambda's GB is 1,024 of its MB."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of one Region and architecture, in US dollars."""

    region: str
    architecture: str
    """arm64 or x86_64."""
    gb_second: float
    """Per GB of memory and second."""
    request: float = _REQUEST_USD
    """Per invocation."""
    storage_gb_second: float = _STORAGE_USD_PER_GB_SECOND
    """Per GB of /tmp above the free 512 MB and second."""
    date: str = PRICE_DATE
    """Date of the table."""

    def invocation_usd(
        self, billed_ms: float, memory_mb: int, storage_mb: int = FREE_STORAGE_MB
    ) -> float:
        """Cost of one invocation of *billed_ms*."""
        seconds = billed_ms / 1000
        memory = seconds * memory_mb / _MB_PER_GB * self.gb_second
        extra_mb = max(0, storage_mb - FREE_STORAGE_MB)
        return memory + seconds * extra_mb / _MB_PER_GB * self.storage_gb_second + self.request


def prices_in(region: str, architecture: str) -> Prices:
    """The prices of *region* for *architecture*.

    Raises:
        BadSweep: The table does not have them; the text names those that it has.
    """
    known = _PER_GB_SECOND.get(region)
    if known is None:
        raise BadSweep(
            f"no prices for the Region {region!r}; known are {', '.join(_PER_GB_SECOND)} "
            f"(as of {PRICE_DATE}). Add it to bucketsum/sweep/prices.py from {PRICE_SOURCE}"
        )
    if architecture not in known:
        raise BadSweep(
            f"no prices for the architecture {architecture!r} in {region}; known are "
            f"{', '.join(known)}"
        )
    return Prices(region, architecture, known[architecture])
