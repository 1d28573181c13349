"""bench emulator: the emulator's speeds are those of the sandbox, cell by cell."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from bench.emulator.command import DOCUMENT, MEASURED, comparison, fields, planned
from bench.emulator.comparison import Comparison
from bench.emulator.places import Place, pauses

from bucketsum_lab.protocol.samples import Billing, Reading, Sample, SampleStatus

SMALL: Final = 100_000_000
LARGE: Final = 1_000_000_000
PLAN: Final = planned(
    {
        "object_bytes": [SMALL, LARGE],
        "memory_mb": [512],
        "chunk_bytes": [8_388_608],
        "streams": [1, 4],
    }
)


def sample(cell_id: str, mb_per_s: float, ended_at: float = 0.0) -> Sample:
    """A warm sample of a cell."""
    size_bytes = LARGE if cell_id.endswith(f"{LARGE:012}") else SMALL
    seconds = size_bytes / 1e6 / mb_per_s
    at = datetime(2026, 11, 24, tzinfo=UTC) + timedelta(seconds=ended_at)
    return Sample(
        cell_id, 1, 1, SampleStatus.OK, at.isoformat(),
        reading=Reading(size_bytes, seconds, mb_per_s),
        billing=Billing(cold=False, billed_ms=round(seconds * 1000)),
    )  # fmt: skip


def compared(**speeds: float) -> Comparison:
    """80 MB/s in every cell, but for the emulator's *speeds* by object and streams."""
    ids = [cell.cell_id for cell in PLAN.cells]
    names = [f"{size}{streams}" for streams in (1, 4) for size in ("small", "large")]
    emulated = [sample(i, speeds.get(n, 80.0)) for i, n in zip(ids, names, strict=True)]
    return Comparison(
        PLAN, {Place.EMULATOR: emulated, Place.SANDBOX: [sample(i, 80.0) for i in ids]}
    )


@pytest.mark.parametrize(
    ("speeds", "differing"),
    [
        ({}, 0),
        ({"large1": 69.0}, 0),
        ({"large1": 67.0}, 1),
        ({"large4": 93.0}, 1),
        ({"small1": 61.0}, 0),
        ({"small1": 59.0, "large4": 60.0}, 2),
    ],
)
def test_speeds_may_differ_by_15_percent(speeds: dict[str, float], differing: int) -> None:
    """Objects that fit into the burst may differ by 25 %."""
    assert len(compared(**speeds).differing()) == differing


def test_a_cell_without_a_measurement_differs() -> None:
    """A place that measured nothing is no agreement."""
    empty = Comparison(PLAN, {**compared().samples, Place.SANDBOX: []})
    assert len(empty.differing()) == len(PLAN.cells)
    assert not empty.recommendations_agree


def test_the_recommendations_are_compared() -> None:
    """They agree only if both places recommend the same setting."""
    assert compared().recommendations_agree
    assert not compared(small4=99.0, large4=91.0).recommendations_agree


def test_the_pauses_are_the_time_without_a_sample() -> None:
    """From the end of a sample to the start of the next, in the order of time."""
    cell_id = PLAN.cells[0].cell_id
    samples = [sample(cell_id, 100.0, ended_at) for ended_at in (3.4, 0.0, 1.25)]
    assert [*pauses(samples)] == pytest.approx([0.25, 1.15])


def test_the_recorded_comparison_holds() -> None:
    """Emulator and sandbox agree in every cell up to 1,769 MB, as the document shows it."""
    document = json.loads(MEASURED.read_text("utf-8"))
    assert {*map(int, document)} == {512, 1024, 1769}  # above, this machine's cores end it
    recorded = comparison(fields(), document)
    assert recorded.differing() == []
    assert recorded.recommendations_agree
    assert recorded.table("").markdown().split("\n\n")[1] in DOCUMENT.read_text("utf-8")
