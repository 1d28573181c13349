"""A check of the self-test, and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Annotated

from bucketsum_cli.aws.errors import AWS_ERRORS, explained, is_denied
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.selftest.scratch import Scratch
from bucketsum_cli.terminal.errors import CannotDoError


class CheckOutcome(StrEnum):
    """Outcome of a check; only `FAILED` makes the self-test fail."""

    PASSED = "passed"
    WARNING = "warning"
    """It works, but a person should know the detail; or a metric or trace is not there yet."""
    FAILED = "failed"
    SKIPPED = "skipped"
    """It does not apply to this stack, or these credentials do not allow it."""
    KNOWN_DIFFERENCE = "known difference"
    """The local emulator differs from AWS here, as docs/explanation/limitations.md says."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An outcome with its detail."""

    outcome: CheckOutcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SelftestCheck:
    """A property of a deployed stack that can be tried."""

    name: str
    proves: str
    run: Callable[[Scratch], Finding]
    """Raises an error of AWS or `CannotDoError` if it cannot go on."""
    objects: int = 0
    """Objects and messages that it makes, which cost money."""
    usd: Callable[[Stack], float] = lambda _stack: 0.0
    """Its further cost on a stack, at most."""


@dataclass(frozen=True, slots=True)
class CheckedProperty:
    """A check of the self-test with its result."""

    name: Annotated[str, "Name of the check."]
    proves: Annotated[str, "Its purpose."]
    outcome: Annotated[CheckOutcome, "Its result."]
    seconds: Annotated[float, "Its duration."]
    detail: Annotated[str, "The reason, or a measured value."]


passed = partial(Finding, CheckOutcome.PASSED)
failed = partial(Finding, CheckOutcome.FAILED)
warning = partial(Finding, CheckOutcome.WARNING)
skipped = partial(Finding, CheckOutcome.SKIPPED)
known_difference = partial(Finding, CheckOutcome.KNOWN_DIFFERENCE)


def finding_of(check: SelftestCheck, scratch: Scratch) -> Finding:
    """Run *check*; its errors become findings."""
    try:
        return check.run(scratch)
    except AWS_ERRORS as error:
        text = explained(error).message
        return skipped(text) if is_denied(error) else failed(text)
    except CannotDoError as error:
        return failed(error.message)
