"""The axes beside memory as columns or lines of a plot: as many as can be told apart."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from bucketsum_cli.tune.formatting import chunk_text
from bucketsum_cli.tune.labels import streams_text
from bucketsum_cli.tune.results import is_measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from bucketsum.sweep.axes import Setting
    from bucketsum.sweep.measurements_table import CellRow

COLUMNS: Final = 8
"""More would not be readable on a phone."""

LINES: Final = 6
"""More could not be followed."""

_TITLES: Final[Mapping[str, str]] = {
    "chunk_bytes": "chunk size",
    "streams": "streams",
    "mode": "mode",
    "inflate": "inflate",
}


class Ways:
    """What varies in *cells* beside memory.

    Where its combinations are more than can be shown, an axis is folded: of its values only the
    one of the fastest cell is shown.
    """

    def __init__(
        self, cells: Sequence[CellRow], most: int, folded_first: Sequence[str] = ("chunk_bytes",)
    ) -> None:
        """Take what varies in *cells*; *folded_first* says what is given up for *most*."""
        settings = [cell.setting for cell in cells]
        varying = [name for name in _TITLES if len({getattr(one, name) for one in settings}) > 1]
        self._shown = varying or ["chunk_bytes"]
        self._folded: list[str] = []
        for name in (*folded_first, *_TITLES):
            too_many = len({self.of(one) for one in settings}) > most
            if too_many and name in self._shown and len(self._shown) > 1:
                self._shown.remove(name)
                self._folded.append(name)
        in_order = sorted(settings, key=lambda one: one.order[1:])  # memory is the other axis
        first = {self.of(one): one for one in reversed(in_order)}
        self.all: Final = tuple(dict.fromkeys(map(self.of, in_order)))
        self.labels: Final = [self.label(first[way]) for way in self.all]
        self.headings: Final = [self.heading(first[way]) for way in self.all]

    @property
    def title(self) -> str:
        """What they are: ``chunk size``, ``mode × inflate``."""
        return " × ".join(_TITLES[name] for name in self._shown)

    @property
    def folded_title(self) -> str:
        """What is not shown but of the fastest, as ``, fastest streams``; empty where all is."""
        names = " and ".join(_TITLES[name] for name in self._folded)
        return f", fastest {names}" if names else ""

    def of(self, setting: Setting) -> tuple[object, ...]:
        """The way of a setting; equal for settings that share a column or a line."""
        return tuple(getattr(setting, name) for name in self._shown)

    def label(self, setting: Setting) -> str:
        """How that way is called: ``1 MiB, 4 streams``."""
        return ", ".join(_TEXTS[name](setting) for name in self._shown)

    def heading(self, setting: Setting) -> str:
        """The same over a column: a line for each axis, and as short as can be."""
        return "\n".join(_SHORT.get(name, _TEXTS[name])(setting) for name in self._shown)

    def folded_label(self, setting: Setting) -> str:
        """What of a setting is not in its way's name, as short."""
        return ", ".join(_SHORT.get(name, _TEXTS[name])(setting) for name in self._folded)

    def fastest(self, cells: Iterable[CellRow]) -> list[CellRow]:
        """Of the cells of one memory and way the fastest; in the order given."""
        groups: dict[tuple[object, ...], list[CellRow]] = defaultdict(list)
        for cell in cells:
            groups[cell.memory_mb, self.of(cell.setting)].append(cell)
        return [max(some, key=_speed) for some in groups.values()]


def _speed(cell: CellRow) -> float:
    return (cell.mb_per_s or 0.0) if is_measured(cell) else -1.0


_TEXTS: Final[Mapping[str, Callable[[Setting], str]]] = {
    "chunk_bytes": lambda setting: chunk_text(setting.chunk_bytes),
    "streams": lambda setting: streams_text(setting.streams),
    "mode": lambda setting: setting.mode or "",
    "inflate": lambda setting: setting.inflate or "",
}
_SHORT: Final[Mapping[str, Callable[[Setting], str]]] = {
    "streams": lambda setting: f"× {setting.streams}",
}
