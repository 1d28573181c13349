"""Files of runs that are no runs: each has a named error, and no id leaves the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.tune.recorded_runs import RunFiles

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "text",
    [
        '{"run": ',
        "[]",
        "[" * 100_000,
        '{"run": {}, "cells": {}, "samples": {}}',
        '{"run": 3, "cells": [], "samples": {"a": 1}}',
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    """By its path, however it is read."""
    (tmp_path / "damaged.json").write_text(text)
    files = RunFiles(tmp_path)
    for read in (lambda: files.run("damaged"), lambda: list(files.runs())):
        with pytest.raises(CannotDoError, match=r"damaged\.json"):
            read()


@pytest.mark.parametrize("run_id", ["../outside", "", "x" * 300, "a\0b", "\ud800", "ü" * 100])
def test_an_id_that_no_run_has_is_unknown(tmp_path: Path, run_id: str) -> None:
    """It is not taken for a path."""
    (tmp_path / "outside.json").write_text("[]")
    files = RunFiles(tmp_path / "runs")
    assert files.run(run_id) is None
    assert files.cells(run_id) == []
    assert files.samples(run_id) == []
