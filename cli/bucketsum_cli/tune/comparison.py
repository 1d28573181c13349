"""Two runs side by side, cell by cell."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from bucketsum.sweep.analysis import SIGNIFICANCE, p_value
from bucketsum_cli.output import Cell, Column, size_text
from bucketsum_cli.tune.formatting import (
    MISSING,
    chunk_text,
    memory_text,
    percent_text,
    speed_text,
    usd_text,
)
from bucketsum_cli.tune.labels import has_notable_streams
from bucketsum_cli.tune.results import warm_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bucketsum.sweep.measurements_table import CellRow
    from bucketsum_cli.tune.results import Results

_SETTING: Final = (
    Column("memory", 8, right=True),
    Column("chunk size", 10, right=True),
)
_STREAMS: Final = Column("streams", 7, right=True)
_WAY: Final = (Column("mode", 7), Column("inflate", 7))
_NUMBERS: Final = (
    Column("object"),
    Column("MB/s before", 11, right=True),
    Column("after", 7, right=True),
    Column("change", 9, right=True),
    Column("USD/GB before", 13, right=True),
    Column("after", 10, right=True),
    Column("change", 9, right=True),
    Column("the runs are", 15),
)

_MUST_AGREE: Final = ("label", "region", "architecture", "runtime", "price_date")


@dataclass(frozen=True, slots=True)
class Pair:
    """A cell of one run and the same cell of another; None where that has not got it.

    Attributes:
        before: In the first run.
        after: In the second.
        p_value: How likely their warm seconds lie so far apart by chance; None where one has none.
    """

    before: CellRow | None
    after: CellRow | None
    p_value: float | None = None

    @property
    def cell(self) -> CellRow:
        """Whichever there is."""
        found = self.before or self.after
        assert found is not None  # noqa: S101 - `pairs_of` makes none without either
        return found

    @property
    def mb_per_s_change(self) -> float | None:
        """Part by which it became faster."""
        return _change(self.before, self.after, "mb_per_s")

    @property
    def usd_per_gb_change(self) -> float | None:
        """Part by which it became dearer."""
        return _change(self.before, self.after, "usd_per_gb")

    @property
    def verdict(self) -> str:
        """Whether chance explains the difference."""
        if self.p_value is None:
            return "not comparable"
        return "different" if self.p_value < SIGNIFICANCE else "not told apart"


def pairs_of(before: Results, after: Results) -> list[Pair]:
    """Every cell of either run, in the order of the table."""
    cells = [{_identity(cell): cell for cell in results.cells} for results in (before, after)]
    identities = sorted({*cells[0], *cells[1]})
    return [
        Pair(
            cells[0].get(one),
            cells[1].get(one),
            _chance(before, after, cells[0].get(one), cells[1].get(one)),
        )
        for one in identities
    ]


def differences(before: Results, after: Results) -> Iterator[str]:
    """In what the runs differ besides their numbers, which then say less."""
    for name in _MUST_AGREE:
        one, other = getattr(before.run, name), getattr(after.run, name)
        if one != other:
            yield f"{name.replace('_', ' ')}: {one} before, {other} after"
    for name in ("boto3", "layer"):
        ones, others = (
            {getattr(sample, name) for some in results.samples.values() for sample in some} - {None}
            for results in (before, after)
        )
        if ones != others:
            yield f"{name}: {_listed(ones)} before, {_listed(others)} after"


class ComparisonTable:
    """The table of *pairs*: with streams where they say something, with modes of archives."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        settings = [pair.cell.setting for pair in pairs]
        self._has_streams = has_notable_streams(settings)
        self._has_ways = any(one.mode for one in settings)

    @property
    def columns(self) -> list[Column]:
        """Its columns."""
        return [*_SETTING, *[_STREAMS] * self._has_streams, *_WAY * self._has_ways, *_NUMBERS]

    def row(self, pair: Pair) -> list[str | Cell]:
        """One of its rows."""
        setting = pair.cell.setting
        return [
            memory_text(setting.memory_mb),
            chunk_text(setting.chunk_bytes),
            *[str(setting.streams)] * self._has_streams,
            *[setting.mode or MISSING, setting.inflate or MISSING] * self._has_ways,
            *_numbers(pair),
        ]


def _numbers(pair: Pair) -> list[str | Cell]:
    before, after, cell = pair.before, pair.after, pair.cell
    place = size_text(cell.object_bytes)
    if cell.concurrency > 1:
        place += f", {cell.concurrency} at once"
    return [
        place,
        speed_text(before.mb_per_s if before else None),
        speed_text(after.mb_per_s if after else None),
        percent_text(pair.mb_per_s_change),
        usd_text(before.usd_per_gb if before else None),
        usd_text(after.usd_per_gb if after else None),
        percent_text(pair.usd_per_gb_change),
        Cell(pair.verdict, "bold" if pair.verdict == "different" else "dim"),
    ]


def pair_as_json(pair: Pair) -> dict[str, Any]:
    """The same, with everything that is recorded of both."""
    return {
        "before": asdict(pair.before) if pair.before else None,
        "after": asdict(pair.after) if pair.after else None,
        "mb_per_s_change": pair.mb_per_s_change,
        "usd_per_gb_change": pair.usd_per_gb_change,
        "p_value": pair.p_value,
        "verdict": pair.verdict,
    }


def _identity(cell: CellRow) -> tuple[tuple[int, ...], bool, int, str, int]:
    """What it measures, in the order of the table; without archives first."""
    setting = cell.setting
    return (
        setting.order, bool(setting.mode), cell.object_bytes, cell.key, cell.concurrency,
    )  # fmt: skip


def _chance(
    before: Results, after: Results, one: CellRow | None, other: CellRow | None
) -> float | None:
    if one is None or other is None:
        return None
    ones = warm_seconds(before.samples.get(one.cell_id, ()))
    others = warm_seconds(after.samples.get(other.cell_id, ()))
    return p_value(ones, others) if ones and others else None


def _change(before: CellRow | None, after: CellRow | None, name: str) -> float | None:
    if before is None or after is None:
        return None
    one, other = getattr(before, name), getattr(after, name)
    return None if not one or other is None else other / one - 1


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or MISSING
