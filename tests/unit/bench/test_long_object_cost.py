"""The time and the cost of long objects in the document are those of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from bench.cost.long_objects import LongObject
from tests.support.documents import Document

DOCUMENT: Final = Path(__file__).parents[3] / "docs" / "long-objects.md"
TB: Final = 10**12


def test_fifty_terabytes_by_hand() -> None:
    """Lambda's default network, 256 MB: a week, 749 slices, and two dollars."""
    largest = LongObject(50 * TB, 256, 78.125)
    assert largest.slices == 749
    assert largest.seconds == pytest.approx(640_000 + 749)
    compute = 640_749 * 0.25 * 0.0000133334
    assert largest.usd == pytest.approx(compute, rel=0.01)
    assert largest.usd > compute


def test_the_document_has_the_models_numbers() -> None:
    """Slices, hours and dollars of each row."""
    rows = list(Document.read(DOCUMENT).table("size"))
    assert len(rows) == 4
    for size, memory, speed, slices, time, usd in rows:
        row = LongObject(int(size.split()[0]) * TB, int(memory.replace(",", "")), float(speed))
        assert slices == str(row.slices)
        assert time == f"{row.seconds / 3600:.0f} h"
        assert usd == f"{row.usd:.2f}"
