"""The workload transfer: its input, its data set, its schedules and its statistics."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import pytest
from tests.support.sweeps import TRANSFER

from bucketsum_lab.errors import BadSweep
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import plan_of
from bucketsum_lab.protocol.objects import PART_BYTES
from bucketsum_lab.protocol.samples import Sample, SampleStatus
from bucketsum_lab.workloads.transfer import data_set, file_times, schedule
from bucketsum_lab.workloads.transfer.clients import CLIENTS
from bucketsum_lab.workloads.transfer.data_set import (
    FILES_MAX,
    SetFile,
    data_files,
    file_sizes,
    listed,
)
from bucketsum_lab.workloads.transfer.file_times import P99_FROM, FileTime, file_statistics
from bucketsum_lab.workloads.transfer.model import PROGRAMS, Pattern, PatternName
from bucketsum_lab.workloads.transfer.workload import (
    FRACTOS_BYTES,
    SET_BYTES_MAX,
    SET_BYTES_MIN,
    TransferStatistics,
)

INPUT: Final = {"workload": "transfer", "memory_mb": [512]}
ITEM_CHARACTERS_MAX: Final = 100_000
"""Of an item of 400 KB, and of a payload of 256 KiB that holds it twice."""


def refusals(**fields: Any) -> set[str | None]:  # noqa: ANN401 - any JSON
    """Why the cells of a sweep with *fields* cannot run."""
    plan = plan_of(SweepInput.from_json(INPUT | fields))
    return {cell.refused for cell in plan.cells}


def test_the_files_of_fractos_are_the_default() -> None:
    """100 files with its smallest and its largest size; an input names neither sizes nor keys."""
    sweep = SweepInput.from_json(INPUT)
    assert (sweep.object_bytes, sweep.settings[0].chunk_bytes) == ((FRACTOS_BYTES,), 262_144)
    sizes = file_sizes(FRACTOS_BYTES)
    assert (len(sizes), min(sizes), max(sizes)) == (100, 112_336, 10_924_380)
    assert sum(sizes) / len(sizes) == 1_562_048


@pytest.mark.parametrize("total", [SET_BYTES_MIN, 2_343_071, 33_333_333, SET_BYTES_MAX])
def test_sizes_add_up(total: int) -> None:
    """For any total; the number of files fits into a sample's item."""
    sizes = file_sizes(total)
    assert sum(sizes) == total
    assert 1 <= len(sizes) <= FILES_MAX
    assert max(sizes) <= PART_BYTES
    assert sizes == file_sizes(total)


def test_the_list_names_the_files_of_the_set() -> None:
    """Each with its SHA-1, without the object that warms clients; the same every time."""
    files = list(data_files(3_000_000))
    assert [file.name for file in files] == ["warm-up", "0001.bin", "0002.bin"]
    assert sum(1 for _ in files[0].chunks()) == 1
    assert files[0].size_bytes == len(b"".join(files[0].chunks())) == 5
    content = data_set.written(listed(3_000_000))
    assert content == b"".join(TRANSFER.generate(3_000_000).chunks())
    assert data_set.read(content, "key") == listed(3_000_000)
    assert len({file.sha1 for file in listed(3_000_000)}) == 2


@pytest.mark.parametrize(
    "line",
    [
        "", "no JSON", "[]", "{}", '{"name": "a", "size_bytes": 1}',
        '{"name": "", "size_bytes": 1, "sha1": "x"}',
        '{"name": "a", "size_bytes": -1, "sha1": "x"}',
        '{"name": "a", "size_bytes": 1.5, "sha1": "x"}',
        '{"name": "a", "size_bytes": 1, "sha1": 5}',
        '{"name": "a", "size_bytes": 1, "sha1": "x", "more": 1}',
    ],
)  # fmt: skip
def test_a_list_that_cannot_be_read_is_refused(line: str) -> None:
    """Its key is named, and the line."""
    with pytest.raises(BadSweep, match=r"'mine\.jsonl'"):
        data_set.read(line.encode(), "mine.jsonl")
    file = SetFile("a", 1, "x")
    with pytest.raises(BadSweep, match="names 1001 files"):
        data_set.read(data_set.written([file] * (FILES_MAX + 1)), "mine.jsonl")


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("serial", Pattern(PatternName.SERIAL)),
        ("limited", Pattern(PatternName.LIMITED)),
        ("limited:16", Pattern(PatternName.LIMITED, 16)),
        ("staccato:1", Pattern(PatternName.STACCATO, 1)),
    ],
)
def test_a_pattern_is_read(text: str, pattern: Pattern) -> None:
    """With its number."""
    [setting] = SweepInput.from_json(INPUT | {"pattern": [text]}).settings
    assert Pattern.of(str(setting.own["pattern"])) == pattern


