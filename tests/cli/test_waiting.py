"""Waiting for rows: all that come, in whatever order, and never longer than was said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from hypothesis import given
from hypothesis import strategies as st
from tests.cli.deployed import hashed

from bucketsum.digests_table import DigestsTable, RowKey
from bucketsum_cli.files import LocalFile
from bucketsum_cli.upload import Upload, wait_for_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bucketsum.digests_table import Row


class SlowLedger:
    """Has each row from the moment that *comes_at* says; a look takes a second."""

    def __init__(self, comes_at: Mapping[RowKey, float]) -> None:
        self.now = 0.0
        self.asked_at_a_time = 0
        self._comes_at = comes_at

    def rows_at(self, places: Iterable[RowKey]) -> dict[RowKey, Row]:
        """The rows that have come by now."""
        asked = list(places)
        self.now += 1
        self.asked_at_a_time = max(self.asked_at_a_time, len(asked))
        return {place: hashed(place, b"") for place in asked if self._comes_at[place] <= self.now}

    def pause(self, seconds: float) -> None:
        """Time passes."""
        assert seconds > 0
        self.now += seconds

    def wait(self, timeout_seconds: float) -> dict[RowKey, Row]:
        """Wait for every row that there will ever be."""
        etag = hashed(RowKey("b", "k", "v"), b"").etag or ""
        uploads = [
            Upload(LocalFile(Path("f"), place.key, 0), place, etag) for place in self._comes_at
        ]
        ledger = cast("DigestsTable", self)
        return wait_for_rows(
            ledger, uploads, timeout_seconds, clock=lambda: self.now, pause=self.pause
        )


@given(moments=st.lists(st.floats(min_value=0, max_value=50), max_size=30))
def test_every_row_that_comes_in_time_is_returned(moments: list[float]) -> None:
    """In whatever order they come."""
    places = {RowKey("b", f"k{n}", "v"): moment for n, moment in enumerate(moments)}
    assert SlowLedger(places).wait(100).keys() == places.keys()


@given(moments=st.lists(st.sampled_from([1.0, 1000.0]), min_size=1, max_size=30))
def test_what_does_not_come_is_left_out_when_time_is_over(moments: list[float]) -> None:
    """Those that are there are not held up, and the wait ends."""
    places = {RowKey("b", f"k{n}", "v"): moment for n, moment in enumerate(moments)}
    ledger = SlowLedger(places)
    assert ledger.wait(20).keys() == {place for place, moment in places.items() if moment == 1.0}
    assert ledger.now < 25


def test_many_are_asked_for_in_turn() -> None:
    """However many there are, one look stays bounded, and those that never come block nobody."""
    places = {RowKey("b", f"k{n}", "v"): 1e9 if n < 1500 else 1.0 for n in range(3000)}
    ledger = SlowLedger(places)
    assert len(ledger.wait(100)) == 1500
    assert ledger.asked_at_a_time == 1000


def test_nothing_to_wait_for_asks_nothing() -> None:
    """No uploads, no look."""
    ledger = SlowLedger({})
    assert ledger.wait(10) == {}
    assert ledger.now == 0
