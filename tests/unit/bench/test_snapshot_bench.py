"""bench snapshot: what is measured answers, and plain Python answers the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench.snapshot.rows import snapshot_of
from bench.snapshot.steps import SCAN, STEPS, main


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two editions of 2,500 rows."""
    folder = tmp_path_factory.mktemp("bench")
    for edition in (0, 1):
        snapshot_of(folder / str(edition), 2500, edition)
    return folder / "0", folder / "1"


def test_plain_python_answers_the_same(folders: tuple[Path, Path]) -> None:
    """Otherwise its time would say nothing."""
    got: dict[str, list[Any]] = {name: [*step(*folders)] for name, step in STEPS.items()}
    wasted = {row[4]: row[0] for row in got["duplicates"]}
    assert [*wasted] == [group[0] for group in got["python duplicates"]]
    assert [f"photos/{row[1]}" for row in got["export"]] == [r[0] for r in got["python export"]]
    counts = {row[0]: row[6] for row in got["compare"]}
    assert dict(got["python compare"]) == {True: counts["equal"], False: counts["differs"]}
    assert len(got["find"]) >= 2500


def test_a_scan_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs no snapshot, and leaves none."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    main(SCAN, str(tmp_path / "a"), "")
    assert json.loads(capsys.readouterr().out)["seconds"] > 0
    assert list(tmp_path.iterdir()) == []
