"""The page of a snapshot: the answers first, then a section for each question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from bucketsum_cli.html.markup import coded, definitions, document, element, table
from bucketsum_cli.page.answers import answers_of, state_text
from bucketsum_cli.page.figures import Figures, Record, is_listed
from bucketsum_cli.snapshots.folder import Snapshot
from bucketsum_cli.snapshots.next_steps import next_steps
from bucketsum_cli.terminal.formatting import (
    MISSING,
    count_text,
    moment_text,
    month_usd_text,
    size_text,
)
from bucketsum_cli.terminal.output import printable

_ROWS_MAX: Final = 60
_TEXT_MAX: Final = 320
_TEXT_END: Final = 50

_LONG: Final = frozenset({"bucket", "key", "first_key", "reason", "item", "parameters"})
_NUMBERS: Final = ("objects", "copies", "_bytes", "usd_per_month", "usd_per_tb")
_SECTIONS: Final = {
    "stored": (
        "In the buckets",
        "bucket state objects size_bytes storage_class usd_per_month",
    ),
    "problems": ("Failures", "state objects reason first_key size_bytes newest_at"),
    "verification": ("Verification", "verified objects size_bytes newest_at oldest_at"),
    "duplicates": (
        "Duplicates: the first of each group",
        "key copies size_bytes wasted_bytes wasted_usd_per_month",
    ),
    "arrivals": ("Arrivals by day", "day objects size_bytes"),
    "largest": ("Largest objects", "key size_bytes created_at state"),
    "newest": ("Newest objects", "key size_bytes created_at state"),
    "costs": ("Cost of a month", "item usd_per_month"),
    "settings": (
        "Settings that the last sweep recommends",
        "reason parameters speed usd_per_tb measured_on sweep",
    ),
}
"""Section → title and columns."""


def page_of(snapshot: Snapshot, figures: Figures) -> str:
    """The whole page, as HTML; its length does not grow with the number of rows."""
    answers = [*answers_of(snapshot, figures)]
    is_good = all(answer.is_good is not False for answer in answers)
    text, class_ = ("nothing broken", "badge succeeded") if is_good else ("look at this", "badge")
    badge = element("span", text, class_=class_)
    facts = {
        "account": snapshot.account,
        "Region": snapshot.region,
        "rows as of (UTC)": moment_text(snapshot.ended_at),
        "rows": f"{snapshot.rows:,}",
        "S3 was listed": "yes" if is_listed(snapshot, figures) else "not all",
    }
    cards = (
        element(
            "div",
            element("dt", element("a", answer.question, href=f"#{answer.section}")),
            element("dd", element("bdi", _short(answer.answer))),
            class_={True: "good", False: "bad", None: ""}[answer.is_good],
        )
        for answer in answers
    )
    kicker = element("p", f"bucketsum · {snapshot.stack} ", badge, class_="kicker")
    title = element("h1", answers[0].answer)
    return document(
        f"{snapshot.stack}: {answers[0].answer}",
        element("header", kicker, title, definitions(facts, "facts")),
        element("main", element("dl", *cards, class_="answers"), *_sections(snapshot, figures)),
    )


def _sections(snapshot: Snapshot, figures: Figures) -> Iterator[ET.Element]:
    states = {row["state"]: row["state_objects"] for row in figures["problems"]}
    steps = (
        element(
            "div", element("dt", state_text(n, state)), element("dd", *coded(next_steps()[state]))
        )
        for state, n in states.items()
    )
    prices = "" if is_listed(snapshot, figures) else "; as STANDARD what was not listed"
    notes = {
        "problems": element("dl", *steps, class_="meanings"),
        "duplicates": element(
            "p", f"Priced by storage class{prices}. Overwritten versions count too."
        ),
        "costs": element("p", "Estimated at list prices, without alarms, metrics and KMS."),
        "settings": element(
            "p", "A sweep measures them; numbers of a local machine are not AWS's."
        ),
    }
    for name, (title, columns) in _SECTIONS.items():
        rows = figures[name]
        parts = [_table(title, rows, columns.split()) if rows else element("p", "None.")]
        if name == "arrivals":
            parts = [_chart(rows), element("details", element("summary", "In numbers"), *parts)]
        parts += [notes[name]] if name in notes else []
        yield element("section", element("h2", title), *parts, id=name)


def _chart(days: Sequence[Record]) -> ET.Element:
    """A bar for each day, the newest last."""
    peak = max(days, key=lambda day: day["objects"])
    bars = []
    for number, day in enumerate(reversed(days)):
        height = 100 * day["objects"] / max(peak["objects"], 1)
        text = f"{day['day']}: {day['objects']:,}, {size_text(day['size_bytes'])}"
        place = {"x": str(number), "y": f"{100 - height:.1f}", "height": f"{height:.1f}"}
        bars.append(element("rect", element("title", text), width="0.8", **place))
    most = f"most: {count_text(peak['objects'], 'object')} on {peak['day']}"
    name = most if peak["objects"] else "nothing arrived"
    box = {"viewBox": f"0 0 {len(days)} 100", "preserveAspectRatio": "none", "aria_label": name}
    ends = (element("span", days[end]["day"]) for end in (-1, 0))
    chart = element("svg", *bars, role="img", **box)
    return element("figure", element("div", name), chart, element("div", *ends), class_="days")


def _table(name: str, rows: Sequence[Record], names: Sequence[str]) -> ET.Element:
    """The first of the rows."""
    kinds = [
        "text"
        if name in _LONG
        else "number"
        if name.endswith(_NUMBERS) or "usd" in name
        else "word"
        for name in names
    ]
    body = []
    for row in rows[:_ROWS_MAX]:
        texts = (element("bdi", _text(column, row)) for column in names)
        cells = zip(texts, kinds, strict=True)
        body.append(element("tr", *(element("td", text, class_=kind) for text, kind in cells)))
    if len(rows) > _ROWS_MAX:
        text = f"{len(rows) - _ROWS_MAX:,} more"
        body.append(element("tr", element("td", text, class_="word", colspan=str(len(names)))))
    columns = zip(map(_title, names), kinds, strict=True)
    return table(name, "figures", columns, [element("tbody", *body)])


def _title(column: str) -> str:
    title = column.removesuffix("_bytes").replace("_at", " (UTC)").replace("_", " ")
    return title.replace("usd per tb", "USD per TB").replace("usd per", "USD per")


def _text(column: str, row: Record) -> str:
    value = row[column]
    if value is None:
        return MISSING
    if column == "key":
        return _short(f"s3://{row['bucket']}/{value}")
    if column.endswith("_at"):
        return moment_text(value)
    if column.endswith("_bytes"):
        return size_text(value)
    if "usd" in column:
        return month_usd_text(value)
    return f"{value:,}" if isinstance(value, int) else _short(value)


def _short(text: str) -> str:
    """A text from outside, without its middle if it is long."""
    text = printable(text)
    if len(text) <= _TEXT_MAX:
        return text
    return f"{text[: _TEXT_MAX - _TEXT_END]} … {text[-_TEXT_END:]}"
