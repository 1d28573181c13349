"""Words for the runs of a purpose: backfills or verifications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bucketsum.hashing.ending import Purpose
from bucketsum_cli.terminal.hints import command_line

LAST: Final = "last"
"""In place of an id: the newest backfill."""


@dataclass(frozen=True, slots=True)
class PurposeWords:
    """Words for the runs of a purpose: backfills or verifications, and their command."""

    purpose: Purpose
    name: str
    command: str
    exits: str = ""

    def line(self, *arguments: str) -> str:
        """Its command with *arguments*, for a message; see `command_line`."""
        return command_line(self.command.removeprefix("bucketsum "), *arguments)


BACKFILL: Final = PurposeWords(Purpose.RECORD, "backfill", "bucketsum backfill")

VERIFICATION: Final = PurposeWords(
    Purpose.VERIFY,
    "verification",
    "bucketsum verify",
    ", if an object differs, is lost or unreadable",
)
