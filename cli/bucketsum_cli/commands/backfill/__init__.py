"""The group `bucketsum backfill`: ``backfill BUCKET`` is short for ``backfill start BUCKET``."""

from __future__ import annotations

from typing import Final

import click

from bucketsum_cli.commands.lazy_group import DefaultCommandGroup

_RUNS: Final = ("list", "show", "stop", "resume")


def places_of(group: str) -> dict[str, str]:
    """The places of the commands of `backfill`, or of `verify`, for `DefaultCommandGroup`."""
    runs = {name: f"bucketsum_cli.commands.backfill.runs:{group}_{name}" for name in _RUNS}
    report = f"bucketsum_cli.commands.backfill.report:{group}_report"
    return {"start": f"bucketsum_cli.commands.{group}.start:start", **runs, "report": report}


@click.group(
    "backfill",
    cls=DefaultCommandGroup,
    places=places_of("backfill"),
    default="start",
    argument="bucket",
)
def backfill() -> None:
    """Hash the existing objects of a bucket.

    `bucketsum backfill BUCKET` is short for `bucketsum backfill start BUCKET`; see `bucketsum
    backfill start --help`. The backfill runs in the stack, so you can close the terminal. New
    objects never wait for it. Below, BACKFILL is a name from `bucketsum backfill list`.

    Example: bucketsum backfill photos --dry-run
    """
