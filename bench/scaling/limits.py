"""AWS's published limits, and the limits of one configuration.

Standard queues and default quotas. bench/measured/scaling.md has the sources; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAPPING_START: Final = 5
MAPPING_PER_MINUTE: Final = 300
MAPPING_PER_MINUTE_2021: Final = 60
MAPPING_MOST: Final = 1_250
ACCOUNT_CONCURRENCY: Final = 1_000
ENVIRONMENTS_PER_10_SECONDS: Final = 1_000
GETS_PER_SECOND: Final = 5_500
PUTS_PER_SECOND: Final = 3_500
NEW_TABLE_WRITES_PER_SECOND: Final = 4_000
TABLE_QUOTA_WRITES_PER_SECOND: Final = 40_000
IN_FLIGHT: Final = 120_000

MORE_PREFIXES: Final = "spread the keys over more prefixes"


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of one configuration, in its own unit, and how to raise it."""

    name: str
    most: float
    change: str


RATE_LIMITS: Final = (
    Limit("S3 GETs", GETS_PER_SECOND, MORE_PREFIXES),
    Limit(
        "DynamoDB writes",
        NEW_TABLE_WRITES_PER_SECOND,
        "pre-warm the table, or let it double within 30 minutes; above "
        f"{TABLE_QUOTA_WRITES_PER_SECOND:,}/s raise the table's quota",
    ),
)
"""Limits of objects per second, all objects under one prefix."""

RATE_LIMIT: Final = min(RATE_LIMITS, key=lambda limit: limit.most)


@dataclass(frozen=True, slots=True)
class Setting:
    """The event source mapping of the hasher, and the account's quota.

    Attributes:
        maximum_concurrency: The template's parameter; None: not set.
        account_concurrency: The account's quota, all of it for the hasher.
        per_minute: Concurrent invocations that the mapping adds per minute.
        evenly: Whether it adds them every second; else at the end of each minute.
    """

    name: str
    maximum_concurrency: int | None = None
    account_concurrency: int = ACCOUNT_CONCURRENCY
    per_minute: int = MAPPING_PER_MINUTE
    evenly: bool = False

    def concurrency_at(self, second: int) -> int:
        """Concurrent invocations that the scale-up allows, *second* seconds after the uploads."""
        minutes = second / 60 if self.evenly else second // 60
        new_environments = (second // 10 + 1) * ENVIRONMENTS_PER_10_SECONDS
        most = self.concurrency_limit().most
        return int(min(MAPPING_START + self.per_minute * minutes, new_environments, most))

    def concurrency_limits(self) -> tuple[Limit, ...]:
        """Limits of concurrent invocations."""
        more_quota = "raise Lambda's quota `Concurrent executions`"
        account = Limit("account concurrency", self.account_concurrency, more_quota)
        mapping = Limit("the mapping's concurrency", MAPPING_MOST, "a second queue")
        if self.maximum_concurrency is None:
            return mapping, account
        change = "raise `MaximumConcurrency`"
        return Limit("MaximumConcurrency", self.maximum_concurrency, change), mapping, account

    def concurrency_limit(self) -> Limit:
        """The lowest limit of concurrent invocations."""
        return min(self.concurrency_limits(), key=lambda limit: limit.most)
