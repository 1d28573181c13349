"""Runs, and the article's table of one, on a terminal."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bucketsum.sweep.measurements_table import RunStatus
from bucketsum_cli import output
from bucketsum_cli.output import Cell, Column, moment_text
from bucketsum_cli.tune.formatting import MISSING, speed_text, usd_text
from bucketsum_cli.tune.labels import SettingLabels
from bucketsum_cli.tune.results import failures_of, recommendation_of
from bucketsum_cli.tune.table import ALIKE, COLD, groups_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bucketsum.sweep.measurements_table import Run
    from bucketsum_cli.tune.results import Results
    from bucketsum_cli.tune.table import TableGroup, TableRow

LOCAL_NOTE: Final = "local: measured on this machine's embedded AWS; none of these numbers is AWS's"

_STYLES: Final = {
    RunStatus.RUNNING: "cyan",
    RunStatus.SUCCEEDED: "green",
    RunStatus.PARTIAL: "yellow",
    RunStatus.FAILED: "red",
    RunStatus.STOPPED: "red",
}

_RUNS: Final = (
    Column("run", 22),
    Column("started (UTC)", 19),
    Column("status", 9),
    Column("on", 5),
    Column("cells", 5, right=True),
    Column("good", 5, right=True),
    Column("failed", 6, right=True),
    Column("recommended"),
)

_MEMBERS: Final = "files in folders"
_RUNS_TITLE: Final = "every run (s)"  # gets what the others leave
_TABLE: Final = (
    Column("object"),
    Column(_MEMBERS, right=True),
    Column("memory used", right=True),
    Column(_RUNS_TITLE),
    Column("average MB/s", right=True),
    Column("MB/s", right=True),
    Column("± s", right=True),
    Column("USD per GB", right=True),
    Column("remarks"),
)
_WIDEST: Final = 30  # from here on a terminal folds: keys and causes may be long


def print_runs(runs: Iterable[Run]) -> None:
    """One line a run."""
    output.print_table(_RUNS, map(_run_cells, runs))


def _run_cells(run: Run) -> list[str | Cell]:
    found = recommendation_of(run)
    return [
        run.run_id,
        moment_text(run.started_at),
        status_cell(run),
        run.label or MISSING,
        _count(run.cells),
        _count(run.samples_ok),
        _count(run.samples_failed),
        SettingLabels([found.setting]).short(found.setting) if found and found.setting else MISSING,
    ]


def _count(number: int | None) -> str:
    return MISSING if number is None else str(number)


def status_cell(run: Run) -> Cell:
    """How the run stands, in its colour."""
    return Cell(run.status, _STYLES[run.status])


def print_results(results: Results) -> None:
    """The article's table, then what failed and what is recommended."""
    run = results.run
    output.say(f"{run.run_id}: {run.status}{f' ({run.cause})' if run.cause else ''}")
    output.say(" · ".join(_facts(results)), "dim")
    if results.is_local:
        output.say(LOCAL_NOTE, "yellow")
    output.say("")
    _print_table(_columns_of(results), groups_of(results))
    output.say("")
    output.say(_legend(results), "dim")
    _print_failures(results)
    print_recommendation(results)


def _facts(results: Results) -> Iterator[str]:
    run = results.run
    yield f"started {moment_text(run.started_at)} UTC"
    for fact in (run.region, run.architecture, run.runtime):
        if fact:
            yield fact
    if run.runs:
        yield f"{run.runs} runs of each cell{' (weak)' if run.weak else ''}"
    if run.price_date:
        yield f"prices of {run.price_date}"


def _columns_of(results: Results) -> tuple[Column, ...]:
    """Files are told of archives alone."""
    return tuple(one for one in _TABLE if results.has_archives or one.title != _MEMBERS)


