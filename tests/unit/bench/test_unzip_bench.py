"""What the unzip benchmark says is what was measured, and its page is told nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
from bench.unzip.archives import Made
from bench.unzip.side_by_side import SideBySide
from bench.unzip.split import Split
from bench.unzip.tables import BEGIN, END, Report, written_into
from bench.unzip.turns import OURS, Spread, Timing, Turns, slowdown
from bench.unzip.ways import WAYS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """An archive of two files and a folder."""
    path = tmp_path / "small.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d/", b"")
        archive.writestr("d/x", b"x" * 700_000)
        archive.writestr("y", b"y")
    return path


def output_of(*arguments: object) -> str:
    """What this interpreter prints."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("way", WAYS)
def test_every_way_unzips(way: str, small: Path, tmp_path: Path) -> None:
    """Each tells its time, processor time and memory; those that write leave files behind."""
    if way.startswith("unzip") and shutil.which("unzip") is None:
        pytest.skip("unzip is not installed")
    told = Timing(**json.loads(output_of("-m", "bench.unzip.ways", way, small, tmp_path / "out")))
    assert told.seconds > 0
    assert told.peak_bytes > 5_000_000
    extracts = way in ("zipfile.extractall", "unzip")
    assert (tmp_path / "out" / "d" / "x").exists() == extracts


@pytest.mark.parametrize("at_a_time", [1, 2])
def test_archives_are_unzipped_side_by_side(at_a_time: int, small: Path, tmp_path: Path) -> None:
    """All of them, in folders of their own."""
    other = tmp_path / "other.zip"
    shutil.copy(small, other)
    module = ("-m", "bench.unzip.side_by_side")
    seconds = output_of(*module, "zipfile.extractall", at_a_time, tmp_path / "out", small, other)
    assert float(seconds) > 0
    assert (tmp_path / "out" / "small" / "y").exists()
    assert (tmp_path / "out" / "other" / "y").exists()


def test_split_is_of_the_whole_time(small: Path) -> None:
    """Every part takes some, and what all parts leave of the reader's time is its overhead."""
    split = Split(**json.loads(output_of("-m", "bench.unzip.split", small)))
    assert min(split.inflate, split.crc32, split.sha1_members, split.sha1_archive) > 0
    assert split.overhead + split.parts == pytest.approx(split.stream)


def test_ratio_is_taken_turn_by_turn() -> None:
    """What slowed both in a turn slows neither against the other."""
    turns: Turns = {
        OURS: [Timing(1, 1, 1), Timing(10, 10, 1)],
        "other": [Timing(2, 2, 1), Timing(20, 20, 1)],
    }
    assert slowdown(turns, "other") == Spread(2, 2, 2)
    assert Spread.of([3, 1, 2]).text(1) == "2.0 (1.0-3.0)"


def report(small: Path) -> Report:
    """Two archives of 100 MB; `OURS` takes 1 s for each, the others as long as they are listed."""
    made = Made("one", small, 100_000_000, 300_000_000, 165, 128)
    turns: Turns = {way: [Timing(place, place, 10)] for place, way in enumerate(WAYS, 2)}
    turns[OURS] = [Timing(1, 1, 10)]
    side = SideBySide("unzip", cached=True, serial=Spread(4, 4, 4), parallel=Spread(2, 2, 2))
    split = Split(0.4, 0.1, 0.2, 0.1, 1.0, 1.0, 1.6)
    return Report([(made, turns)], [(made, turns)], [(200, side)], {"one": split}, 1)


def test_tables_say_what_was_measured(small: Path) -> None:
    """MB/s are of the archive's bytes and wall time; ratios of processor time."""
    first, ways, *_, together, split = report(small).tables()
    assert dict(zip(first.heads, first.rows[0], strict=True))[OURS] == "100.0"
    line = next(row for row in ways.rows if row[0] == "zipfile to /dev/null")
    assert dict(zip(ways.heads, line, strict=True))["MB/s"] == "33"
    assert line[-1] == "3.00"
    assert together.rows == [["unzip", "in memory", "4.00", "2.00", "50", "100", "2.00"]]
    assert split.rows[0][5] == "200"
    assert split.rows[0][-2:] == ["1.60", "2.00"]
    assert all(len(row) == len(one.heads) for one in report(small).tables() for row in one.rows)


def test_page_is_changed_between_its_marks_only(small: Path, tmp_path: Path) -> None:
    """Twice is the same as once; a page without marks is refused, and left as it is."""
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    written_into(page, report(small))
    once = page.read_text()
    written_into(page, report(small))
    assert page.read_text() == once
    assert once.startswith(f"before\n{BEGIN}\n")
    assert once.endswith(f"{END}\nafter\n")
    assert "old" not in once
    page.write_text("no marks")
    with pytest.raises(SystemExit, match="has no"):
        written_into(page, report(small))
    assert page.read_text() == "no marks"
