"""The group `bucketsum verify`: ``verify BUCKET`` is short for ``verify start BUCKET``."""

from __future__ import annotations

import click

from bucketsum_cli.commands.backfill import places_of
from bucketsum_cli.commands.lazy_group import DefaultCommandGroup


@click.group(
    "verify",
    cls=DefaultCommandGroup,
    places=places_of("verify"),
    default="start",
    argument="bucket",
)
def verify() -> None:
    """Read the objects of a bucket again, and compare their digests.

    `bucketsum verify BUCKET` is short for `bucketsum verify start BUCKET`; see `bucketsum verify
    start --help`. Nothing is downloaded: the stack's function reads, as in a backfill. The
    parameter VerifySchedule repeats it. Below, RUN is a name from `bucketsum verify list`.

    Example: bucketsum verify photos --dry-run
    """
