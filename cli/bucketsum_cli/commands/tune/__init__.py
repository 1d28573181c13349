"""The group `bucketsum tune`."""

from __future__ import annotations

from typing import Final

import click

from bucketsum_cli.commands.lazy_group import LazyGroup

_PLACES: Final = {
    "run": "bucketsum_cli.commands.tune.run:run",
    "list": "bucketsum_cli.commands.tune.recorded:list_runs",
    "show": "bucketsum_cli.commands.tune.recorded:show",
    "compare": "bucketsum_cli.commands.tune.compare:compare",
    "export": "bucketsum_cli.commands.tune.recorded:export",
    "report": "bucketsum_cli.commands.tune.recorded:report",
    "apply": "bucketsum_cli.commands.tune.apply:apply",
}


@click.group("tune", cls=LazyGroup, places=_PLACES)
def tune() -> None:
    """Measure and recommend settings of the hashing function.

    A sweep measures every combination of settings, objects and concurrencies several times; each
    combination is a cell. A run is one execution of a sweep; RUN is its name, or `last` for the
    newest run.
    """
