"""Runs, and the table of a run, on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from bucketsum.errors import DamagedItem
from bucketsum_cli.terminal import output
from bucketsum_cli.terminal.columns import Cell, Column
from bucketsum_cli.terminal.formatting import MISSING, count_text, moment_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.screen import styled, width_of, write
from bucketsum_cli.terminal.table_layout import Layout
from bucketsum_cli.terminal.tables import cells_of, print_table
from bucketsum_cli.tune.answer import conclusion, deploys_nothing, doubt_about, remarks_on
from bucketsum_cli.tune.formatting import prices_text
from bucketsum_cli.tune.report.table import ALIKE, COLD, columns_of, groups_of
from bucketsum_cli.tune.results import Results, has_failed, measured
from bucketsum_cli.tune.setting_labels import SettingLabels
from bucketsum_cli.tune.workload_view import TableColumn
from bucketsum_lab.protocol.run_records import CellRow, Run, RunStatus
from bucketsum_lab.results.recommendation import recommendation_of

LOCAL_NOTE: Final = "local: measured in the local emulator; none of these numbers is AWS's"

_SHORT_OBJECT: Final = 12
"""Characters of an object's text that is always next to its numbers."""

_WIDE: Final = 120
"""Characters of a line that has room for all columns."""

_STYLES: Final = {
    RunStatus.RUNNING: "cyan",
    RunStatus.SUCCEEDED: "green",
    RunStatus.PARTIAL: "yellow",
    RunStatus.FAILED: "red",
    RunStatus.STOPPED: "red",
}

_RUN_COLUMNS: Final = (
    Column("run"),
    Column("status"),
    Column("on"),
    Column("cells", right=True),
    Column("good", right=True),
    Column("failed", right=True),
    Column("recommended", shrinks=True),
)


def print_runs(runs: Iterable[Run | DamagedItem]) -> None:
    """Print a line for each run."""
    print_table(_RUN_COLUMNS, map(_run_cells, runs))


def _run_cells(run: Run | DamagedItem) -> list[str | Cell]:
    if isinstance(run, DamagedItem):
        return [run.name, Cell("damaged", "red"), *[MISSING] * 5]
    best = recommendation_of(run).best
    return [
        run.run_id,
        Cell(run.status, _STYLES[run.status]),
        run.label or MISSING,
        _number_text(run.cells),
        _number_text(run.samples_ok),
        _number_text(run.samples_failed),
        SettingLabels([best.setting]).effective(best.setting) if best else MISSING,
    ]


def _number_text(number: int | None) -> str:
    return MISSING if number is None else str(number)


def print_results(results: Results, *, can_apply: bool = True) -> None:
    """Print the table of a run, the failures, the recommendation, and the answer in a sentence.

    *can_apply* adds the command that applies the recommendation; it needs a stack that stays.
    """
    run = results.run
    output.say(f"{run.run_id}: {run.status}{f' ({run.cause})' if run.cause else ''}")
    output.say(" · ".join(_facts(results)), "dim")
    if results.is_local:
        output.say(LOCAL_NOTE, "yellow")
    if results.machine:
        for name, text in results.machine.facts():
            output.say(f"{name:<8}  {text}", "dim")
    for name, text in results.disk_facts():
        output.say(f"{name}  {text}", "dim")
    output.say("")
    _print_table(results)
    output.say("")
    output.say(_legend(results), "dim")
    for failure in results.failures():
        output.say(f"failed with {failure}", "red")
    _print_recommendation(results, can_apply=can_apply)
    output.say("")
    output.say(conclusion(results), "bold green")


def _facts(results: Results) -> Iterator[str]:
    run = results.run
    yield f"started {moment_text(run.started_at)} UTC"
    for fact in (run.region, run.architecture, run.runtime):
        if fact:
            yield fact
    if run.repetitions:
        runs = count_text(run.repetitions, "run")
        yield f"{runs} of each cell{' (weak)' if run.few_samples else ''}"
    if run.price_date and not results.machine:
        yield prices_text(run.region, run.price_date, run.priced_as)


def _print_table(results: Results) -> None:
    """Print each group under its heading; all groups have the same column widths."""
    shown = [c for c in columns_of(results, in_report=False) if not (c.is_minor and is_narrow())]
    has_long_objects = any(len(shown[0].text(cell)) > _SHORT_OBJECT for cell in results.cells)
    columns = [
        Column(
            column.title,
            right=column.is_number,
            shrinks=not column.is_number and (column is not shown[0] or has_long_objects),
        )
        for column in shown
    ]
    groups = {
        heading: cells_of(_styled(results, cell, shown) for cell in cells)
        for heading, cells in groups_of(results)
    }
    layout = Layout.of(columns, [*chain.from_iterable(groups.values())])
    lines = [*layout.heading()]
    for heading, cells in groups.items():
        lines += [styled(output.printable(heading), "bold"), *layout.lines(cells)]
    write("".join(f"{line}\n" for line in lines))


def is_narrow() -> bool:
    """Whether a line has no room for all columns."""
    width = width_of()
    return width is not None and width < _WIDE


def _styled(results: Results, cell: CellRow, columns: Sequence[TableColumn]) -> list[str | Cell]:
    *texts, remarks = (column.text(cell) for column in columns)
    style = "red" if has_failed(cell) else "green" if results.is_recommended(cell) else ""
    return [*texts, Cell(remarks, style)]


def _legend(results: Results) -> str:
    notes = ["MB/s: from the median of the warm runs"]
    if not is_narrow():  # else there are no such columns
        notes += ["average: from their mean", "objects/h: of one execution environment"]
    notes.append("±: their standard deviation")
    if any(sample.is_cold for samples in results.samples.values() for sample in samples):
        notes.append(f"{COLD} cold, not counted")
    statistics = [stats for _, stats in measured(results.cells)]
    if any(stats.indistinguishable_from_best and not stats.best for stats in statistics):
        notes.append(f"{ALIKE}: at most 10 % slower, and not significantly (p of 5 % or more)")
    return "; ".join(notes)


def _print_recommendation(results: Results, *, can_apply: bool) -> None:
    if results.machine:
        return
    recommendation = results.recommendation
    output.say("")
    if recommendation.best is None:
        output.say(f"recommended: nothing ({recommendation.reason})")
        return
    setting = results.labels.effective(recommendation.best.setting)
    output.say(f"recommended: {setting}, {recommendation.reason}")
    for remark in remarks_on(results):
        output.say(f"  {remark}")
    if can_apply and not deploys_nothing(results) and not doubt_about(results):
        output.say(f"  deploy it: `{command_line('tune', 'apply', results.run.run_id)}`")
