"""The simulator held against a small burst on the embedded AWS: ``python -m bench scaling-check``.

It needs `bucketsum local up`; slow functions (``--parameter MemorySize=128``) leave the machine
to the emulator. What it can check is that objects per second are concurrency divided by duration.
What it cannot: AWS's scale-up, its quotas, and what S3, SQS and DynamoDB do under load.
"""

from __future__ import annotations

import os
import re
import statistics
import time
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import click

from bench.scaling_limits import MAPPING_PER_MINUTE, MAPPING_START
from bench.scaling_model import Burst, Limit, Ramp, simulate
from bucketsum_cli import output
from bucketsum_cli.files import files_under
from bucketsum_cli.stack import find_local_stack
from bucketsum_cli.upload import put_files, wait_for_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bucketsum_cli.stack import Stack
    from bucketsum_cli.upload import Upload

CONCURRENCIES: Final = (2, 3, 4)
_TIMEOUT_SECONDS: Final = 300
_DURATION: Final = re.compile(r"^REPORT RequestId: \S+\tDuration: ([\d.]+) ms")


@dataclass(frozen=True, slots=True)
class Check:
    """One burst, as it was and as the simulator has it.

    Attributes:
        maximum_concurrency: How many invocations might run at the same time.
        objects: In the burst, each an invocation of its own.
        invocation_seconds: Median duration of an invocation, as the emulator reports it.
        measured_seconds: From the first invocation's start to the last row.
        simulated_seconds: The same by the simulator, given the median duration.
    """

    maximum_concurrency: int
    objects: int
    invocation_seconds: float
    measured_seconds: float
    simulated_seconds: float

    @property
    def ratio(self) -> float:
        """Measured to simulated; above 1, the embedded AWS was slower."""
        return self.measured_seconds / self.simulated_seconds


def compared(
    maximum_concurrency: int, invocations_seconds: list[float], recorded_at: Iterable[str]
) -> Check:
    """What a burst took against what the simulator says.

    Args:
        maximum_concurrency: How many invocations might run at the same time.
        invocations_seconds: What each invocation lasted.
        recorded_at: When each row was made, ISO 8601. The first is an invocation old.
    """
    moments = sorted(datetime.fromisoformat(moment) for moment in recorded_at)
    median = statistics.median(invocations_seconds)
    simulated = simulate(
        Burst(len(moments), median),
        Ramp(MAPPING_START, MAPPING_PER_MINUTE),
        Limit("MaximumConcurrency", maximum_concurrency, ""),
    )
    return Check(
        maximum_concurrency,
        len(moments),
        median,
        (moments[-1] - moments[0]).total_seconds() + median,
        simulated.seconds,
    )


def measure(stack: Stack, maximum_concurrency: int, objects: int, size_bytes: int) -> Check:
    """Queue *objects* up while nobody takes them, then let them go all at once.

    Raises:
        RuntimeError: A row did not come.
    """
    _set_mapping(stack, maximum_concurrency, enabled=False)
    uploads = _uploaded(stack, objects, size_bytes)
    before = len(list(_durations(stack)))
    _set_mapping(stack, maximum_concurrency, enabled=True)
    rows = wait_for_rows(stack.ledger(), uploads, _TIMEOUT_SECONDS)
    if len(rows) != objects:
        raise RuntimeError(f"{len(rows)} of {objects} rows after {_TIMEOUT_SECONDS} s")
    time.sleep(1)  # the last invocation's report comes after its row
    durations = list(_durations(stack))[before:]
    return compared(maximum_concurrency, durations, (row.recorded_at for row in rows.values()))


def _uploaded(stack: Stack, objects: int, size_bytes: int) -> list[Upload]:
    with TemporaryDirectory() as folder:
        for number in range(objects):
            Path(folder, f"{number:04}").write_bytes(os.urandom(16) * (size_bytes // 16))
        return put_files(stack, files_under([Path(folder)], "bench/scaling/").files).uploads


def _set_mapping(stack: Stack, maximum_concurrency: int, *, enabled: bool) -> None:
    client = stack.client("lambda")
    mappings = client.list_event_source_mappings(FunctionName=stack.function)
    for mapping in mappings["EventSourceMappings"]:
        client.update_event_source_mapping(
            UUID=mapping["UUID"],
            Enabled=enabled,
            ScalingConfig={"MaximumConcurrency": maximum_concurrency},
        )


def _durations(stack: Stack) -> Iterator[float]:
    """What every invocation so far lasted, in seconds, in the order of their reports."""
    pages = stack.client("logs").get_paginator("filter_log_events")
    for page in pages.paginate(logGroupName=stack.log_group):
        for event in page["events"]:
            if found := _DURATION.match(event["message"]):
                yield float(found[1]) / 1000


def _show(checks: list[Check]) -> None:
    heads = ("MaximumConcurrency", "invocation (s)", "measured (s)", "simulated (s)", "ratio")
    output.print_table(
        [output.Column(head, max(8, len(head)), right=True) for head in heads],
        (
            [
                f"{one.maximum_concurrency}",
                f"{one.invocation_seconds:.3f}",
                f"{one.measured_seconds:.2f}",
                f"{one.simulated_seconds:.2f}",
                f"{one.ratio:.2f}",
            ]
            for one in checks
        ),
    )
    output.say("Measured on the embedded AWS of this machine; nothing of it is AWS's speed.")


@click.command()
@click.option("--objects", type=click.IntRange(8), default=60, show_default=True)
@click.option("--size-bytes", type=click.IntRange(16), default=3_000_000, show_default=True)
@click.option("--turns", type=click.IntRange(1), default=3, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def main(objects: int, size_bytes: int, turns: int, as_json: bool) -> None:  # noqa: FBT001 - click passes by name
    """Let bursts go on the embedded AWS with MaximumConcurrency 2, 3 and 4, in turns."""
    stack = find_local_stack()
    output.note("warming up")
    measure(stack, max(CONCURRENCIES), 2 * max(CONCURRENCIES), size_bytes)
    checks = []
    for turn in range(turns):
        for concurrency in CONCURRENCIES:
            output.note(f"turn {turn + 1} of {turns}, MaximumConcurrency {concurrency}")
            checks.append(measure(stack, concurrency, objects, size_bytes))
    checks.sort(key=lambda one: one.maximum_concurrency)
    if as_json:
        output.print_json([asdict(one) | {"ratio": one.ratio} for one in checks])
    else:
        _show(checks)
