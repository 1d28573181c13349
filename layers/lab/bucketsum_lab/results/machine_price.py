"""The price of a machine without Lambda."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bucketsum.prices import FREE_STORAGE_MB

_MS_PER_HOUR: Final = 3_600_000


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
