"""The page: what was recommended, the plots of every object, the table, what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from matplotlib.colors import Normalize

from bucketsum_cli.output import moment_text, size_text
from bucketsum_cli.tune.formatting import speed_text, usd_text
from bucketsum_cli.tune.report.cost_frontier import cost_frontier
from bucketsum_cli.tune.report.heat_map import heat_map
from bucketsum_cli.tune.report.markup import document, element
from bucketsum_cli.tune.report.memory_curve import memory_curve
from bucketsum_cli.tune.report.svg import style
from bucketsum_cli.tune.report.table import failures_table, results_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree import ElementTree as ET

    from bucketsum_cli.tune.report.plot import Plot
    from bucketsum_cli.tune.results import Panel, Results

LOCAL_WARNING: Final = (
    "Measured on an embedded AWS on somebody's own machine. The shape of the curves says "
    "something about Lambda's share of a processor; none of the numbers is AWS's."
)

_HEAT_MAP_CAPTION: Final = (
    "Each square's number is MB/s at the median of the warm runs; where several settings share a "
    "square, it is that of the fastest. Colours compare between the objects of this page. What is "
    "recommended is in the outlined square."
)
_MEMORY_CAPTION: Final = "Marks are medians. Bars reach from the slowest to the fastest warm run."
_COST_CAPTION: Final = (
    "Each dot is one setting. The line joins those that nothing beats in both speed "
    "and cost; the star is what is recommended."
)
_CAPTIONS: Final = (_HEAT_MAP_CAPTION, _MEMORY_CAPTION, _COST_CAPTION)


def page_of(results: Results) -> str:
    """The whole page, as HTML."""
    run = results.run
    with style():
        panels = list(_panels(results))
    return document(
        f"Sweep {run.run_id}",
        element(
            "header",
            element("p", "bucketsum tune", class_="kicker"),
            element("h1", f"Sweep {run.run_id} ", _badge(run.status)),
            *([element("p", LOCAL_WARNING, class_="warning", role="note")] * results.is_local),
            *([element("p", run.cause, class_="warning")] if run.cause else []),
            _facts(results),
        ),
        element(
            "main",
            _recommended(results),
            *panels,
            element("h2", "Every run"),
            results_table(results),
            *failures_table(results),
            _meanings(),
        ),
    )


def _badge(status: str) -> ET.Element:
    return element("span", status, class_=f"badge {status.lower()}")


def _facts(results: Results) -> ET.Element:
    run, strategy = results.run, results.asked.get("strategy", {})
    named = strategy.get("name") if isinstance(strategy, dict) else None
    facts = {
        "measured on": "an embedded AWS (local)" if results.is_local else "AWS",
        "Region": run.region,
        "architecture": run.architecture,
        "runtime": run.runtime,
        "started (UTC)": moment_text(run.started_at),
        "ended (UTC)": moment_text(run.ended_at) if run.ended_at else None,
        "runs of each cell": f"{run.runs} (weak)" if run.weak else run.runs,
        "samples": None if run.samples_ok is None else f"{run.samples_ok} good",
        "failed": run.samples_failed or None,
        "strategy": named,
        "prices of": run.price_date,
    }
    pairs = [
        element("div", element("dt", name), element("dd", str(value)))
        for name, value in facts.items()
        if value is not None
    ]
    return element("dl", *pairs, class_="facts")


def _recommended(results: Results) -> ET.Element:
    recommendation = results.recommendation
    heading = element("h2", "Recommended")
    if recommendation is None or recommendation.setting is None:
        reason = recommendation.reason if recommendation else "this run has not come to that"
        return element("section", heading, element("p", f"Nothing: {reason}."))
    said = results.naming.sentence(recommendation.setting)
    numbers = (
        f"{speed_text(recommendation.mb_per_s)} MB/s for {usd_text(recommendation.usd_per_gb)} USD "
        f"per GB: {recommendation.reason}."
    )
    more = [recommendation.also_text] if recommendation.also else []
    if recommendation.weak:
        more.append("It rests on fewer than 5 warm runs of a cell: measure again before you rely.")
    assignments = " ".join(f"{name}={value}" for name, value in recommendation.parameters.items())
    return element(
        "section",
        heading,
        element("p", element("strong", said), class_="choice"),
        element("p", numbers),
        *(element("p", one) for one in more),
        element("p", element("code", assignments)),
        class_="recommended",
    )


def _panels(results: Results) -> Iterator[ET.Element]:
    speeds = [cell.mb_per_s for cell in results.cells if cell.mb_per_s is not None]
    low, high = min(speeds, default=0.0), max(speeds, default=1.0)
    scale = Normalize(low if low < high else 0.0, high)
    for number, panel in enumerate(results.panels()):
        plots = (
            heat_map(f"p{number}-heat", panel, results, scale),
            memory_curve(f"p{number}-memory", panel, results),
            cost_frontier(f"p{number}-cost", panel, results),
        )
        yield element(
            "section",
            element("h2", _panel_title(panel, results)),
            element("div", *map(_figure, plots, _CAPTIONS), class_="plots"),
        )


def _panel_title(panel: Panel, results: Results) -> str:
    what = "archive" if results.has_archives else "object"
    title = f"{size_text(panel.object_bytes)} {what}"
    if panel.key is not None:
        title += f" {panel.key}"
    return title if panel.concurrency == 1 else f"{title}, {panel.concurrency} at once"


def _figure(plot: Plot, caption: str) -> ET.Element:
    return element(
        "figure",
        element("h3", plot.title),
        plot.svg(),
        element(
            "figcaption",
            caption,
            element("details", element("summary", "In words"), element("p", plot.description)),
        ),
        id=plot.name,
    )


def _meanings() -> ET.Element:
    meanings = {
        "MB/s": "10⁶ bytes of object per second, from the GET to the last byte hashed, at the "
        "median of the warm runs. The average is at their mean. Of an archive the bytes are its "
        "own, and its members are hashed in that time, too.",
        "± s": "Standard deviation of the warm runs' seconds.",
        "*": "A cold run: the first of its execution environment. No statistic counts it.",
        "≈ fastest": "A permutation test of its warm seconds against those of the object's fastest "
        "cell gives p of 5 % or more: these runs do not tell them apart.",
        "weak": "Fewer than 5 warm runs.",
        "USD per GB": "Lambda's charge for the median billed time, with that for the disk where "
        "one is used, per 10⁹ bytes of object.",
    }
    pairs = [
        element("div", element("dt", name), element("dd", text)) for name, text in meanings.items()
    ]
    return element(
        "section", element("h2", "What the numbers mean"), element("dl", *pairs, class_="meanings")
    )
