"""unzip: every variant, and the ratios of the tables."""

import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.tables.table import Spread
from bench.unzip import variants as unzipping
from bench.unzip.archives import BenchArchive
from bench.unzip.command import RIVALS, dump_and_extract, ratios, variants
from bench.unzip.turns import OURS, Turns, TurnTiming, missing_programs, slowdown
from bench.unzip.variants import COMPARED, main

from bucketsum_lab.workloads.fetch.data_set import item_of
from bucketsum_lab.workloads.unzip.generated_archive import GeneratedArchive


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """An archive of two files and a folder."""
    path = tmp_path / "small.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d/", b"")
        archive.writestr("d/x", b"x" * 700_000)
        archive.writestr("y", b"y")
    return path


@pytest.fixture(scope="module")
def missing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The programs that are not installed; the one in Go is compiled into a folder of its own."""
    folder = tmp_path_factory.mktemp("go")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unzipping, "FOLDER", folder)
        patch.setattr(unzipping, "GO", folder / "unzip-go")
        yield missing_programs()


@pytest.mark.parametrize("variant", COMPARED)
def test_every_variant_unzips(
    variant: str,
    small: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    missing: dict[str, str],
) -> None:
    """Each prints its time, CPU time and memory; those that write leave files behind."""
    if variant.split(maxsplit=1)[0] in missing:
        pytest.skip("the program is not installed")
    main(variant, small, tmp_path / "out")
    timing = TurnTiming(**json.loads(capfd.readouterr().out))
    assert timing.seconds > 0
    assert timing.peak_bytes > 5_000_000
    extracts = variant in ("zipfile.extractall", "unzip", "Go archive/zip to disk")
    assert (tmp_path / "out" / "d" / "x").exists() == extracts


def test_the_program_in_go_comes_to_the_same_digests(
    tmp_path: Path, missing: dict[str, str]
) -> None:
    """Its SHA-1s are those of a sweep's archive and of its members."""
    if "Go" in missing:
        pytest.skip("Go is not installed")
    archive = tmp_path / "a.zip"
    archive.write_bytes(b"".join(GeneratedArchive(300_000).chunks()))
    item = item_of("a.zip", 300_000)
    printed = subprocess.run(
        [unzipping.GO, "sha1", archive], check=True, capture_output=True, text=True
    )
    assert printed.stdout.split() == [item.sha1, item.members_sha1]


def test_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are still compared."""
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert [*missing_programs()] == ["unzip", "Go"]


def test_ratio_is_taken_turn_by_turn() -> None:
    """Other work in a turn affects both variants of the turn."""
    turns: Turns = {
        OURS: [TurnTiming(1, 1, 1), TurnTiming(10, 10, 1)],
        "other": [TurnTiming(2, 2, 1), TurnTiming(20, 20, 1)],
    }
    assert slowdown(turns, "other") == Spread(2, 2, 2)


def test_the_tables_have_the_measurements(small: Path) -> None:
    """MB/s are of the archive's bytes and wall time; ratios are of CPU time."""
    archive = BenchArchive("a", small, 100_000_000, 300_000_000, 165, 128)
    turns: Turns = {name: [TurnTiming(index, index, 10)] for index, name in enumerate(COMPARED, 2)}
    turns[OURS] = [TurnTiming(1, 1, 10)]
    assert 100 in dump_and_extract([(archive, turns)]).rows[0]
    slower = {row[0]: row[-1].median for row in variants(archive, turns).rows}
    assert slower["zipfile to /dev/null"] == 3
    [row] = ratios([(archive, turns)]).rows
    assert row[1 + RIVALS.index("zipfile to /dev/null")].median == 3
    on_two = row[1 + len(RIVALS)].median
    assert on_two == pytest.approx(1 / turns[f"{OURS}, 2 threads"][0].seconds)
