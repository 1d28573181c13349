"""What AWS allows, each number with its source, and the limits that a setting meets.

All are of standard queues and default quotas, as documented in November 2026.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench.scaling.model import Limit, Ramp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.scaling.model import Burst

# https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
MAPPING_START: Final = 5
MAPPING_PER_MINUTE: Final = 300
MAPPING_MOST: Final = 1_250
MAXIMUM_CONCURRENCY: Final = (2, 1_000)
"""What ScalingConfig.MaximumConcurrency may be."""

MAPPING_PER_MINUTE_2021: Final = 60
"""Until November 2023: AWS's announcement of faster polling scale-up for SQS."""

# https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventsourcemapping.html, provisioned mode;
# the ranges as botocore's model of ProvisionedPollerConfig has them
POLLER_CONCURRENCY: Final = 10
POLLER_POLLS_PER_SECOND: Final = 10
POLLER_BYTES_PER_SECOND: Final = 1_000_000
POLLERS_PER_MINUTE: Final = 1_000
MINIMUM_POLLERS: Final = (2, 200)
MAXIMUM_POLLERS: Final = (2, 10_000)

# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
ACCOUNT_CONCURRENCY: Final = 1_000
FUNCTION_SECONDS: Final = 900
ENVIRONMENTS_PER_10_SECONDS: Final = 1_000

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html
GETS_PER_PREFIX_SECOND: Final = 5_500
PUTS_PER_PREFIX_SECOND: Final = 3_500

# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html
NEW_TABLE_WRITES_PER_SECOND: Final = 4_000
TABLE_QUOTA_WRITES_PER_SECOND: Final = 40_000
KEY_WRITES_PER_SECOND: Final = 1_000
"""Of one partition key. The table's is the object, the index's the content."""

# botocore's model of SQS, ReceiveMessage: about so many of a standard queue
IN_FLIGHT: Final = 120_000

