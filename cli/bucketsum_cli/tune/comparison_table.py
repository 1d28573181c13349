"""The table of two runs, with the cells of both side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum_cli.tables import Cell, Column
from bucketsum_cli.tune.formatting import (
    MISSING,
    chunk_text,
    percent_text,
    speed_text,
    usd_text,
)
from bucketsum_cli.tune.labels import has_notable_streams
from bucketsum_cli.tune.results import statistic_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bucketsum_cli.tune.comparison import Pair

_SETTING: Final = (
    Column("memory", 8, right=True),
    Column("chunk size", 10, right=True),
)
_STREAMS: Final = Column("streams", 7, right=True)
_SPEED: Final = (
    Column("object"),
    Column("MB/s before", 11, right=True),
    Column("after", 7, right=True),
    Column("change", 9, right=True),
)
_COST: Final = (
    Column("after", 10, right=True),
    Column("change", 9, right=True),
    Column("difference", 15),
)


class ComparisonTable:
    """The table of pairs; streams and the workload's own parameters have columns if needed."""

    def __init__(self, pairs: Sequence[Pair], *, per_tb: bool = False) -> None:
        """Take all pairs; *per_tb* gives costs per TB, as machines are compared."""
        self._unit, self._cost = ("TB", "usd_per_tb") if per_tb else ("GB", "usd_per_gb")
        settings = [pair.setting for pair in pairs]
        self._has_streams = has_notable_streams(settings)
        self._own = list(dict.fromkeys(name for setting in settings for name in setting.own))

    @property
    def columns(self) -> list[Column]:
        """The columns."""
        own = [Column(name, 7) for name in self._own]
        cost = Column(f"USD/{self._unit} before", 13, right=True)
        return [*_SETTING, *[_STREAMS] * self._has_streams, *own, *_SPEED, cost, *_COST]

    def row(self, pair: Pair) -> list[str | Cell]:
        """The row of *pair*."""
        setting = pair.setting
        return [
            pair.memory,
            chunk_text(setting.chunk_bytes),
            *[str(setting.streams)] * self._has_streams,
            *(str(setting.own.get(name, MISSING)) for name in self._own),
            *_numbers(pair, self._cost),
        ]


def _numbers(pair: Pair, cost: str) -> list[str | Cell]:
    before, after = pair.before, pair.after
    return [
        pair.object,
        speed_text(statistic_of(before, "mb_per_s")),
        speed_text(statistic_of(after, "mb_per_s")),
        percent_text(pair.mb_per_s_change),
        usd_text(statistic_of(before, cost)),
        usd_text(statistic_of(after, cost)),
        percent_text(pair.usd_per_gb_change),
        Cell(pair.verdict, "bold" if pair.verdict == "different" else "dim"),
    ]
