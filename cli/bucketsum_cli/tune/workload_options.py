"""Options of `bucketsum tune run` for the parameters that only one workload has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from bucketsum.sweep.workloads import WORKLOADS
from bucketsum_cli.tune.sweep_input import CommaSeparated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

INTEGERS: Final = CommaSeparated("numbers", click.INT)
_NAMES: Final = CommaSeparated("names", click.STRING)

_MEANINGS: Final[Mapping[str, str]] = {
    "mode": "stream (no disk), tmp (archive and members on disk), discard (only archive on disk)",
    "inflate": "decompression library ({})",
    "schedule": "order of downloads and work ({}); shell not on Lambda",
    "work": "{}",
    "workers": "number of threads ({})",
    "pattern": "times at which transfers start ({})",
    "client": "{}; not on Lambda: crt, aws-cli, s5cmd, rclone",
    "destination": "{}",
    "warm": "cold, or warm (client used before)",
    "network": "burst, or sustained (burst used up)",
    "layout": "layout of the data ({}); mongodb not on Lambda",
    "reads": "records to read ({})",
    "connections": "concurrent requests ({})",
    "block_bytes": "size of a block ({})",
    "gap_bytes": "largest gap between two ranges that are merged ({}); the value `measured` is "
    "computed from latency and bandwidth",
}
"""Parameter → its meaning; ``{}`` stands for the allowed values."""


def workload_options() -> Iterator[Any]:
    """Yield an option for each parameter that only one workload has."""
    for name, workload in WORKLOADS.items():
        for parameter in workload.parameters:
            has_numbers = not isinstance(parameter.default_value, str)
            yield click.option(
                f"--{parameter.name.replace('_', '-')}",
                parameter.name,
                type=INTEGERS if has_numbers else _NAMES,
                metavar="N,..." if has_numbers else "VALUE,...",
                help=f"For {name}: {_MEANINGS[parameter.name].format(parameter.choices)}.",
            )