MESSAGE_BYTES: Final = 1_300
"""One message with one S3 notification, as in events/sqs-s3-put.json, without white space."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How the hasher is attached to its queue, and what the account allows.

    Attributes:
        name: What tables call it.
        maximum_concurrency: The template's parameter; None: the mapping has none.
        pollers: Least and most provisioned event pollers; None: not provisioned.
        account_concurrency: The account's quota, all of it for the hasher.
        prefixes: Prefixes that the objects are spread over evenly.
        table_writes: Writes per second that the table is ready for.
        gets_per_object: Requests that reading one object takes.
        ramp_per_minute: What a mapping without pollers adds each minute.
        ramp_step_seconds: See `Ramp.step_seconds`.
    """

    name: str
    maximum_concurrency: int | None = None
    pollers: tuple[int, int] | None = None
    account_concurrency: int = ACCOUNT_CONCURRENCY
    prefixes: int = 1
    table_writes: int = NEW_TABLE_WRITES_PER_SECOND
    gets_per_object: int = 1
    ramp_per_minute: int = MAPPING_PER_MINUTE
    ramp_step_seconds: int = 60

    def refused(self) -> str:
        """Why AWS would not take this; empty where it would."""
        if self.pollers and self.maximum_concurrency is not None:
            return "provisioned pollers and MaximumConcurrency exclude each other; name one"
        for what, value, (least, most) in self._ranged():
            if not least <= value <= most:
                return f"{what} is {value}, not in {least}..{most}"
        if self.pollers and self.pollers[0] > self.pollers[1]:
            return f"of {self.pollers[0]} to {self.pollers[1]} pollers, the least is above the most"
        return ""

    def _ranged(self) -> Iterator[tuple[str, int, tuple[int, int]]]:
        if self.maximum_concurrency is not None:
            yield "MaximumConcurrency", self.maximum_concurrency, MAXIMUM_CONCURRENCY
        if self.pollers:
            yield "MinimumPollers", self.pollers[0], MINIMUM_POLLERS
            yield "MaximumPollers", self.pollers[1], MAXIMUM_POLLERS

    def ramp(self) -> Ramp:
        """How it scales up."""
        if self.pollers:
            start = self.pollers[0] * POLLER_CONCURRENCY
            return Ramp(
                start, POLLERS_PER_MINUTE, self.ramp_step_seconds, ENVIRONMENTS_PER_10_SECONDS
            )
        return Ramp(
            MAPPING_START,
            self.ramp_per_minute,
            self.ramp_step_seconds,
            ENVIRONMENTS_PER_10_SECONDS,
        )

    def concurrency_limits(self) -> tuple[Limit, ...]:
        """What bounds the invocations at the same time."""
        account = Limit(
            "account concurrency",
            self.account_concurrency,
            "raise Lambda's quota `Concurrent executions`",
        )
        if self.pollers:
            return (
                Limit(
                    "pollers' concurrency",
                    self.pollers[1] * POLLER_CONCURRENCY,
                    "raise `MaximumPollers`: ten more invocations each",
                ),
                account,
            )
        mapping = Limit(
            "the mapping's concurrency", MAPPING_MOST, "provisioned pollers, or a second queue"
        )
        if self.maximum_concurrency is None:
            return mapping, account
        return (
            Limit("MaximumConcurrency", self.maximum_concurrency, "raise `MaximumConcurrency`"),
            mapping,
            account,
        )

    def rate_limits(self, batch_size: int) -> tuple[Limit, ...]:
        """What bounds objects per second, however many invocations there are."""
        limits = (
            Limit(
                "S3 GETs",
                GETS_PER_PREFIX_SECOND * self.prefixes / self.gets_per_object,
                _PREFIXES,
            ),
            Limit(
                "DynamoDB writes",
                self.table_writes,
                "warm the table up, or let it double within 30 minutes; above "
                f"{TABLE_QUOTA_WRITES_PER_SECOND:,}/s raise the table's quota",
            ),
        )
        return limits + self._poller_limits(batch_size)

    def _poller_limits(self, batch_size: int) -> tuple[Limit, ...]:
        if not self.pollers:
            return ()
        return (
            Limit(
                "pollers' polls",
                self.pollers[1] * POLLER_POLLS_PER_SECOND * min(batch_size, 10),
                "raise `BatchSize`, up to 10 messages a poll, or `MaximumPollers`",
            ),
            Limit(
                "pollers' bytes",
                self.pollers[1] * POLLER_BYTES_PER_SECOND / MESSAGE_BYTES,
                "raise `MaximumPollers`",
            ),
        )


_PREFIXES: Final = "spread the keys over more prefixes"


def tightest(limits: tuple[Limit, ...]) -> Limit:
    """The one of *limits* that is met first."""
    return min(limits, key=lambda limit: limit.most)


@dataclass(frozen=True, slots=True)
class Use:
    """How far a steady load goes into a limit.

    Attributes:
        limit: Which, in its own unit.
        used: How much of it the load needs.
    """

    limit: Limit
    used: float

    @property
    def share(self) -> float:
        """1 is all of it; the load does not fit above that."""
        return self.used / self.limit.most


def uses(objects_per_second: float, burst: Burst, setting: Setting) -> tuple[Use, ...]:
    """What a steady stream of objects like *burst*'s needs, the scarcest first.

    By Little's law it needs as many invocations at a time as arrive per second, times the
    seconds that each takes.
    """
    at_a_time = objects_per_second / burst.objects_per_second
    in_flight = Limit("messages in flight", IN_FLIGHT, "a second queue")
    uploads = Limit("uploads to S3", PUTS_PER_PREFIX_SECOND * setting.prefixes, _PREFIXES)
    needs = (
        Use(uploads, objects_per_second),
        *(Use(limit, at_a_time) for limit in setting.concurrency_limits()),
        *(Use(limit, objects_per_second) for limit in setting.rate_limits(burst.batch_size)),
        Use(in_flight, at_a_time * burst.batch_size),
    )
    return tuple(sorted(needs, key=lambda use: -use.share))
