"""Comparison of two runs, cell by cell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from bucketsum_cli.terminal.formatting import MISSING
from bucketsum_cli.tune.formatting import memory_text, size_texts
from bucketsum_cli.tune.results import Results, statistic_of
from bucketsum_lab.protocol.parameters import Setting, SettingOrder
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.results.analysis import SIGNIFICANCE, p_value, warm_seconds
from bucketsum_lab.results.record_values import cell_values

_WHOLE_MACHINE: Final = 0
"""Stands for the memory of a setting whose memory no machine enforced."""

_Identity: TypeAlias = "tuple[SettingOrder, tuple[str, ...], int, str, int]"

_MUST_AGREE: Final = ("label", "region", "architecture", "runtime", "price_date", "priced_as")


@dataclass(frozen=True, slots=True)
class Pair:
    """The same cell in two runs.

    Attributes:
        object: The object and the concurrency, as in the tables.
        before: The cell in the first run; None if that run does not have it.
        after: The cell in the second run; None if that run does not have it.
        p_value: Of the rank-sum test of their warm seconds; None without two sets of samples.
        memory_mb: Memory of the setting; `_WHOLE_MACHINE` if it was not enforced in either run.
        disk: Folder of the disk; empty if neither run names one.
    """

    object: str
    before: CellRow | None
    after: CellRow | None
    p_value: float | None
    memory_mb: int
    disk: str

    @property
    def memory(self) -> str:
        """The text of the memory."""
        return "machine" if self.memory_mb == _WHOLE_MACHINE else memory_text(self.memory_mb)

    @property
    def setting(self) -> Setting:
        """The setting of a cell of the pair; the cells differ at most in memory and disk."""
        cell = self.before or self.after
        assert cell is not None  # noqa: S101 - `pairs_of` makes no pair without a cell
        return cell.setting

    @property
    def mb_per_s_change(self) -> float | None:
        """Change of the speed as a fraction; positive if it became faster."""
        return _change(self.before, self.after, "mb_per_s")

    @property
    def usd_per_gb_change(self) -> float | None:
        """Change of the cost as a fraction; positive if it became more expensive."""
        return _change(self.before, self.after, "usd_per_gb")

    @property
    def verdict(self) -> str:
        """Whether the difference in speed is significant."""
        if self.p_value is None:
            return "not comparable"
        return "different" if self.p_value < SIGNIFICANCE else "not significant"


def pairs_of(before: Results, after: Results) -> list[Pair]:
    """Every cell of the two runs, in the order of the table.

    A machine that did not enforce a memory is compared with every memory of the other run, and a
    cell without a named disk with every disk of the other run.
    """
    memories = {
        cell.setting.memory_mb
        for results in (before, after)
        if results.has_memory_axis
        for cell in results.cells
    }
    disks = {cell.setting.disk or "" for results in (before, after) for cell in results.cells}
    cells = [
        _by_identity(results, memories or {_WHOLE_MACHINE}, disks - {""})
        for results in (before, after)
    ]
    texts = _object_texts([before, after])
    return [
        Pair(
            texts[identity[2:]],
            cells[0].get(identity),
            cells[1].get(identity),
            _p_value(before, after, cells[0].get(identity), cells[1].get(identity)),
            identity[0][0],
            identity[0][-1],
        )
        for identity in sorted({*cells[0], *cells[1]})
    ]


def differences(before: Results, after: Results) -> Iterator[str]:
    """Other differences of the runs, which make their numbers harder to compare."""
    old, new = _facts(before), _facts(after)
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            texts = (facts.get(name, MISSING) for facts in (old, new))
            yield "{}: {} before, {} after".format(name, *texts)


def _by_identity(
    results: Results, memories: Iterable[int], disks: Collection[str]
) -> dict[_Identity, CellRow]:
    return {
        _identity(cell, memory_mb, disk): cell
        for cell in results.cells
        for memory_mb in ([cell.setting.memory_mb] if results.has_memory_axis else memories)
        for disk in (disks if disks and _is_on_any(results, cell) else [cell.setting.disk or ""])
    }


def _is_on_any(results: Results, cell: CellRow) -> bool:
    """Whether it uses a disk but names none."""
    workload, setting = results.workload, cell.setting
    return workload is not None and setting.disk is None and workload.uses_disk(setting)


def pair_as_json(pair: Pair) -> dict[str, Any]:
    """The pair with everything that is recorded for both cells."""
    return {
        "before": cell_values(pair.before) if pair.before else None,
        "after": cell_values(pair.after) if pair.after else None,
        "mb_per_s_change": pair.mb_per_s_change,
        "usd_per_gb_change": pair.usd_per_gb_change,
        "p_value": pair.p_value,
        "verdict": pair.verdict,
    }


def _identity(cell: CellRow, memory_mb: int, disk: str) -> _Identity:
    """The key that matches cells of two runs and sorts the table, for this memory and disk."""
    setting = cell.setting
    order = (memory_mb, *setting.order[1:-1], disk)
    return order, tuple(setting.own), cell.object_bytes, cell.key, cell.concurrency


def _object_texts(runs: Iterable[Results]) -> dict[tuple[int, str, int], str]:
    """Texts that tell the objects of all *runs* apart, by size, key and concurrency."""
    texts = {}
    cells = [(results, cell) for results in runs for cell in results.cells]
    sizes = size_texts({cell.object_bytes for _, cell in cells})
    for results, cell in cells:
        identity = (cell.object_bytes, cell.key, cell.concurrency)
        texts[identity] = results.object_text(cell, sizes)
    return texts


def _facts(results: Results) -> dict[str, str | None]:
    facts = {name.replace("_", " "): getattr(results.run, name) for name in _MUST_AGREE}
    facts |= results.machine.facts() if results.machine else {"machine": "Lambda"}
    facts |= results.disk_facts()
    samples = (sample for own in results.samples.values() for sample in own)
    processes = [sample.process for sample in samples if sample.process]
    for name in ("boto3", "layer"):
        versions = {getattr(process, name) for process in processes}
        facts[name] = ", ".join(sorted(filter(None, versions))) or MISSING
    return facts


def _p_value(
    before: Results, after: Results, old: CellRow | None, new: CellRow | None
) -> float | None:
    if old is None or new is None:
        return None
    old_seconds = warm_seconds(before.samples.get(old.cell_id, ()))
    new_seconds = warm_seconds(after.samples.get(new.cell_id, ()))
    return p_value(old_seconds, new_seconds) if old_seconds and new_seconds else None


def _change(before: CellRow | None, after: CellRow | None, name: str) -> float | None:
    old, new = statistic_of(before, name), statistic_of(after, name)
    return None if not old or new is None else new / old - 1
