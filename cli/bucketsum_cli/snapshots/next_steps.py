"""Next steps for the states that are not hashed, as `coverage` and the page show them."""

from __future__ import annotations

from typing import Final

HASHED: Final = "hashed"
DIFFERS: Final = "differs"
NO_OBJECT: Final = "no object"

NEXT_STEPS: Final = {
    DIFFERS: "`bucketsum show KEY` has both digests; restore a copy that has the recorded one",
    "not recorded": "`bucketsum backfill BUCKET` hashes what has no row",
    "unreadable": "`bucketsum redrive --key KEY` hashes again what could not be read",
    "unreadable member": "`bucketsum ls --members KEY` shows the members of an archive",
    NO_OBJECT: "rows without an object: their deletion was not reported, or is on its way",
    "damaged": "`bucketsum show KEY` says what another program changed in a row",
}
"""State → what to do, with the command."""
