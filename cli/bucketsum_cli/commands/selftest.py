"""`bucketsum selftest`: test a deployed stack end to end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import click

from bucketsum.prices import LOG_BYTE, S3_GET, S3_PUT, SQS_REQUEST, WRITE_UNIT, prices_in
from bucketsum_cli.arguments.options import FiniteRange, json_option, yes_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.lab import lab
from bucketsum_cli.selftest.check import CheckedProperty, CheckOutcome, SelftestCheck, finding_of
from bucketsum_cli.selftest.header import Header, header_of, redacted
from bucketsum_cli.selftest.object_checks import OBJECT_CHECKS
from bucketsum_cli.selftest.scratch import Scratch
from bucketsum_cli.selftest.stack_checks import CLEAN_UP, LATE_CHECKS, STACK_CHECKS
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.documents import INLINE, fields_of
from bucketsum_cli.terminal.errors import end_if
from bucketsum_cli.terminal.formatting import count_text, usd_text
from bucketsum_cli.terminal.live_progress import spinner
from bucketsum_cli.terminal.output import note, print_json, say

_LAB: Final = lab()
CHECKS: Final = (
    *STACK_CHECKS, *OBJECT_CHECKS, *(_LAB.checks if _LAB else ()), *LATE_CHECKS,
)  # fmt: skip
_NAMES: Final = click.Choice([check.name for check in CHECKS])

_STYLES: Final = {
    CheckOutcome.PASSED: "green",
    CheckOutcome.WARNING: "yellow",
    CheckOutcome.FAILED: "bold red",
    CheckOutcome.SKIPPED: "dim",
    CheckOutcome.KNOWN_DIFFERENCE: "dim",
}
_REQUESTS_USD: Final = (
    6 * S3_PUT.each
    + S3_GET.each
    + 3 * SQS_REQUEST.each
    + 4 * WRITE_UNIT.each
    + 2000 * LOG_BYTE.each
)
"""Per object at most: a PUT to Glacier costs six times the usual."""

_INVOCATION_MS: Final = 1000
_ALARMS_OF: Final = {"malformed": "DeadLettersAlarm", "unreadable": "UnreadableAlarm"}


@dataclass(frozen=True, slots=True)
class SelftestResult:
    """The result of `selftest`."""

    header: Header = field(metadata=INLINE)
    estimated_usd: Annotated[float, "Maximum cost."]
    all_passed: Annotated[bool, "Whether no check failed."]
    checks: Annotated[Sequence[CheckedProperty], "The results."]


@click.command("selftest")
@click.option(
    "--only",
    multiple=True,
    type=_NAMES,
    metavar="NAME",
    help="Run only this check; may be repeated.",
)
@click.option(
    "--skip", multiple=True, type=_NAMES, metavar="NAME", help="Skip this check; may be repeated."
)
@click.option("--keep", is_flag=True, help="Do not delete the data at the end.")
@click.option("--verbose", is_flag=True, help="Do not hide names, ARNs and account IDs.")
@click.option(
    "--timeout",
    type=FiniteRange(min=0),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="Maximum time to wait for each record, each log line, and each message in the dead-letter "
    "queue.",
)
@yes_option
@json_option(SelftestResult)
@stack_options
def selftest(
    target: Target,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    yes: bool,
    timeout: float,
    as_json: bool,
    keep: bool,
    verbose: bool,
) -> None:
    """Test a deployed stack end to end.

    Shows the cost and asks for confirmation. Then it uploads small objects under its own prefix,
    sends messages, runs a small sweep and checks the records. At the end, also after Ctrl-C, it
    deletes its data. docs/how-to/test-a-stack.md lists the checks.

    Without --verbose, the result contains no account, bucket or key, so you can share it.

    Exits with 1 if a check failed, or if you decline.

    Example: bucketsum selftest --skip sweep
    """
    checks = _selected(only, skip)
    stack = target.find()
    header = header_of(stack)
    usd = 0.0 if header.is_local else _estimated_usd(stack, header, checks)
    _note_effects(usd, checks)
    confirm(f"Run {len(checks)} checks on {stack.name}?", "nothing was done", yes=yes)
    if not as_json:
        for name, value in fields_of(header).items():
            say(f"{name:<13}  {_header_text(value)}")
    private = {} if verbose else stack.outputs
    with _cleaned_up(Scratch(stack, timeout), keep=keep) as scratch:
        if not keep:
            checks.append(CLEAN_UP)
        results = [_result_of(check, scratch, private, shown=not as_json) for check in checks]
    all_passed = all(result.outcome is not CheckOutcome.FAILED for result in results)
    if as_json:
        print_json(SelftestResult(header, usd, all_passed, results))
    else:
        say(_summary(results), "bold green" if all_passed else "bold red")
    end_if(not all_passed)


def _selected(only: Sequence[str], skip: Sequence[str]) -> list[SelftestCheck]:
    names = set(only or _NAMES.choices) - set(skip)
    if not names:
        raise click.UsageError("--only and --skip leave no checks to run")
    return [check for check in CHECKS if check.name in names]


@contextmanager
def _cleaned_up(scratch: Scratch, *, keep: bool) -> Iterator[Scratch]:
    """Clean *scratch* up if Ctrl-C, or a defect, ends the checks; otherwise a check does so."""
    try:
        yield scratch
    except BaseException:
        if not keep:
            note("deleting the data of the self-test; another Ctrl-C leaves it")
            scratch.clean_up()
        raise


def _summary(results: Sequence[CheckedProperty]) -> str:
    counts = Counter(result.outcome for result in results)
    return ", ".join(
        count_text(counts[outcome], outcome)
        if outcome is CheckOutcome.KNOWN_DIFFERENCE
        else f"{counts[outcome]} {outcome}"
        for outcome in CheckOutcome
        if counts[outcome]
    )


def _estimated_usd(stack: Stack, header: Header, checks: Sequence[SelftestCheck]) -> float:
    prices = prices_in(header.region, header.architecture)
    object_usd = _REQUESTS_USD + prices.invocation_usd(_INVOCATION_MS, header.memory_mb)
    return sum(check.objects * object_usd + check.usd(stack) for check in checks)


def _note_effects(usd: float, checks: Sequence[SelftestCheck]) -> None:
    """Say the cost, and which alarms the checks set off."""
    note(f"cost: at most about {usd_text(usd)} USD" if usd else "cost: nothing, on the emulator")
    alarms = [alarm for name, alarm in _ALARMS_OF.items() if name in {c.name for c in checks}]
    if usd and alarms:
        note(f"this can set off {' and '.join(alarms)} for some minutes")


def _header_text(value: Any) -> str:  # noqa: ANN401 - any value of the header
    if isinstance(value, dict):
        return ", ".join(f"{name}={text}" for name, text in value.items() if text)
    return str(value)


def _result_of(
    check: SelftestCheck, scratch: Scratch, private: Mapping[str, str], *, shown: bool
) -> CheckedProperty:
    """Run *check* and return its result; if there are *private* names, they are redacted."""
    with spinner(f"{check.name} ..."):
        started = time.monotonic()
        finding = finding_of(check, scratch)
        seconds = time.monotonic() - started
    outcome, detail = finding.outcome, finding.detail
    if private:
        detail = redacted(detail, private)
    if shown:
        line = f"{check.name:<16}  {outcome:<16}  {seconds:>5.1f} s  "
        say(f"{line}{detail}".rstrip(), _STYLES[outcome], indent=len(line))
    return CheckedProperty(check.name, check.proves, outcome, round(seconds, 3), detail)
