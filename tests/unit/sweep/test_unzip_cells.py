"""The workload unzip in a plan: its axes, what fits on the disk, what the disk costs."""

from functools import partial
from typing import Any

import pytest
from tests.support.sweeps import plan_with, unzip_variant

from bucketsum.prices import prices_in
from bucketsum.table.archive_settings import Engine, Mode
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.workloads import WORKLOADS, WorkloadName

PRICES = prices_in("us-east-1", "arm64")
LEAST: dict[str, Any] = {
    "workload": "unzip",
    "object_bytes": [100_000_000],
    "memory_mb": [1769],
    "chunk_bytes": [262_144],
}
planned = partial(plan_with, LEAST)


def test_every_way_is_a_cell() -> None:
    """Modes × engines, under ids of their own; streamed by ISA-L where nothing is said."""
    cells = planned(mode=list(Mode), inflate=list(Engine)).cells
    assert len({cell.cell_id for cell in cells}) == 6
    assert {tuple(cell.setting.own.values()) for cell in cells} == {
        (mode, engine, *["auto"] * (mode is not Mode.STREAM)) for mode in Mode for engine in Engine
    }
    [only] = planned().cells
    assert only.setting == Setting(1769, 262_144, "auto", unzip_variant("stream", "isal"))
    assert only.cell_id == "m01769-c000262144-sauto-stream-isal-k01-o000100000000"


def test_the_state_machine_gets_the_mode_and_the_library() -> None:
    """Cells say mode and engine; a sweep that hashes says nothing of them."""
    [cell] = planned(mode=["tmp"], inflate=["zlib"]).to_json()["versions"][0]["cells"]
    assert cell["variant"] == {"mode": "tmp", "inflate": "zlib", "archive_threads": "auto"}
    [cell] = planned(workload="hash").to_json()["versions"][0]["cells"]
    assert "variant" not in cell


@pytest.mark.parametrize(
    ("mode", "size_bytes", "storage_mb", "cause"),
    [
        ("tmp", 130_000_000, 512, None),
        ("tmp", 140_000_000, 512, "the prober has 512: deploy with EphemeralStorageSize=528 or"),
        ("tmp", 140_000_000, 528, None),
        ("discard", 500_000_000, 512, None),
        ("discard", 600_000_000, 512, "EphemeralStorageSize=573 or more"),
        ("stream", 2_000_000_000, 512, None),
    ],
)  # fmt: skip
def test_what_does_not_fit_on_the_disk_is_a_result_with_the_number_to_raise(
    mode: str, size_bytes: int, storage_mb: int, cause: str | None
) -> None:
    """A cell that cannot be is not run, and its cause says what would do."""
    plan = planned(storage_mb, mode=[mode], object_bytes=[size_bytes])
    [cell] = plan.cells
    assert (cell.refused is None) == (cause is None)
    assert (cause or "") in (cell.refused or "")
    assert plan.samples == (0 if cause else 6)


def test_no_larger_disk_is_advised_for_an_archive_that_none_can_hold() -> None:
    """Lambda's largest is 10,240 MB; of an archive of one's own only its own size is known."""
    plan = planned(10_240, (11 * 10**9,), mode=["tmp"], object_bytes=None, keys=["a.zip"])
    assert "can have 10240 at most" in (plan.cells[0].refused or "")
    assert planned(10_240, (9 * 10**9,), mode=["tmp"], object_bytes=None, keys=["a"]).samples


def test_threads_are_an_axis_of_the_modes_with_a_disk() -> None:
    """Estimates use as many vCPUs as there are threads, and only the hasher's number deploys."""
    plan = planned(memory_mb=[3538], mode=["stream", "discard"], archive_threads=["auto", 1, 2, 4])
    cells = {cell.setting.own.get("archive_threads"): cell for cell in plan.cells}
    assert [*cells] == [None, "auto", 1, 2, 4]
    assert cells[1].seconds > cells[2].seconds == cells[4].seconds == cells["auto"].seconds
    tmp = planned(mode=["tmp"], archive_threads=["auto", 2]).cells
    unzip = WORKLOADS[WorkloadName.UNZIP]
    assert [unzip.is_deployable(cell.setting) for cell in tmp] == [True, False]


def test_a_disk_is_paid_for_where_it_is_used() -> None:
    """A stream could be deployed with the 512 MB that cost nothing, so that is its price."""
    small, large = (planned(storage_mb, mode=list(Mode)) for storage_mb in (512, 10_240))
    usd = [[cell.usd(PRICES) for cell in plan.cells] for plan in (small, large)]
    storages = [{str(cell.setting.own["mode"]): cell.storage_mb for cell in large.cells}]
    assert storages == [{"stream": 512, "tmp": 10_240, "discard": 10_240}]
    dearer = {
        str(cell.setting.own["mode"]): after > before
        for cell, before, after in zip(small.cells, *usd, strict=True)
    }
    assert dearer == {"stream": False, "tmp": True, "discard": True}


def test_slower_ways_are_estimated_to_take_longer() -> None:
    """Zlib takes longer than ISA-L; a disk longer than none; hashing alone is the shortest."""
    seconds = {
        tuple(cell.setting.own.values())[:2]: cell.seconds
        for cell in planned(memory_mb=[512], mode=list(Mode), inflate=list(Engine)).cells
    }
    [hashed] = planned(memory_mb=[512], workload="hash").cells
    assert all(seconds[mode, "isal"] < seconds[mode, "zlib"] for mode in Mode)
    assert hashed.seconds < seconds["stream", "isal"] < seconds["discard", "isal"]
    assert seconds["discard", "isal"] < seconds["tmp", "isal"]
