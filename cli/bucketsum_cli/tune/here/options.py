"""Options of `bucketsum tune run` that only sweeps on this machine have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from bucketsum_cli.tune.machine import Confinement

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class HereOptions:
    """The options of the command that only `--here` has.

    Attributes:
        bucket: The bucket; None is the stack's bucket for sweeps.
        usd_per_hour: Price of the machine; None if it is not known.
        confine: Limits of the processes; None is the memory's, if the machine allows it.
    """

    bucket: str | None = None
    usd_per_hour: float | None = None
    confine: Confinement | None = None


def here_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give *command* the options of a sweep on this machine, and pass it `HereOptions`."""

    @click.option(
        "--here",
        "is_here",
        is_flag=True,
        help="Measure on this machine; see docs/tuning.md.",
    )
    @click.option(
        "--bucket",
        metavar="NAME",
        help="With --here: bucket to read; with --stack or --local, the default is the stack's "
        "SweepBucket.",
    )
    @click.option(
        "--usd-per-hour",
        type=click.FloatRange(min=0, min_open=True),
        metavar="X",
        help="With --here: price of this machine per hour; without it, costs are unknown.",
    )
    @click.option(
        "--confine",
        type=click.Choice([*Confinement]),
        metavar="LIMIT",
        help="With --here: limit on each process: memory (the memory size of the cell), lambda "
        "(also Lambda's CPU share), none. Default: memory if control groups are writable, "
        "otherwise none.",
    )
    @wraps(command)
    def with_here(
        *args: Any,  # noqa: ANN401 - the command's types
        is_here: bool,
        bucket: str | None,
        usd_per_hour: float | None,
        confine: str | None,
        **options: Any,  # noqa: ANN401 - the command's types
    ) -> None:
        given = HereOptions(bucket, usd_per_hour, Confinement(confine) if confine else None)
        if not is_here and given != HereOptions():
            raise click.UsageError("--bucket, --usd-per-hour and --confine need --here")
        command(*args, here=given if is_here else None, **options)

    return with_here  # fmt: skip
