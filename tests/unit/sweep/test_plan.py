"""plan: cells, rounds and estimates of a sweep."""

from dataclasses import replace

import pytest
from tests.support.sweeps import unzip_variant

from bucketsum.memory import BASE_MEMORY_BYTES
from bucketsum.prices import prices_in
from bucketsum_lab.errors import BadSweep
from bucketsum_lab.plan.input import SweepInput, SweepLimits
from bucketsum_lab.plan.plan import check_estimate, plan_of, unlimited_plan
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.workloads import WorkloadName

PRICES = prices_in("us-east-1", "arm64")
UNZIP = WorkloadName.UNZIP
SWEEP = SweepInput(
    (Setting(128, 65_536), Setting(128, 1_048_576), Setting(512, 65_536)),
    object_bytes=(1000, 2000),
    repetitions=3,
)


def test_cells_are_the_product() -> None:
    """Each setting meets each object and each concurrency, under an id of its own."""
    plan = plan_of(replace(SWEEP, concurrency=(1, 2)))
    assert len(plan.cells) == len({cell.cell_id for cell in plan.cells}) == 3 * 2 * 2
    assert plan.cells[0].cell_id == "m00128-c000065536-sauto-k01-o000000001000"


def test_ids_sort_as_their_numbers_do() -> None:
    """A query of the table gives the cells by memory, chunk and size."""
    settings = tuple(Setting(m, c) for m in (128, 1024, 10_240) for c in (65_536, 10_000_000))
    plan = plan_of(replace(SWEEP, settings=settings, object_bytes=(1, 5_000_000_000)))
    ids = [cell.cell_id for cell in plan.cells]
    assert ids == sorted(ids)


def test_objects_of_one_size_have_cells_of_their_own() -> None:
    """Objects that are named by key may be equally large."""
    plan = plan_of(replace(SWEEP, object_bytes=(), keys=("a", "b")), [7, 7])
    assert len({cell.cell_id for cell in plan.cells}) == 6


def test_rounds_go_through_all_cells_run_by_run() -> None:
    """Changes over time, such as other tenants' load, are spread over all cells."""
    plan = plan_of(replace(SWEEP, warm_up=False))
    assert plan.rounds[128] == tuple((cell, run) for run in (1, 2, 3) for cell in (0, 1, 2, 3))
    assert plan.samples == 3 * 6


def test_each_version_is_warmed_up_as_widely_as_it_is_used() -> None:
    """Run 0 starts as many execution environments as the widest cell, on its smallest object."""
    plan = plan_of(replace(SWEEP, concurrency=(1, 4)))
    for rounds in plan.rounds.values():
        cell, run = rounds[0]
        assert run == 0
        assert plan.cells[cell].concurrency == 4
        assert plan.cells[cell].object.size_bytes == 1000
    assert plan.samples == 3 * 2 * 3 * (1 + 4) + 2 * 4


def test_each_disk_has_cells_space_and_a_warm_up_of_its_own() -> None:
    """Disks differ in cells, in free space, and in the process that measures on them."""
    settings = tuple(
        Setting(512, 65_536, variant=unzip_variant("tmp", "isal"), disk=disk)
        for disk in ("/small", "/large")
    )
    sweep = replace(SWEEP, settings=settings, object_bytes=(1_000_000,), workload=UNZIP)
    plan = unlimited_plan(sweep, (), 512, {"/small": 1, "/large": 512})
    by_disk = {cell.setting.disk: cell for cell in plan.cells}
    assert "the prober has 1:" in (by_disk["/small"].refused or "")
    assert by_disk["/large"].refused is None
    assert len({cell.cell_id for cell in plan.cells}) == 2
    [version] = unlimited_plan(sweep, (), 512).to_json()["versions"]
    assert [cell["disk"] for cell in version["cells"]] == ["/large", "/small"]
    assert version["rounds"] == [[0, 0], [1, 0], *([cell, n] for n in (1, 2, 3) for cell in (0, 1))]


def test_the_state_machine_gets_rounds_that_point_at_its_cells() -> None:
    """A round's first number is an index into the cells of its own version."""
    for version in plan_of(SWEEP).to_json()["versions"]:
        memory = f"m{version['memory_mb']:05d}-"
        for cell, _ in version["rounds"]:
            assert version["cells"][cell]["cell_id"].startswith(memory)


