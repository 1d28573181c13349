"""Files that a command leaves behind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from pathlib import Path

    from bucketsum_cli.tune.results import Results


def write(file: Path, text: str) -> None:
    """Write *text* to *file*.

    Raises:
        CannotDoError: It cannot be written.
    """
    try:
        file.write_text(text, "utf-8", newline="")
    except OSError as error:
        raise CannotDoError(f"{file} cannot be written: {error.strerror or error}") from error


def json_text(document: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    """*document* as the commands print JSON."""
    return json.dumps(document, indent=2) + "\n"


def write_report(results: Results, file: Path) -> None:
    """Write the page of *results* to *file*.

    Raises:
        CannotDoError: It cannot be written, or what draws the plots is not installed.
    """
    try:
        from bucketsum_cli.tune.report.page import page_of  # noqa: PLC0415 - half a second, an extra
    except ModuleNotFoundError as error:
        raise CannotDoError(
            f"the report needs {error.name}, which is not installed; install it with "
            "`pip install 'bucketsum[report]'`"
        ) from error
    write(file, page_of(results))
