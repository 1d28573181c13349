"""recommend: each strategy picks a setting, or gives the reason why it cannot."""

from dataclasses import replace

import pytest
from tests.support.sweeps import HASH, UNZIP, statistics, stats_of, unzip_variant

from bucketsum.prices import prices_in
from bucketsum_lab.plan.input import Strategy
from bucketsum_lab.plan.input_fields import StrategyName
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.results.recommend import candidates, recommend
from bucketsum_lab.results.recommendation import document_of

PRICES = prices_in("us-east-1", "x86_64")


def cell(memory_mb: int, seconds: float, object_bytes: int = 1_000_000_000) -> CellRow:
    """A measured cell."""
    return CellRow(
        f"m{memory_mb}-o{object_bytes}", Setting(memory_mb, 65_536, 1), 1, object_bytes,
        str(object_bytes), stats=statistics(seconds),
    )  # fmt: skip


# GB-seconds: 128 MB 2.5, 512 MB 4.0, 1769 MB 6.9; MB/s: 50, 125, 250.
CELLS = (cell(128, 20.0), cell(512, 8.0), cell(1769, 4.0))
FOUR = Setting(512, 65_536, 4)


@pytest.mark.parametrize(
    ("strategy", "memory_mb"),
    [
        (Strategy(StrategyName.CHEAPEST), 128),
        (Strategy(StrategyName.FASTEST), 1769),
        (Strategy(StrategyName.BALANCED, weight=1), 128),
        (Strategy(StrategyName.BALANCED, weight=0), 1769),
        (Strategy(StrategyName.BALANCED, weight=0.5), 512),
        (Strategy(StrategyName.CHEAPEST_AT_LEAST, mb_per_s=100), 512),
        (Strategy(StrategyName.CHEAPEST_AT_LEAST, mb_per_s=125), 512),
        (Strategy(StrategyName.CHEAPEST_AT_LEAST, mb_per_s=126), 1769),
        (Strategy(StrategyName.FASTEST_BELOW, usd_per_gb=0.0001), 512),
    ],
)
def test_each_strategy_has_its_best(strategy: Strategy, memory_mb: int) -> None:
    """The recommendation names the parameters to deploy."""
    choice = document_of(recommend(CELLS, strategy, PRICES, HASH))
    assert choice["parameters"] == {"MemorySize": memory_mb, "Streams": 1}
    assert choice["reason"]


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        (Strategy(StrategyName.CHEAPEST_AT_LEAST, mb_per_s=300), "the fastest came to 250.0"),
        (Strategy(StrategyName.FASTEST_BELOW, usd_per_gb=1e-6), "the cheapest 0.0"),
    ],
)
def test_a_condition_that_no_setting_meets_is_the_reason(strategy: Strategy, reason: str) -> None:
    """No setting is recommended that does not fulfil the condition."""
    choice = recommend(CELLS, strategy, PRICES, HASH)
    assert choice.best is None
    assert reason in choice.reason
    assert "parameters" not in document_of(choice)


@pytest.mark.parametrize(("streams", "is_named"), [(1, False), ("auto", False), (4, True)])
def test_a_chunk_size_without_an_effect_is_not_deployed(
    streams: int | str, *, is_named: bool
) -> None:
    """It is only named with several streams, whose parts have its size."""
    alone = replace(CELLS[0], setting=Setting(128, 65_536, streams))
    best = recommend([alone], Strategy(), PRICES, HASH).best
    assert best is not None
    assert ("ChunkBytes" in best.parameters) is is_named


def test_a_setting_that_failed_once_is_no_candidate() -> None:
    """A setting that fails with one object is not recommended for its speed with another."""
    failed = replace(cell(1769, 4.0, object_bytes=5), failed=1)
    unmeasured = replace(cell(512, 8.0, object_bytes=5), stats=None)
    accepted = candidates([*CELLS, failed, unmeasured], PRICES, HASH)
    assert [candidate.setting.memory_mb for candidate in accepted] == [128]


def ways(*measured: tuple[str, str, float]) -> list[CellRow]:
    """Cells of mode, engine and seconds, with a disk of 2,048 MB where they use one."""
    return [
        replace(
            cell(1769, seconds), setting=Setting(1769, 65_536, 1, unzip_variant(mode, inflate)),
            storage_mb=512 if mode == "stream" else 2048,
        )
        for mode, inflate, seconds in measured
    ]  # fmt: skip


def test_what_cannot_be_deployed_is_never_recommended() -> None:
    """However fast: discard keeps nothing, and the hasher inflates with ISA-L where it is there."""
    cells = ways(("discard", "isal", 1.0), ("stream", "zlib", 2.0), ("stream", "isal", 3.0))
    choice = document_of(recommend(cells, Strategy(StrategyName.FASTEST), PRICES, UNZIP))
    assert choice["parameters"] == {
        "MemorySize": 1769, "Streams": 1, "ArchiveMode": "stream",
    }  # fmt: skip
    assert choice["setting"]["inflate"] == "isal"
    none = recommend(cells[:2], Strategy(), PRICES, UNZIP)
    assert (none.best, none.reason) == (
        None, "discard, null, zlib and threads other than auto cannot be deployed",
    )  # fmt: skip


