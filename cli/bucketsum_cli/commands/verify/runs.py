"""`bucketsum verify list`, `show`, `stop` and `resume`: those of backfills, for verifications."""

from __future__ import annotations

from bucketsum_cli.backfill.backfills import VERIFICATION
from bucketsum_cli.commands.backfill.runs import commands_of

list_runs, show, stop, resume = commands_of(VERIFICATION, "RUN")
