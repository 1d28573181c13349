"""The deployed setting: measured by every sweep, and compared with the recommendation."""

from dataclasses import replace
from typing import Any

import pytest
from tests.support.sweeps import DEPLOYED, HASH, UNZIP

from bucketsum.prices import prices_in
from bucketsum.table.codec import from_values
from bucketsum_lab.plan.input import Strategy, SweepInput
from bucketsum_lab.plan.input_fields import StrategyName
from bucketsum_lab.plan.plan import plan_of
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.run_records import CellRow, Run, RunStatus
from bucketsum_lab.protocol.samples import Billing, Reading, Sample, SampleStatus
from bucketsum_lab.results.analysis import cell_rows
from bucketsum_lab.results.recommend import improvement, recommend
from bucketsum_lab.results.recommendation import Improvement, document_of

PRICES = prices_in("us-east-1", "arm64")
INPUT: dict[str, Any] = {
    "object_bytes": [20_000_000], "memory_mb": [512], "chunk_bytes": [65_536], "streams": [1, 4],
}  # fmt: skip
NOW = Setting(256, 1_048_576, "auto")
RUN = Run("r", RunStatus.RUNNING, "2026-11-21T04:15:00.000Z", deployed=NOW.values)


def swept(**changes: Any) -> SweepInput:  # noqa: ANN401 - fields of many types
    """The sweep of the input with *changes* on a stack with the template's defaults."""
    return SweepInput.from_json(INPUT | changes).with_deployed(DEPLOYED)


def test_the_deployed_setting_is_measured_though_nobody_named_it() -> None:
    """`auto` is one, too: a run without it cannot tell a gain from a loss."""
    plan = plan_of(swept())
    assert plan.sweep.deployed == NOW
    assert NOW in {cell.setting for cell in plan.cells}
    assert plan.recorded_in(RUN).deployed == NOW.values
    streams = DEPLOYED | {"Streams": "4", "ChunkBytes": "8388608"}
    sweep = SweepInput.from_json(INPUT).with_deployed(streams)
    assert sweep.deployed == Setting(256, 8_388_608, 4)


def test_a_setting_with_the_same_effect_is_not_measured_twice() -> None:
    """With `auto`, the chunk size has no effect; the smallest chunk fits into memory first."""
    sweep = swept(memory_mb=[256], chunk_bytes=[131_072, 65_536], streams=["auto"])
    assert sweep.deployed == Setting(256, 65_536, "auto")
    assert len(sweep.settings) == 2


@pytest.mark.parametrize(
    ("workload", "deployed"),
    [("unzip", {"mode": "stream", "inflate": "isal"}), ("transfer", None), ("fetch", None)],
)
def test_only_work_of_the_hasher_has_a_deployed_setting(
    workload: str, deployed: dict[str, str] | None
) -> None:
    """Archives are read in the deployed mode; no parameter deploys a transfer."""
    setting = swept(workload=workload).deployed
    assert (setting.own if setting else None) == deployed


def measured(**seconds: float) -> tuple[list[CellRow], list[Sample]]:
    """Five samples of each setting, ``now`` and others of 512 MB, around these seconds."""
    settings = {"now": NOW, "better": Setting(512, 65_536, 4), "same": Setting(512, 65_536, 1)}
    cells = [CellRow(name, settings[name], 1, 1_000_000_000, "key") for name in seconds]
    samples = [
        Sample(
            cell.cell_id, number, 1, SampleStatus.OK, "",
            reading=Reading(10**9, took, 1e3 / took),
            billing=Billing(cold=False, billed_ms=round(took * 1000)),
        )
        for cell in cells
        for number in range(1, 6)
        for took in [seconds[cell.cell_id] * (1 + number / 1000)]
    ]  # fmt: skip
    return cells, samples


def gain_of(cells: list[CellRow], samples: list[Sample], run: Run = RUN) -> Improvement | None:
    """The gain of the fastest setting."""
    rows = cell_rows(cells, samples, PRICES, HASH)
    best = recommend(rows, Strategy(StrategyName.FASTEST), PRICES, HASH).best
    return improvement(run, best, rows, samples, PRICES, HASH)


def test_the_gain_is_that_over_the_deployed_setting() -> None:
    """Speed as a part of the deployed MB/s, cost as a part of the deployed cost."""
    gain = gain_of(*measured(now=10.0, better=4.0))
    assert gain is not None
    assert gain.faster == pytest.approx(1.5)
    assert gain.cheaper == pytest.approx(0.2, abs=0.01)  # 0.4 of the time, twice the memory
    assert gain.is_significant
    document = document_of(gain)
    assert document_of(from_values(Improvement, document)) == document


def test_noise_is_no_gain() -> None:
    """Speeds that the rank-sum test cannot tell apart are not significant."""
    gain = gain_of(*measured(now=10.0, same=9.999))
    assert gain is not None
    assert not gain.is_significant


def test_without_a_measurement_there_is_no_gain() -> None:
    """Neither if its cell failed, nor if the run does not name it."""
    cells, samples = measured(now=10.0, better=4.0)
    failed = [
        replace(sample, status=SampleStatus.FAILED) if sample.cell_id == "now" else sample
        for sample in samples
    ]
    assert gain_of(cells, failed) is None
    assert gain_of(cells, samples, replace(RUN, deployed=None)) is None


def test_a_chunk_size_that_matters_makes_another_setting() -> None:
    """With several streams it is the size of a part."""
    assert not Setting(512, 65_536, 4).equals(Setting(512, 131_072, 4))
    assert Setting(512, 65_536, 1).equals(Setting(512, 131_072, 1))
    assert UNZIP.deployed_variant(DEPLOYED) is not None
