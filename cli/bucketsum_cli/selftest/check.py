"""A check of the self-test, and its result."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from bucketsum_cli.aws_errors import AWS_ERRORS, explained, is_denied
from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bucketsum_cli.selftest.scratch import Scratch


class Outcome(StrEnum):
    """Outcome of a check; only `FAILED` makes the self-test fail."""

    PASSED = "passed"
    WARNING = "warning"
    """It works, but a person should know the detail; or a metric or trace is not there yet."""
    FAILED = "failed"
    SKIPPED = "skipped"
    """It does not apply to this stack, or these credentials do not allow it."""
    KNOWN_DIFFERENCE = "known difference"
    """The local emulator differs from AWS here, as docs/limitations.md says."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An outcome with its detail."""

    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A property of a deployed stack that can be tried."""

    name: str
    proves: str
    run: Callable[[Scratch], Finding]
    """Raises an error of AWS or `CannotDoError` if it cannot go on."""
    objects: int = 0
    """Objects and messages that it makes, which cost money."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check that ran."""

    check: Check
    finding: Finding
    seconds: float


def passed(detail: str = "") -> Finding:
    """The property holds."""
    return Finding(Outcome.PASSED, detail)


def failed(detail: str) -> Finding:
    """The property does not hold."""
    return Finding(Outcome.FAILED, detail)


def warning(detail: str) -> Finding:
    """The property holds with a reservation."""
    return Finding(Outcome.WARNING, detail)


def skipped(detail: str) -> Finding:
    """The check does not apply."""
    return Finding(Outcome.SKIPPED, detail)


def known_difference(detail: str) -> Finding:
    """The local emulator is known to differ."""
    return Finding(Outcome.KNOWN_DIFFERENCE, detail)


def run_check(check: Check, scratch: Scratch) -> CheckResult:
    """Run *check*; its errors become findings."""
    started = time.monotonic()
    return CheckResult(check, _finding_of(check, scratch), time.monotonic() - started)


def _finding_of(check: Check, scratch: Scratch) -> Finding:
    try:
        return check.run(scratch)
    except AWS_ERRORS as error:
        text = explained(error).message
        return skipped(text) if is_denied(error) else failed(text)
    except CannotDoError as error:
        return failed(error.message)
