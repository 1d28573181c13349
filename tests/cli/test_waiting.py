"""Waiting for rows: all that come, in whatever order, and never longer than was said."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from tests.cli.deployed import hashed

from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.rows import Row, RowKey
from bucketsum_cli.objects.files import LocalFile
from bucketsum_cli.objects.upload import Upload, wait_for_rows


class SlowTable:
    """Has each row from the moment that *comes_at* says; a look takes a second."""

    def __init__(self, comes_at: Mapping[RowKey, float]) -> None:
        self.now = 0.0
        self.asked_at_a_time = 0
        self._comes_at = comes_at

    def rows_at(self, row_keys: Iterable[RowKey]) -> dict[RowKey, Row]:
        """The rows that have come by now."""
        wanted = list(row_keys)
        self.now += 1
        self.asked_at_a_time = max(self.asked_at_a_time, len(wanted))
        return {
            row_key: hashed(row_key, b"")
            for row_key in wanted
            if self._comes_at[row_key] <= self.now
        }

    def pause(self, seconds: float) -> None:
        """Time passes."""
        assert seconds > 0
        self.now += seconds

    def wait(self, timeout_seconds: float) -> dict[RowKey, Row]:
        """Wait for every row that there will ever be."""
        etag = hashed(RowKey("b", "k", "v"), b"").etag or ""
        uploads = [
            Upload(LocalFile(Path("f"), row_key.key, 0), row_key, etag)
            for row_key in self._comes_at
        ]
        table = cast("DigestsTable", self)
        rows = wait_for_rows(
            table, uploads, timeout_seconds, clock=lambda: self.now, pause=self.pause
        )
        return dict(rows)


@given(moments=st.lists(st.floats(min_value=0, max_value=50), max_size=30))
def test_every_row_that_comes_in_time_is_returned(moments: list[float]) -> None:
    """In whatever order they come."""
    row_keys = {RowKey("b", f"k{n}", "v"): moment for n, moment in enumerate(moments)}
    assert SlowTable(row_keys).wait(100).keys() == row_keys.keys()


@given(moments=st.lists(st.sampled_from([1.0, 1000.0]), min_size=1, max_size=30))
def test_what_does_not_come_is_left_out_when_time_is_over(moments: list[float]) -> None:
    """Those that are there are not held up, and the wait ends."""
    row_keys = {RowKey("b", f"k{n}", "v"): moment for n, moment in enumerate(moments)}
    table = SlowTable(row_keys)
    assert table.wait(20).keys() == {
        row_key for row_key, moment in row_keys.items() if moment == 1.0
    }
    assert table.now < 25


def test_many_are_asked_for_in_turn() -> None:
    """However many there are, one look stays bounded, and those that never come block nobody."""
    row_keys = {RowKey("b", f"k{n}", "v"): 1e9 if n < 1500 else 1.0 for n in range(3000)}
    table = SlowTable(row_keys)
    assert len(table.wait(100)) == 1500
    assert table.asked_at_a_time == 1000


def test_nothing_to_wait_for_asks_nothing() -> None:
    """No uploads, no look."""
    table = SlowTable({})
    assert table.wait(10) == {}
    assert table.now == 0
