"""Objects without a row: what each waits for, and the next steps."""

from __future__ import annotations

from enum import StrEnum

from bucketsum.backfill.selection import ARCHIVED
from bucketsum_cli.terminal.hints import command_line


class Pending(StrEnum):
    """State of an object in the bucket for which nothing is recorded."""

    NOT_HASHED_YET = "not hashed yet"
    """Its event is in a queue, or soon will be."""
    NEEDS_BACKFILL = "needs a backfill"
    """It is from before its bucket was attached."""
    NOT_COVERED = "not covered"
    """No notification to the stack covers its key."""


def pending_hints(bucket: str) -> dict[Pending, str]:
    """The next step for objects of *bucket*, by state."""
    hashes = (
        f"`{command_line('backfill', bucket)}` hashes them, those in "
        f"{' or '.join(sorted(ARCHIVED))} after a restore, with --archived"
    )
    attach = command_line("attach", bucket, "--prefix", "TEXT")
    return {
        Pending.NOT_HASHED_YET: "repeat this later; if no messages wait in "
        f"`{command_line('status')}`, {hashes}",
        Pending.NEEDS_BACKFILL: f"they are from before the bucket was attached; {hashes}",
        Pending.NOT_COVERED: f"no notification covers the keys; {hashes}; `{attach}` covers new "
        "objects",
    }


def listing_hint() -> str:
    """The command that lists the keys there are."""
    return f"`{command_line('ls')}` lists the objects in the bucket"


def dead_letters_hint() -> str:
    """The next step for messages in the dead-letter queue."""
    return (
        f"`{command_line('failures')}` shows the reasons, `{command_line('redrive')}` tries again"
    )