def test_a_recommended_disk_comes_with_its_size() -> None:
    """A setting that was measured with a larger disk needs it, and its price includes it."""
    cells = ways(("tmp", "isal", 1.0), ("stream", "isal", 3.0))
    choice = recommend(cells, Strategy(StrategyName.FASTEST), PRICES, UNZIP)
    assert document_of(choice)["parameters"] == {
        "MemorySize": 1769, "Streams": 1, "ArchiveMode": "tmp",
        "EphemeralStorageSize": 2048,
    }  # fmt: skip
    [without] = candidates([replace(cells[0], storage_mb=512)], PRICES, UNZIP)
    assert choice.best is not None
    assert choice.best.usd_per_gb > without.usd_per_gb


def test_settings_that_are_left_out_are_counted() -> None:
    """The reason accounts for every setting of the table."""
    cells = ways(("discard", "isal", 1.0), ("tmp", "isal", 2.0), ("stream", "isal", 3.0))
    lost = replace(cells[0], stats=None, setting=replace(cells[0].setting, memory_mb=128))
    choice = recommend([*cells, lost], Strategy(StrategyName.FASTEST), PRICES, UNZIP)
    assert choice.reason == (
        "the fastest, of 2 of 4 settings: 1 failed or is not measured, 1 cannot be deployed"
    )
    slow = Strategy(StrategyName.CHEAPEST_AT_LEAST, mb_per_s=400)
    assert recommend(cells[1:], slow, PRICES, UNZIP).reason == (
        "the cheapest that reaches 400 MB/s, of 2 settings"
    )


def test_nothing_measured_recommends_nothing() -> None:
    """The answer is a reason instead."""
    choice = recommend([replace(CELLS[0], stats=None)], Strategy(), PRICES, HASH)
    assert choice.best is None
    assert "without a failure" in choice.reason


def test_objects_count_by_their_bytes() -> None:
    """A setting's speed is all bytes over all median seconds, not a mean of speeds."""
    [setting] = candidates([cell(512, 8.0), cell(512, 1.0, object_bytes=10_000_000)], PRICES, HASH)
    assert setting.mb_per_s == pytest.approx(1010 / 9)


def test_settings_as_fast_as_the_chosen_one_are_named() -> None:
    """If chance alone may decide, the answer also names the equally fast settings."""
    alike = [
        replace(measured, stats=replace(stats_of(measured), indistinguishable_from_best=True))
        for measured in CELLS[1:]
    ]
    choice = recommend([CELLS[0], *alike], Strategy(StrategyName.FASTEST), PRICES, HASH)
    assert choice.also == (Setting(512, 65_536, 1),)
    assert recommend([CELLS[0], *alike], Strategy(StrategyName.CHEAPEST), PRICES, HASH).also == ()


@pytest.mark.parametrize(
    ("strategy", "memory_mb"),
    [
        (Strategy(StrategyName.CHEAPEST), 1024),
        (Strategy(StrategyName.CHEAPEST_AT_LEAST, mb_per_s=20), 1024),
        (Strategy(StrategyName.FASTEST), 1024),
        (Strategy(StrategyName.FASTEST_BELOW, usd_per_gb=1), 1024),
        (Strategy(StrategyName.BALANCED, weight=1), 1024),
        (Strategy(StrategyName.BALANCED, weight=0), 1024),
    ],
)
def test_a_tie_goes_to_the_better_other_measure(strategy: Strategy, memory_mb: int) -> None:
    """Of what is within 1 % by the strategy, the faster or the cheaper; then the smaller."""
    # memory × time is the same from 128 to 1024 MB; the largest pays 7 times as much for 0.2 %
    cells = [cell(128, 80.0), cell(1024, 10.0), cell(7168, 9.98), cell(256, 40.0)]
    best = recommend(cells, strategy, PRICES, HASH).best
    assert best is not None
    assert best.setting.memory_mb == memory_mb


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([replace(cell(512, 8.0), setting=Setting(512, 70_000, 1)), CELLS[1]], CELLS[1].setting),
        ([CELLS[1], replace(cell(512, 7.95), setting=FOUR)], CELLS[1].setting),
        ([CELLS[1], replace(cell(512, 7.8), setting=FOUR)], FOUR),
        ([cell(128, 32.1), CELLS[1]], CELLS[1].setting),  # 0.3 % more expensive, and slower
    ],
    ids=["the smaller of equal ones", "below one percent", "above it", "a slower one"],
)
def test_a_difference_below_one_percent_is_none(cells: list[CellRow], expected: Setting) -> None:
    """Of equal settings it is always the smaller; more connections must bring one percent."""
    best = recommend(cells, Strategy(), PRICES, HASH).best
    assert best is not None
    assert best.setting == expected
