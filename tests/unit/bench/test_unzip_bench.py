"""unzip: every variant, the experiments, and the ratios of the report."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
from bench.tables.spread import Spread
from bench.unzip.archives import Archive
from bench.unzip.experiments import CREATED, archive_pieces, client_for, fake_table, member_results
from bench.unzip.side_by_side import SideBySide
from bench.unzip.split import Split
from bench.unzip.tables import Report
from bench.unzip.turns import OURS, Timing, Turns, slowdown
from bench.unzip.variants import VARIANTS

from bucketsum.archives.archive_hasher import member_row
from bucketsum.archives.member_rows import MemberRows

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


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_unzips(variant: str, small: Path, tmp_path: Path) -> None:
    """Each prints its time, CPU time and memory; those that write leave files behind."""
    if variant.startswith("unzip") and shutil.which("unzip") is None:
        pytest.skip("unzip is not installed")
    module = ("-m", "bench.unzip.variants")
    timing = Timing(**json.loads(output_of(*module, variant, small, tmp_path / "out")))
    assert timing.seconds > 0
    assert timing.peak_bytes > 5_000_000
    extracts = variant in ("zipfile.extractall", "unzip")
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


def test_the_tables_have_the_measurements(small: Path) -> None:
    """MB/s are of the archive's bytes and wall time; ratios are of CPU time."""
    archive = Archive("a", small, 100_000_000, 300_000_000, 165, 128)
    turns: Turns = {name: [Timing(index, index, 10)] for index, name in enumerate(VARIANTS, 2)}
    turns[OURS] = [Timing(1, 1, 10)]
    side = SideBySide("unzip", cached=True, serial=Spread(4, 4, 4), parallel=Spread(2, 2, 2))
    split = Split(0.4, 0.1, 0.2, 0.1, 1.0, 1.0, 1.6)
    report = Report([(archive, turns)], [(archive, turns)], [(200, side)], {"a": split}, 1)
    first, variants, *_, together, parts = [table.as_json() for table in report.tables()]
    assert first[0][OURS] == 100
    rival = next(row for row in variants if row["mode"] == "zipfile to /dev/null")
    assert rival[f"CPU: × {OURS}'s"]["median"] == 3
    assert together[0] | {"serial MB/s": 50, "parallel MB/s": 100, "gain": 2} == together[0]
    assert parts[0]["all else"] == pytest.approx(200)
    assert (parts[0]["× zipfile"], parts[0]["× at best"]) == pytest.approx((1.6, 2))
    assert json.dumps(report.document())
    assert report.text().count("\n\n**") == 5


def test_rows_are_written_to_the_fake_table(tmp_path: Path) -> None:
    """Each request is a line of its file."""
    requests = tmp_path / "requests"
    with fake_table(requests) as url, MemberRows(client_for(url), "digests").writer() as writer:
        writer.put(member_row(CREATED, member_results()[0]))
    [request] = requests.read_text().splitlines()
    assert list(json.loads(request)["RequestItems"]) == ["digests"]


def test_the_large_archive_is_valid(tmp_path: Path) -> None:
    """Two members with correct checksums, one stored and one deflated."""
    path = tmp_path / "large.zip"
    path.write_bytes(b"".join(archive_pieces(1)))
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert [info.compress_type for info in archive.infolist()] == [0, 8]