def _print_table(table: Sequence[Column], groups: Sequence[TableGroup]) -> None:
    """Each group under its heading, all with the same columns."""
    rows = [[_row_cells(row, table) for row in group.rows] for group in groups]
    widths = [
        max(len(_text(cell)) for cell in cells)
        for cells in zip(*itertools.chain([[one.title for one in table]], *rows), strict=True)
    ]
    columns = _columns(table, widths)
    # A pipe has no widths: there the flexible column is padded instead, and the others with it.
    texts = [[_padded(row, columns, widths) for row in some] for some in rows]
    for number, (group, some) in enumerate(zip(groups, texts, strict=True)):
        if number == 0:
            titles: list[str | Cell] = [Cell(column.title, "bold") for column in columns]
            output.print_table(columns, [_padded(titles, columns, widths)], heading=False)
        output.say(group.heading, "bold")
        output.print_table(columns, some, heading=False)


def _columns(table: Sequence[Column], widths: Sequence[int]) -> list[Column]:
    """As wide as their texts, up to a point; the seconds get what the others leave."""
    shown = [min(width, _WIDEST) for width in widths]
    [flexible] = [place for place, column in enumerate(table) if column.title == _RUNS_TITLE]
    others = sum(shown) - shown[flexible] + output.GAP * (len(shown) - 1)
    left = max(output.answers().width - others, output.NARROWEST)
    shown[flexible] = min(widths[flexible], left)
    return [replace(column, width=width) for column, width in zip(table, shown, strict=True)]


def _padded(
    row: Sequence[str | Cell], columns: Sequence[Column], widths: Sequence[int]
) -> list[str | Cell]:
    if output.answers().is_terminal:
        return [*row]
    *most, last = [
        _with_text(cell, _text(cell).rjust(width) if column.right else _text(cell).ljust(width))
        for cell, column, width in zip(row, columns, widths, strict=True)
    ]
    return [*most, _with_text(last, _text(last).rstrip())]


def _text(cell: str | Cell) -> str:
    return output.printable(cell.text if isinstance(cell, Cell) else cell)


def _with_text(cell: str | Cell, text: str) -> str | Cell:
    return replace(cell, text=text) if isinstance(cell, Cell) else text


def _row_cells(row: TableRow, table: Sequence[Column]) -> list[str | Cell]:
    style = "red" if row.failed else "green" if row.recommended else ""
    return [
        row.object,
        *([row.members] * (len(table) == len(_TABLE))),
        row.memory_used,
        " ".join(row.runs) or MISSING,
        row.average,
        row.median,
        row.spread,
        row.usd_per_gb,
        Cell("; ".join(row.remarks), style),
    ]


def _legend(results: Results) -> str:
    said = ["MB/s at the median of the warm runs; average at their mean; ± their deviation"]
    if any(sample.cold for some in results.samples.values() for sample in some):
        said.append(f"{COLD} cold, not counted")
    if any(cell.indistinguishable_from_best and not cell.best for cell in results.cells):
        said.append(f"{ALIKE}: not told apart from the fastest at 5 %")
    return "; ".join(said)


def _print_failures(results: Results) -> None:
    failed = {
        f"{sample.error or 'failed'}: {sample.cause or 'no cause was told'}"
        for some in results.samples.values()
        for sample in failures_of(some)
    }
    for cause in sorted(failed):
        output.say(f"failed with {cause}", "red")


def print_recommendation(results: Results) -> None:
    """What to deploy and how, or why nothing can be recommended."""
    found = results.recommendation
    output.say("")
    if found is None or found.setting is None:
        reason = found.reason if found else "the run has not come to that"
        output.say(f"recommended: nothing ({reason})", "bold")
        return
    setting = results.naming.short(found.setting)
    output.say(f"recommended: {setting}, {found.reason}", "bold green")
    output.say(
        f"  {speed_text(found.mb_per_s)} MB/s for {usd_text(found.usd_per_gb)} USD per GB. "
        f"{found.also_text}".rstrip()
    )
    if found.weak:
        output.say("  weak: it rests on fewer than 5 warm runs of a cell", "yellow")
    where = " --local" if results.is_local else ""
    output.say(f"  deploy it: bucketsum tune apply {results.run.run_id}{where}")
