"""The answer of a run in sentences: never better than it is."""

import pytest
from tests.cli.tune.sweeps import (
    HUNDRED_MB,
    MIB,
    a_cell,
    a_run,
    a_sample,
    failed_samples,
    results,
)
from tests.support.sweeps import changed

from bucketsum_cli.tune.answer import conclusion, headline, is_loss
from bucketsum_cli.tune.results import Results

NOW = {"memory_mb": 256, "chunk_bytes": MIB, "streams": "auto"}


def compared(times: float, memory_mb: int = 512, weight: str = "fastest") -> Results:
    """A run whose best setting takes *times* the seconds of the deployed one."""
    cells = [a_cell(256, MIB, streams="auto"), a_cell(memory_mb, 8 * MIB, streams=4)]
    samples = [
        changed(a_sample(cell, number, 1), seconds=seconds, billed_ms=round(seconds * 1000))
        for cell, factor in zip(cells, (1.0, times), strict=True)
        for number in range(1, 7)
        for seconds in [2 * factor * (1 + number / 1000)]
    ]
    run = a_run(deployed=NOW, input={"object_bytes": [HUNDRED_MB], "strategy": {"name": weight}})
    return results(cells, samples, run)


@pytest.mark.parametrize(
    ("times", "memory_mb", "text", "loses"),
    [
        (0.4, 512, "150 % faster and 19 % cheaper than the deployed setting, 256 MB / auto", False),
        (0.5, 512, "100 % faster than the deployed setting", False),
        (0.6, 512, "67 % faster but 19 % more expensive than the deployed setting", True),
        (0.999, 256, "as deployed now", False),
        (1.3, 512, "as deployed now", False),
    ],
)
def test_the_gain_is_said_and_so_is_the_loss(
    times: float, memory_mb: int, text: str, *, loses: bool
) -> None:
    """Noise is not a gain, and the deployed setting may be the best."""
    answer = compared(times, memory_mb)
    assert text in conclusion(answer)
    assert is_loss(answer) is loses


def test_a_best_setting_that_brings_nothing_is_not_called_best() -> None:
    """The deployed setting is to be kept; what `apply` would write is named all the same."""
    cells = [a_cell(256, 8 * MIB, streams=4), a_cell(256, MIB, streams="auto")]
    samples = [
        changed(a_sample(cell, number, 1), seconds=2 + number / 1000, billed_ms=2000 + number)
        for cell in cells
        for number in range(1, 7)
    ]
    deployed = {**NOW, "streams": 4, "chunk_bytes": 8 * MIB}
    answer = conclusion(results(cells, samples, a_run(deployed=deployed)))
    assert "100 MB: keep the deployed setting, 256 MB / 8 MiB / 4 streams; the best" in answer
    assert "does not beat it" in answer


def test_an_answer_without_the_deployed_setting_says_so() -> None:
    """A setting that was not compared may be worse: `apply` warns."""
    cell = a_cell(512, MIB)
    answer = results([cell], [a_sample(cell, number, 1) for number in range(1, 6)])
    assert "not compared with the deployed setting, which has no measurement" in conclusion(answer)
    assert is_loss(answer)


def test_a_run_that_ended_early_has_no_best_setting() -> None:
    """Settings without a sample may be better; one that failed has had its chance."""
    cells = [a_cell(memory_mb, MIB) for memory_mb in (256, 512)]
    samples = [a_sample(cells[0], number, 1) for number in range(1, 6)]
    stopped = results(cells, samples, a_run(status="STOPPED"))
    assert headline(stopped) == (
        "Hashing objects of 100 MB: incomplete, 1 of 2 settings measured; 256 MB is best so far"
    )
    failed = results(cells, [*samples, *failed_samples(cells[1], "no")], a_run(status="PARTIAL"))
    assert headline(failed) == "Hashing objects of 100 MB: 256 MB is best"


def test_the_headline_is_the_answer() -> None:
    """Work, size and setting; the local emulator is named, and so is a run without an answer."""
    assert (
        headline(compared(0.4)) == "Hashing objects of 100 MB: 512 MB / 8 MiB / 4 streams is best"
    )
    cell = a_cell(512, MIB)
    local = results([cell], [a_sample(cell, 1, 1)], a_run(label="local"))
    assert headline(local) == "Hashing objects of 100 MB on the local emulator: 512 MB is best"
    here = a_run(input={"workload": "transfer"})
    twins = [cell, a_cell(1769, MIB)]
    tie = results(twins, [changed(a_sample(twin, 1, 1), seconds=2.0) for twin in twins], here)
    assert headline(tie) == (
        "Transferring files of 100 MB: 512 MB is fastest, not significantly faster than 1 other "
        "setting"
    )
    failed = results([cell], failed_samples(cell, "no"), a_run(status="FAILED"))
    assert conclusion(failed) == "Hashing objects of 100 MB: nothing was measured."
