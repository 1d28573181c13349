"""Next steps for all states but hashed, as `coverage` and the page show them."""

from __future__ import annotations

from typing import Final

from bucketsum.backfill.selection import ARCHIVED
from bucketsum.table.state import ObjectState
from bucketsum_cli.terminal.hints import command_line

HASHED: Final = ObjectState.HASHED
DIFFERS: Final = ObjectState.DIFFERS
REPAIRED: Final = ObjectState.REPAIRED
NEUTRAL: Final = frozenset({HASHED, ObjectState.ARCHIVED, REPAIRED, ObjectState.DELETED})
"""States in which nothing is wrong; all others are findings."""


def next_steps() -> dict[str, str]:
    """The next step for versions of objects, with its command, by state."""
    bucket = ("--bucket", "BUCKET")
    show = command_line("show", "KEY", *bucket)
    repair = command_line("repair", "KEY", *bucket)
    redrive = command_line("redrive", "--key", "KEY", *bucket)
    members = command_line("ls", "--members", "KEY", *bucket)
    ls, backfill = command_line("ls", *bucket), command_line("backfill", "BUCKET")
    return {
        DIFFERS: f"`{show}` has both digests; `{repair}` restores a copy with the recorded one",
        ObjectState.LOST: "S3 no longer has these, and no deletion was recorded: the event was "
        f"lost, or has not arrived yet; else `{repair}`",
        ObjectState.NOT_RECORDED: f"`{ls}` says which wait, need a backfill or are not covered; "
        f"`{backfill}` hashes them, those in {' or '.join(sorted(ARCHIVED))} after a restore, with "
        "--archived",
        ObjectState.UNREADABLE: f"`{redrive}` hashes again what could not be read",
        "unreadable member": f"`{members}` shows the members of an archive",
        ObjectState.DAMAGED: f"`{show}` says what another program changed in a row",
        ObjectState.ARCHIVED: "these are hashed when they are restored",
        REPAIRED: "a newer version has the recorded digest; the old one can be deleted",
        ObjectState.DELETED: f"`{show}` says when, and by whom",
    }
