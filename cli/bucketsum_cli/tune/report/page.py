"""The report page: recommendation, plots of every object, table, failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from bucketsum_cli.html.markup import definitions, document, element, table
from bucketsum_cli.terminal.formatting import moment_text, speed_text, usd_text
from bucketsum_cli.tune.answer import gain_text, headline, remarks_on
from bucketsum_cli.tune.plots.plot import Plot, style
from bucketsum_cli.tune.plots.use_over_time import use_over_time
from bucketsum_cli.tune.report.table import RUNS, columns_of, groups_of
from bucketsum_cli.tune.results import Results, failures_of, has_failed, measured
from bucketsum_cli.tune.workload_view import TableColumn
from bucketsum_cli.tune.workloads import plots_of, view_of
from bucketsum_lab.protocol.run_records import CellRow


def _class_of(column: TableColumn) -> str:
    return "" if column.is_number else "text" if column.name != RUNS else "runs"


def _body(
    results: Results, heading: str, cells: Sequence[CellRow], columns: Sequence[TableColumn]
) -> ET.Element:
    span = str(len(columns))
    title = element("th", element("span", heading), colspan=span, scope="rowgroup")
    rows = [_row(results, cell, columns) for cell in cells]
    return element("tbody", element("tr", title, class_="group"), *rows)


def _row(results: Results, cell: CellRow, columns: Sequence[TableColumn]) -> ET.Element:
    classes = "recommended" * results.is_recommended(cell) + " failed" * has_failed(cell)
    first, *others = columns
    return element(
        "tr",
        element("th", first.text(cell), scope="row"),
        *(element("td", column.text(cell), class_=_class_of(column)) for column in others),
        class_=classes.strip(),
    )


def failures_table(results: Results) -> tuple[ET.Element, ...]:
    """The failed samples and their causes; nothing if no sample failed."""
    rows = [
        element(
            "tr",
            element("th", results.labels.short(cell.setting), scope="row"),
            element("td", results.object_text(cell, results.size_texts)),
            element("td", f"run {sample.repetition}, invocation {sample.invocation}"),
            element("td", str(sample.failure or "")),
        )
        for cell in results.cells
        for sample in failures_of(results.samples.get(cell.cell_id, ()))
    ]
    if not rows:
        return ()
    titles = ((title, "") for title in ("setting", "object", "sample", "cause"))
    failures = table("Failed samples", "failures", titles, [element("tbody", *rows)])
    return element("h2", "Failures"), failures


LOCAL_WARNING: Final = (
    "Measured in the local emulator (ministack), which imitates Lambda's CPU share and "
    "network if possible; the numbers say nothing about AWS."
)


def page_of(results: Results) -> str:
    """The whole page, as HTML."""
    run = results.run
    columns = columns_of(results, in_report=True)
    titles = ((column.title, _class_of(column)) for column in columns)
    bodies = (_body(results, *group, columns) for group in groups_of(results))
    with style():
        panels = list(_panels(results))
    return document(
        headline(results),
        element(
            "header",
            element(
                "p",
                f"bucketsum tune · {run.run_id} ",
                element("span", run.status, class_=f"badge {run.status.lower()}"),
                class_="kicker",
            ),
            element("h1", headline(results)),
            *([element("p", LOCAL_WARNING, class_="warning", role="note")] * results.is_local),
            *([element("p", run.cause, class_="warning")] if run.cause else []),
            _facts(results),
        ),
        element(
            "main",
            *([] if results.machine else [_recommended(results)]),
            *panels,
            element("h2", "Every run"),
            table("Every run of every cell", "results", titles, bodies),
            *failures_table(results),
            _meanings(results),
        ),
    )


def _facts(results: Results) -> ET.Element:
    run, strategy = results.run, results.input.get("strategy", {})
    named = strategy.get("name") if isinstance(strategy, dict) else None
    facts = {
        "measured on": _place(results),
        "Region": run.region,
        "architecture": run.architecture,
        "runtime": run.runtime,
        "started (UTC)": moment_text(run.started_at),
        "ended (UTC)": moment_text(run.ended_at) if run.ended_at else None,
        "runs of each cell": f"{run.repetitions} (weak)" if run.few_samples else run.repetitions,
        "samples": None if run.samples_ok is None else f"{run.samples_ok} good",
        "failed": run.samples_failed or None,
        "strategy": None if results.machine else named,
        **(dict(results.machine.facts()) if results.machine else {"prices of": run.price_date}),
        **dict(results.disk_facts()),
        "priced as": run.priced_as and f"{run.priced_as}: prices of {run.region} are not known",
    }
    known = {name: str(value) for name, value in facts.items() if value is not None}
    return definitions(known, "facts")


def _place(results: Results) -> str:
    if results.machine:
        return "a machine, without Lambda"
    return "the local emulator" if results.is_local else "AWS"


def _recommended(results: Results) -> ET.Element:
    recommendation = results.recommendation
    heading = element("h2", "Recommended")
    if recommendation.best is None:
        return element("section", heading, element("p", f"Nothing: {recommendation.reason}."))
    best = recommendation.best
    numbers = f"{speed_text(best.mb_per_s)} MB/s for {usd_text(best.usd_per_tb)} USD per TB"
    gain = gain_text(results)
    sentences = [
        f"{numbers}: {recommendation.reason}.",
        f"{gain[:1].upper()}{gain[1:]}.",
        *remarks_on(results),
    ]
    setting = results.labels.effective(best.setting)
    assignments = " ".join(f"{name}={value}" for name, value in best.parameters.items())
    return element(
        "section",
        heading,
        element("p", element("strong", setting), class_="choice"),
        *(element("p", sentence) for sentence in sentences),
        element("p", element("code", assignments)),
        class_="recommended",
    )


def _panels(results: Results) -> Iterator[ET.Element]:
    plots = plots_of(results.workload_name)
    noun = results.workload.noun if results.workload else "object"
    has_prices = all(stats.usd_per_gb is not None for _, stats in measured(results.cells))
    for number, panel in enumerate(results.panels()):
        left_out = set() if has_prices else {"cost"}
        if len({cell.setting.memory_mb for cell in panel.cells}) == 1:
            left_out.add("memory")
        figures = [
            _figure(f"p{number}-{name}", drawn)
            for name, plot in plots.items()
            if name not in left_out and len(panel.cells) > 1  # a plot of one point says nothing
            if (drawn := plot(panel, results))
        ]
        if use := use_over_time(panel, results):
            figures.append(_figure(f"p{number}-use", use))
        if not figures:
            continue
        yield element(
            "section",
            element("h2", f"{noun.capitalize()}: {panel.title}"),
            element("div", *figures, class_="plots"),
        )


def _figure(name: str, plot: Plot) -> ET.Element:
    return element(
        "figure",
        element("h3", plot.title),
        plot.svg(name),
        element(
            "figcaption",
            plot.caption,
            element("details", element("summary", "In words"), element("p", plot.description)),
        ),
        id=name,
    )


def _meanings(results: Results) -> ET.Element:
    meanings = {
        "MB/s": "10⁶ bytes of object per second, from the GET to the last byte hashed, at the "
        "median of the warm runs. The average uses their mean. For an archive, the bytes are those "
        "of the archive itself; its members are hashed in the same time.",
        "objects/h": "Objects that one execution environment reads in an hour, one after another.",
        "± s": "Standard deviation of the warm runs' seconds.",
        "*": "A cold run: the first of its execution environment. No statistic counts it.",
        "≈ fastest": "At most 10 % slower than the object's fastest cell by the medians, and not "
        "significantly so: a rank-sum test of the warm seconds gives p of 5 % or more.",
        "weak": "Fewer than 5 warm runs.",
        "bottleneck": "The limit at which the warm runs were for most of their time, with the "
        "share of it; equal limits are all named. CPU share: the quota that follows from the "
        "memory. Waiting: nothing was at its limit.",
        "USD per TB": "The machine's price for the median time, per 10¹² bytes of object."
        if results.machine
        else "Lambda's charge for the median billed time, and for the disk if there is one, per "
        "10¹² bytes of object.",
    }
    own = view_of(results.workload_name).columns
    meanings |= {column.title: column.meaning for column in own if column.meaning}
    title = element("h2", "What the numbers mean")
    return element("section", title, definitions(meanings, "meanings"))