def test_chunks_that_do_not_fit_are_cells_without_rounds() -> None:
    """Two chunks and the runtime must fit into memory; the text says what would."""
    room = (128 * 1024 * 1024 - BASE_MEMORY_BYTES) // 2
    plan = plan_of(replace(SWEEP, settings=(Setting(128, room), Setting(128, room + 1))))
    fits, larger = plan.cells[0], plan.cells[2]
    assert fits.refused is None
    assert larger.refused is not None
    assert f"at most {room} bytes each do" in larger.refused
    assert {cell for cell, _ in plan.rounds[128]} == {0, 1}


@pytest.mark.parametrize("streams", [1, 2, 4, 16])
def test_more_streams_hold_more_chunks(streams: int) -> None:
    """One more than there are streams, as `OrderedRanges` holds parts."""
    room = (512 * 1024 * 1024 - BASE_MEMORY_BYTES) // (streams + 1)
    fits, larger = plan_of(
        replace(
            SWEEP,
            settings=(Setting(512, room, streams), Setting(512, room + 1, streams)),
            object_bytes=(1000,),
        )
    ).cells
    assert fits.refused is None
    assert f"{streams + 1} chunks do not fit into 512 MB" in (larger.refused or "")
    assert f"at most {room} bytes each do" in (larger.refused or "")
    assert fits.cell_id.startswith(f"m00512-c{room:09d}-s{streams:02d}-k")


def test_auto_streams_hold_what_the_rule_says() -> None:
    """Their parts are the rule's, whatever the chunk size; botocore's two chunks must fit, too."""
    settings = tuple(Setting(512, chunk, "auto") for chunk in (65_536, 250_000_000))
    fits, larger = plan_of(replace(SWEEP, settings=settings, object_bytes=(1000,))).cells
    assert fits.refused is None
    assert fits.cell_id == "m00512-c000065536-sauto-k01-o000000001000"
    assert "and streams auto; 2 chunks do not fit into 512 MB" in (larger.refused or "")


def test_a_memory_size_without_rounds_is_not_published() -> None:
    """Nothing is changed for cells that are not run."""
    plan = plan_of(replace(SWEEP, settings=(Setting(128, 50_000_000), Setting(512, 65_536))))
    assert [version["memory_mb"] for version in plan.to_json()["versions"]] == [512]


def test_more_work_is_estimated_to_take_and_cost_more() -> None:
    """Runs, bytes and invocations raise the estimates; memory raises cost per second."""
    base = plan_of(replace(SWEEP, object_bytes=(100_000_000,)))
    for more in ({"repetitions": 6}, {"object_bytes": (500_000_000,)}):
        other = plan_of(replace(base.sweep, **more))
        assert other.estimated_seconds > base.estimated_seconds
        assert other.estimated_usd(PRICES) > base.estimated_usd(PRICES)
    wide = plan_of(replace(base.sweep, concurrency=(4,)))
    assert wide.estimated_usd(PRICES) > base.estimated_usd(PRICES) * 3


def check(sweep: SweepInput) -> None:
    """Plan *sweep*, and compare its estimate with its limits."""
    plan = plan_of(sweep)
    check_estimate(sweep.limits, plan.estimated_usd(PRICES), plan.estimated_seconds)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (
            SweepLimits(max_usd=0.0),
            r"the estimate is 0\.\d+ USD, above the limit of 0 \(limits.max_usd\)",
        ),
        (
            SweepLimits(max_usd=1e-9),
            r"the estimate is 0\.\d*[1-9] USD, above the limit of 0.000000001 ",
        ),
        (SweepLimits(max_usd=0.0), "raise the limit to 1, or lower runs"),
        (SweepLimits(max_seconds=1), "limits.max_seconds is 1, the estimate"),
    ],
)
def test_an_estimate_above_a_limit_is_refused(limits: SweepLimits, message: str) -> None:
    """The text names the limit, the estimate and what to lower."""
    with pytest.raises(BadSweep, match=message):
        check(replace(SWEEP, limits=limits))


def test_a_sweep_without_limits_may_cost_5_dollars() -> None:
    """A raw execution has the same ceiling as the command; other limits do not lift it."""
    sweep = {
        "object_bytes": [10_000_000_000], "memory_mb": [10_240], "chunk_bytes": [8_388_608],
        "streams": [1], "runs": 600,
    }  # fmt: skip
    inputs: list[dict[str, object]] = [{}, {"limits": {}}, {"limits": {"max_seconds": 1e7}}]
    for limits in inputs:
        with pytest.raises(
            BadSweep, match=r"estimate is \d\d.*limit of 5 \(.*raise the limit to \d\d"
        ):
            check(SweepInput.from_json(sweep | limits))
    check(SweepInput.from_json(sweep | {"limits": {"max_usd": 500}}))
