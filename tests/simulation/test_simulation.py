"""Thousands of schedules keep every promise; and a product with a bug does not."""

from collections.abc import Mapping
from typing import Any, Final

import pytest
from click.testing import CliRunner
from tests.simulation.__main__ import DOCUMENT, main
from tests.simulation.planted_bugs import (
    PLANTED_BUGS,
    SCHEDULES_MAX,
    PlantedBug,
    first_violation,
)
from tests.simulation.scenario import simulate
from tests.support.documents import Document
from tests.support.expressions import condition_of

SCHEDULES: Final = 20_000
SCHEDULES_OF_TEST: Final = 1_000
BROKEN_BEFORE: Final = (79_036, 63_615, 800_781, 64_742, 4_747, 73_284, 67_002, 73_257, 2_002_975)
"""An event took the place of a newer listed object that could not be read either; a listed archived
object that was overwritten was a dead letter; a newer archived version of the same bytes made the
version ``null`` archived; it was compared with the checksum of a newer version of its bytes; a
verification waited for slices whose message had never been sent; the row of an older event hid a
listed object that the look-up of its batch had missed; that of another replaced a newer one that
had been listed since the reading; a listed object whose row had changed was read for ever; and so
was a version that was queued again with the entity tag that another program had written."""
FOUND_AT: Final = {row[0]: int(row[1]) for row in Document.read(DOCUMENT).table("planted bug")}
"""Planted bug → the number of schedules that `--planted-bugs` needed to find it."""


@pytest.mark.parametrize("first_seed", range(0, SCHEDULES, SCHEDULES_OF_TEST))
def test_every_promise_holds(first_seed: int) -> None:
    """No schedule loses an object, records a wrong digest or ends by the order of its events."""
    seeds = range(first_seed, first_seed + SCHEDULES_OF_TEST)
    outcomes = (simulate(seed) for seed in seeds)
    assert [(outcome.seed, outcome.violations) for outcome in outcomes if outcome.violations] == []


@pytest.mark.parametrize("seed", BROKEN_BEFORE)
def test_a_schedule_that_was_broken_before_holds(seed: int) -> None:
    """Each found a bug of the product, which is far apart from the others."""
    assert simulate(seed).violations == []


@pytest.mark.parametrize("bug", PLANTED_BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug: PlantedBug) -> None:
    """A product with this bug breaks a promise within 5,000 schedules from where it was found."""
    assert first_violation(bug, FOUND_AT.get(bug.name, 1) - 1)


def test_the_document_has_each_planted_bug() -> None:
    """Its table has the bugs in their order, each with the schedules that find it."""
    assert list(FOUND_AT) == [bug.name for bug in PLANTED_BUGS]
    assert all(0 < schedules <= SCHEDULES_MAX for schedules in FOUND_AT.values())


def test_a_seed_replays() -> None:
    """The same seed gives the same steps, whatever ran before; another seed gives others."""
    first = simulate(7, traced=True)
    other = simulate(8, traced=True)
    assert simulate(7, traced=True) == first
    assert other.steps != first.steps


def test_the_command_prints_the_steps_that_break_a_promise() -> None:
    """It ends with 1 and the trace of the first such schedule; with 0 if there is none."""
    result = CliRunner().invoke(main, ["--schedules", "3"])
    assert result.exit_code == 0
    assert "3 schedules from seed 0: no promise broken" in result.output
    bug = next(bug for bug in PLANTED_BUGS if "tombstone" in bug.name)
    with bug.planted():
        result = CliRunner().invoke(main, ["--schedules", "100"])
    assert result.exit_code == 1
    assert "VIOLATION" in result.output
    assert "breaks a promise" in result.output


@pytest.mark.parametrize(
    ("expression", "item", "holds"),
    [
        ("attribute_not_exists(#s)", {}, True),
        ("attribute_not_exists(#s)", {"s": "b"}, False),
        ("attribute_exists(#s) AND t = :b", {"s": "b", "t": "b"}, True),
        ("#s < :b", {"s": "a"}, True),
        ("#s < :b", {"s": "b"}, False),
        ("#s < :b", {}, False),
        ("#s <> :b OR (#s = :b AND t <> :b)", {"s": "b", "t": "c"}, True),
        ("#s <> :b OR (#s = :b AND t <> :b)", {"s": "b", "t": "b"}, False),
    ],
)
def test_conditions_are_evaluated_as_by_dynamodb(
    expression: str, item: Mapping[str, str], *, holds: bool
) -> None:  # fmt: skip
    """A comparison with an absent attribute is false; AND binds more strongly than OR."""

    def value(name: str, item: Mapping[str, Any]) -> object:
        return {":b": "b"}.get(name) or item.get(name.lstrip("#"))

    assert condition_of(expression)(dict(item), value) is holds
