"""Next steps for the states that are not hashed, as `coverage` and the page show them."""

from __future__ import annotations

from typing import Final

from bucketsum_cli.terminal.hints import command_line

HASHED: Final = "hashed"
DIFFERS: Final = "differs"
NO_OBJECT: Final = "no object"


def next_steps() -> dict[str, str]:
    """The next step for versions of objects, with its command, by state."""
    bucket = ("--bucket", "BUCKET")
    show = command_line("show", "KEY", *bucket)
    redrive = command_line("redrive", "--key", "KEY", *bucket)
    members = command_line("ls", "--members", "KEY", *bucket)
    ls, backfill = command_line("ls", *bucket), command_line("backfill", "BUCKET")
    return {
        DIFFERS: f"`{show}` has both digests; restore a copy that has the recorded one",
        "not recorded": f"`{ls}` says which wait, need a backfill or are not covered; `{backfill}` "
        "hashes all",
        "unreadable": f"`{redrive}` hashes again what could not be read",
        "unreadable member": f"`{members}` shows the members of an archive",
        NO_OBJECT: "these have no object in S3: it was deleted, and the event was lost or has not "
        "arrived yet",
        "damaged": f"`{show}` says what another program changed in a row",
    }
