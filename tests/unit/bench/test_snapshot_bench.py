"""bench snapshot: what is measured answers, and plain DuckDB answers the same."""

from pathlib import Path
from typing import Any

import pytest
from bench.snapshot import steps
from bench.snapshot.rows import snapshot_of
from bench.snapshot.steps import PLAIN, STEPS, answer


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two editions of 2,500 rows."""
    folder = tmp_path_factory.mktemp("bench")
    for edition in (0, 1):
        snapshot_of(folder / str(edition), 2500, edition)
    return folder / "0", folder / "1"


def test_plain_duckdb_answers_the_same(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its time would say nothing."""
    monkeypatch.setattr(steps, "_WANTED", 3000)
    ours: dict[str, list[Any]] = {step: [*answer(step, *folders)] for step in STEPS}
    plain: dict[str, list[Any]] = {step: [*answer(f"{PLAIN}{step}", *folders)] for step in STEPS}
    assert ours["count"] == plain["count"] == [(2500,)]
    assert {row[1] for row in ours["duplicates"]} == {row[0] for row in plain["duplicates"]}
    assert [row[5] for row in ours["coverage"]] == [row[4] for row in plain["coverage"]] == [2500]
    assert ours["export"] == [f"{line}\n".encode() for (line,) in plain["export"]]
    places = [sorted((r[digest], r[key]) for r in rows if r[key])
              for rows, digest, key in ((ours["find"], 2, 4), (plain["find"], 0, 2))]  # fmt: skip
    assert places[0] == places[1] != []
    assert {row[0]: row[6] for row in ours["compare"]} == dict(plain["compare"])
