"""`bucketsum tune report`: a run as one HTML page that needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.live_progress import spinner
from bucketsum_cli.terminal.output_files import write_text

if TYPE_CHECKING:
    from pathlib import Path

    from bucketsum_cli.tune.results import Results


def write_report(results: Results, file: Path) -> None:
    """Write the page of *results* to *file*.

    Raises:
        CannotDoError: It cannot be written, or the plotting library is not installed.
    """
    with spinner("drawing the plots ..."):
        try:
            from bucketsum_cli.tune.report.page import page_of  # noqa: PLC0415 - half a second, an extra
        except ModuleNotFoundError as error:
            raise CannotDoError(
                f"the report needs {error.name}, which is not installed; install it with "
                "`uv tool install '.[report]'` in a clone"
            ) from error
        write_text(file, page_of(results))
