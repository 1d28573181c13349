"""The reference of a sweep's input follows the code that reads it."""

import pytest
from tools.reference import pages

from bucketsum_lab.errors import BadSweep
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.input_fields import StrategyName
from bucketsum_lab.workloads import WORKLOADS


@pytest.mark.parametrize("name", WORKLOADS)
def test_documented_sizes_are_those_that_are_read(name: str) -> None:
    """The planner takes the smallest and the largest documented object, and none beyond."""
    [row] = [row for row in pages.workload_objects().splitlines() if row.startswith(f"| `{name}` ")]
    low, high = (int(size.replace(",", "")) for size in row.split("|")[3].split(" to "))
    pair = {"memory_mb": 1769, "chunk_bytes": 1_048_576}
    for size, is_read in ((low, True), (high, True), (low - 1, False), (high + 1, False)):
        raw = {"object_bytes": [size], "pairs": [pair], "workload": name}
        if is_read:
            assert SweepInput.from_json(raw).object_bytes == (size,)
        else:
            with pytest.raises(BadSweep):
                SweepInput.from_json(raw)


def test_each_strategy_has_a_row() -> None:
    """A new strategy needs a sentence that says what it recommends."""
    rows = pages.strategies().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [*StrategyName]
