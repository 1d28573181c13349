"""View of the workload ``unzip``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum_cli.terminal.formatting import MISSING
from bucketsum_cli.tune.workload_view import TableColumn, WorkloadView

if TYPE_CHECKING:
    from bucketsum_lab.protocol.run_records import CellRow


def _members_text(cell: CellRow) -> str:
    if "members" not in cell.own:
        return MISSING
    return f"{cell.own['members']:,} in {cell.own['directories']:,}"


UNZIP: Final = WorkloadView((TableColumn("members", "files in folders", _members_text),))
