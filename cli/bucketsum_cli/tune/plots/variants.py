"""Variants of a plot: combinations of the parameters that vary in addition to memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bucketsum_cli.tune.formatting import chunk_text, memory_text
from bucketsum_cli.tune.setting_labels import streams_text
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.workloads import OWN_PARAMETERS

COLUMNS_MAX: Final = 8
"""Maximum columns of a heat map that stay readable on a phone."""

LINES_MAX: Final = 6
"""Maximum lines of a plot that the eye can follow."""

_TITLES: Final[Mapping[str, str]] = {
    "chunk_bytes": "chunk size",
    "streams": "streams",
    **{name: name.replace("_", " ") for name in OWN_PARAMETERS},
    "disk": "disk",
}


class Variants:
    """The variants of some cells: a column or a line for each.

    If there are more than can be shown, a parameter is folded: only its value in the fastest cell
    is shown.

    Attributes:
        combinations: Values of the shown parameters, one tuple per variant, in display order.
        labels: A label for each combination: ``1 MiB, 4 streams``.
        headings: The same for a column: a short line for each parameter.
    """

    def __init__(
        self, cells: Sequence[CellRow], limit: int, fold_first: Sequence[str] = ("chunk_bytes",)
    ) -> None:
        """Leave out parameters, *fold_first* first, until *cells* have at most *limit* variants."""
        settings = [cell.setting for cell in cells]
        varying = [name for name in _TITLES if len({s.values.get(name) for s in settings}) > 1]
        self._shown = varying or ["chunk_bytes"]
        self._folded: list[str] = []
        for name in (*fold_first, *_TITLES):
            too_many = len(set(map(self.combination_of, settings))) > limit
            if too_many and name in self._shown and len(self._shown) > 1:
                self._shown.remove(name)
                self._folded.append(name)
        ordered = sorted(settings, key=lambda setting: setting.order[1:])  # memory: the other axis
        examples = {self.combination_of(setting): setting for setting in reversed(ordered)}
        self.combinations: Final = tuple(dict.fromkeys(map(self.combination_of, ordered)))
        examples_in_order = [examples[combination] for combination in self.combinations]
        self.labels: Final = [*map(self.label_of, examples_in_order)]
        self.headings: Final = [_short(setting, self._shown, "\n") for setting in examples_in_order]

    @property
    def title(self) -> str:
        """The shown parameters: ``chunk size``, ``mode × inflate``."""
        return " × ".join(_TITLES[name] for name in self._shown)

    @property
    def folded_title(self) -> str:
        """The parameters without a column, as the end of a title, such as ``, fastest streams``."""
        names = " and ".join(_TITLES[name] for name in self._folded)
        return f", fastest {names}" if names else ""

    def combination_of(self, setting: Setting) -> tuple[object, ...]:
        """The values of the shown parameters; equal settings share a column or a line."""
        values = setting.values
        return tuple(values.get(name) for name in self._shown)

    def label_of(self, setting: Setting) -> str:
        """The label of the setting's variant."""
        return ", ".join(filter(None, (_text(name, setting) for name in self._shown)))

    def folded_label_of(self, setting: Setting) -> str:
        """Short label of the parameters that share a column."""
        return _short(setting, self._folded, ", ")

    def fastest(self, cells: Iterable[CellRow]) -> list[CellRow]:
        """The fastest cell of each memory size and variant, in the order of *cells*."""
        groups: dict[tuple[object, ...], list[CellRow]] = defaultdict(list)
        for cell in cells:
            groups[cell.setting.memory_mb, self.combination_of(cell.setting)].append(cell)
        return [max(group, key=_speed) for group in groups.values()]


def cell_labels(cells: Sequence[CellRow]) -> Mapping[str, str]:
    """Labels by the cells' ids: the parameters that vary, and memory if it does."""
    variants = Variants(cells, len(cells))
    has_memory = len({cell.setting.memory_mb for cell in cells}) > 1
    return {
        cell.cell_id: ", ".join(
            [memory_text(cell.setting.memory_mb)] * has_memory + [variants.label_of(cell.setting)]
        )
        for cell in cells
    }


def _short(setting: Setting, names: Iterable[str], separator: str) -> str:
    return separator.join(
        f"× {setting.streams}" if name == "streams" else _text(name, setting) for name in names
    )


def _speed(cell: CellRow) -> float:
    """MB/s; a cell without a measurement is slower than any other."""
    return cell.stats.mb_per_s if cell.stats else -1.0


def _text(name: str, setting: Setting) -> str:
    if name == "chunk_bytes":
        return chunk_text(setting.chunk_bytes)
    if name == "streams":
        return streams_text(setting.streams)
    if name == "disk":
        return setting.disk or ""
    return OWN_PARAMETERS[name].label.format(setting.own[name]) if name in setting.own else ""
