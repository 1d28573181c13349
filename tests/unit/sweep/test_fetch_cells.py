"""The workload fetch in a plan: its axes, the room on the disk, its data set, its statistics."""

import json
from dataclasses import asdict
from functools import partial
from typing import Any, Final

import pytest
from tests.support.sha1 import sha1_of
from tests.support.sweeps import plan_with

from bucketsum.table.stored_fields import names_of
from bucketsum_lab.errors import BadSweep
from bucketsum_lab.protocol.samples import Sample, SampleStatus
from bucketsum_lab.workloads.fetch.data_set import archives_of, item_of, items_in, manifest_of
from bucketsum_lab.workloads.fetch.model import ArchiveItem, Schedule
from bucketsum_lab.workloads.fetch.workload import SET_BYTES_MIN, FetchStatistics, FetchWorkload

FETCH = FetchWorkload()
LEAST: dict[str, Any] = {
    "workload": "fetch",
    "object_bytes": [100_000_000],
    "memory_mb": [1769],
    "chunk_bytes": [262_144],
}
planned = partial(plan_with, LEAST)
ITEM = ArchiveItem("a.zip", 10, "0" * 40, "1" * 40, 3)


def test_every_schedule_is_a_cell() -> None:
    """Schedules × workers, under ids of their own; the default is everything first."""
    cells = planned(schedule=list(Schedule), workers=[1, 2]).cells
    assert len({cell.cell_id for cell in cells}) == 2 * len(Schedule)
    [only] = planned().cells
    assert only.setting.own == {
        "schedule": "all-first", "work": "unzip-sha1", "workers": 1, "page_cache": "warm",
    }  # fmt: skip


def test_a_page_cache_is_an_axis_of_the_schedules_with_a_disk() -> None:
    """Streamed archives are never on a disk."""
    cells = planned(schedule=["stream", "queue:1"], page_cache=["cold", "warm"]).cells
    assert [tuple(cell.setting.own.values())[3:] for cell in cells] == [("warm",), ("cold",), ()]


@pytest.mark.parametrize(
    ("schedule", "size_bytes", "cause"),
    [
        ("all-first", 500_000_000, None),
        ("all-first", 600_000_000, "needs 573 MB of /tmp, the prober has 512: deploy"),
        ("shell", 600_000_000, "EphemeralStorageSize=573 or more"),
        ("queue:8", 2_000_000_000, None),
        ("stream", 2_000_000_000, None),
    ],
)  # fmt: skip
def test_what_does_not_fit_on_the_disk_is_a_result(
    schedule: str, size_bytes: int, cause: str | None
) -> None:
    """A queue waits for room, so it can have more data than disk."""
    [cell] = planned(schedule=[schedule], object_bytes=[size_bytes]).cells
    assert (cell.refused is None) == (cause is None)
    assert (cause or "") in (cell.refused or "")


def test_overlap_is_estimated_to_be_faster() -> None:
    """All first is the sum of both sides; a second worker needs a second CPU."""
    cells = planned(schedule=["all-first", "queue:1", "stream"], workers=[1, 2]).cells
    seconds = {tuple(cell.setting.own.values())[::2]: cell.seconds for cell in cells}
    assert seconds["queue:1", 1] == seconds["stream", 1] < seconds["all-first", 1]
    assert seconds["all-first", 1] == seconds["all-first", 2]


def test_a_data_set_is_its_archives_and_their_manifest() -> None:
    """Sizes differ eleven-fold and come to the set's size; the manifest has all of them."""
    files = list(FETCH.files(SET_BYTES_MIN))
    sizes = [file.size_bytes for file in files]
    assert sum(sizes) == SET_BYTES_MIN
    assert max(sizes) / min(sizes) == pytest.approx(11, rel=0.001)
    manifest = b"".join(FETCH.generate(SET_BYTES_MIN).chunks())
    items = items_in(manifest, SET_BYTES_MIN)
    assert [(item.name, item.size_bytes) for item in items] == list(archives_of(SET_BYTES_MIN))
    content = b"".join(files[0].chunks())
    assert (len(content), sha1_of(content)) == (sizes[0], items[0].sha1)
    assert item_of(items[0].name, items[0].size_bytes) == items[0]


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (b"x", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b'{"items": []}', "not a list with at least one entry"),
        (b'{"items": [1]}', r"items\[0\] is 1, not an object"),
        (b'{"items": [{}]}', r"items\[0\].name is missing"),
        ({"more": 1}, r"items\[0\].more is not a field; known are name, size_bytes"),
        ({"lines": "3"}, r"items\[0\].lines is \"3\", not a whole number"),
        ({"name": "../a"}, r"items\[0\].name is '../a'; allowed"),
        ({"name": "-rf"}, r"items\[0\].name is '-rf'; allowed"),
        ({"size_bytes": 0}, r"items\[0\].size_bytes is 0, not a whole number in 1.."),
        ({"size_bytes": 11}, "its items have 11 bytes, but the data set has 10"),
    ],
)
def test_a_bad_manifest_is_refused_by_name(
    manifest: bytes | dict[str, object], message: str
) -> None:
    """Manifests may be a user's own."""
    if isinstance(manifest, dict):
        manifest = json.dumps({"items": [asdict(ITEM) | manifest]}).encode()
    with pytest.raises(BadSweep, match=message):
        items_in(manifest, 10)


def test_names_of_items_are_files_of_one_folder() -> None:
    """Two of one name would overwrite each other."""
    with pytest.raises(BadSweep, match="two items have the same name"):
        items_in(manifest_of([ITEM, ITEM]), 20)


STREAMED: Final = {"items": 12, "work_ms": 30, "work_idle_ms": 5}


def test_statistics_are_medians_with_both_models() -> None:
    """D + P and max(D, P), if fetching and working can be told apart."""
    samples = [
        Sample("cell", run, 1, SampleStatus.OK, "", own=STREAMED | {"fetch_ms": fetch})
        for run, fetch in enumerate((10, 50, 40))
    ]
    assert FETCH.statistics(samples) == FetchStatistics(
        items=12, fetch_ms=40, work_ms=30, work_idle_ms=5, sum_ms=70, max_ms=40
    )
    streamed = [Sample("cell", 1, 1, SampleStatus.OK, "", own=STREAMED)]
    assert FETCH.statistics(streamed) == FetchStatistics(items=12, work_ms=30, work_idle_ms=5)
    assert FETCH.statistics([]) is None


def test_each_attribute_of_a_sample_has_a_statistic() -> None:
    """Besides them, there are the two models."""
    assert set(names_of(FetchStatistics)) - {"sum_ms", "max_ms"} == set(FETCH.sample_names)