@pytest.mark.parametrize(
    "pattern",
    ["", "all", "limited:", "limited:0", "limited:257", "limited:04", "serial:2", "staccato:1001",
     4, None, True, ["serial"]],
)  # fmt: skip
def test_another_pattern_is_refused(pattern: object) -> None:
    """With the field's name, and the patterns that there are."""
    with pytest.raises(BadSweep, match=r"^pattern\[0\] is .*serial.*limited:1 to limited:256"):
        SweepInput.from_json(INPUT | {"pattern": [pattern]})


def test_patterns_are_in_order() -> None:
    """Of the list, then of their numbers; not of their digits."""
    texts = ["staccato", "limited:16", "limited:2", "limited", "serial", "staccato:1"]
    sweep = SweepInput.from_json(INPUT | {"pattern": texts})
    ordered = sorted(sweep.settings, key=lambda setting: setting.order)
    assert [setting.own["pattern"] for setting in ordered] == [
        "serial", "limited", "limited:2", "limited:16", "staccato", "staccato:1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"object_bytes": [600_000_000], "pattern": ["serial"]}, "EphemeralStorageSize=573"),
        ({"memory_mb": [128], "destination": ["memory"]}, "raise memory_mb"),
        ({"object_bytes": [500_000_000], "pattern": ["parallel"]}, "files may be open at once"),
        ({"client": ["s5cmd"], "destination": ["null"]}, "destination must be tmp"),
        ({"client": ["rclone"], "warm": ["warm"]}, "none of them can be warm"),
        ({"client": ["aws-cli"]}, "a program that is not installed here; Lambda has none"),
        (
            {"client": ["java-transfer-manager"], "warm": ["warm"]},
            "a program that is not installed",
        ),
    ],
)
def test_a_cell_that_cannot_run_says_why(
    fields: dict[str, Any], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a result, not an error."""
    for name in PROGRAMS:  # `--here`, in an earlier test of this process, may have added them
        monkeypatch.delitem(CLIENTS, name, raising=False)
    [cause] = refusals(**fields)
    assert reason in str(cause)


def test_patterns_with_a_limit_take_any_number_of_files() -> None:
    """Only those that open all files at once are limited."""
    assert refusals(pattern=["limited:256"], object_bytes=[500_000_000]) == {None}


def test_an_estimate_grows_with_the_work() -> None:
    """One after the other takes longest; a drain and a second read are included."""

    def seconds(**fields: object) -> float:
        [cell] = plan_of(SweepInput.from_json(INPUT | fields)).cells
        return cell.seconds

    assert seconds(pattern=["serial"]) > seconds(pattern=["limited:8"])
    assert seconds(pattern=["limited:8"]) > seconds(pattern=["parallel"])
    assert seconds(network=["sustained"]) > seconds() + 5
    assert seconds(destination=["null"]) > seconds()
    assert seconds(pattern=["staccato:1"]) > 100


def jobs_of(pattern: str, jobs: int, run: Callable[[int, float | None], Any]) -> list[Any]:
    """The results of *jobs* in a pattern."""
    read = Pattern.of(pattern)
    return schedule.run_all(read, schedule.threads_of(read, jobs, 2), jobs, run)


@pytest.mark.parametrize(
    ("pattern", "most"),
    [("serial", 1), ("limited", 2), ("limited:3", 3), ("saturated", 6), ("parallel", 6)],
)
def test_as_many_run_at_once_as_the_pattern_has_threads(pattern: str, most: int) -> None:
    """Each waits until so many run; another one would break the barrier."""
    barrier = threading.Barrier(most)
    running, highest, lock = 0, 0, threading.Lock()

    def run(job: int, intended: float | None) -> int:
        nonlocal running, highest
        assert intended is None
        with lock:
            running += 1
            highest = max(highest, running)
        barrier.wait(timeout=10)
        with lock:
            running -= 1
        return job

    assert jobs_of(pattern, 6, run) == list(range(6))
    assert highest <= most


def test_random_starts_are_spread_and_the_same_every_time() -> None:
    """No job starts before its time, which is measured from."""
    began = time.perf_counter()
    starts = jobs_of("staccato:100", 20, lambda _job, intended: (intended, time.perf_counter()))
    intended = [(at or began) - began for at, _ in starts]
    assert intended == sorted(intended)
    assert 0.1 < intended[-1] < 0.3
    assert all(started >= (at or began) for at, started in starts)
    again = jobs_of("staccato:100", 20, lambda _job, intended: intended)
    gaps = [later - earlier for earlier, later in pairwise(intended)]
    repeated = [later - earlier for earlier, later in pairwise(again)]
    assert repeated == pytest.approx(gaps)


@pytest.mark.parametrize("pattern", ["serial", "limited:2", "saturated", "parallel", "staccato:50"])
def test_the_first_failure_ends_the_rest(pattern: str) -> None:
    """It is raised when nothing runs any more; what has not started does not."""
    begun = []

    def run(job: int, _intended: float | None) -> None:
        begun.append(job)
        if job == 0:
            raise OSError("no more")
        time.sleep(0.05)

    before = set(threading.enumerate())
    with pytest.raises(OSError, match="no more"):
        jobs_of(pattern, 50, run)
    assert set(threading.enumerate()) <= before
    if pattern not in ("saturated", "parallel"):  # these start all at once
        assert len(begun) < 50


def a_time(milliseconds: float, first_byte: float | None = 0.002) -> FileTime:
    """A file that started a millisecond late."""
    return FileTime(1000, 0.0, 0.001, first_byte, milliseconds / 1000)


def test_times_fit_into_an_item_and_come_back() -> None:
    """Those of the largest data set, in whole microseconds."""
    long = FileTime(10_924_380, 899.123456, 899.123457, None, 899.999999)
    text = file_times.written([long] * FILES_MAX)
    assert len(text) < ITEM_CHARACTERS_MAX
    assert file_times.read(text) == (long,) * FILES_MAX


def test_a_99th_percentile_needs_many_files() -> None:
    """Of few, the slowest is known and nothing else."""
    few = file_statistics([a_time(ms) for ms in range(1, 101)])
    assert "file_p99_ms" not in few
    assert (few["file_min_ms"], few["file_max_ms"], few["file_mean_ms"]) == (1, 100, 50.5)
    assert (few["file_p50_ms"], few["file_p90_ms"]) == (50.5, 90.1)
    assert few["first_byte_p50_ms"] == 1
    many = file_statistics([a_time(ms, None) for ms in range(1, P99_FROM + 1)])
    assert many["file_p99_ms"] == pytest.approx(990.01)
    assert "first_byte_p50_ms" not in many
    assert file_statistics([a_time(5)])["file_p90_ms"] == 5


def test_statistics_are_of_all_files_of_all_samples() -> None:
    """A cell without a good sample has none."""
    sample = Sample("c", 1, 1, SampleStatus.OK, "now", own={
        "files": 2, "threads": 1, "file_times": file_times.written([a_time(10), a_time(20)]),
    })  # fmt: skip
    later = {**sample.own, "file_times": file_times.written([a_time(60), a_time(70)])}
    stats = TRANSFER.statistics([sample, replace(sample, own=later)])
    assert isinstance(stats, TransferStatistics)
    assert (stats.files, stats.file_p50_ms, stats.file_max_ms) == (2, 40, 70)
    assert TRANSFER.statistics([]) is None
