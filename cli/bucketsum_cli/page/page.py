"""The page of a snapshot: the answers first, then a section for each question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final
from xml.etree import ElementTree as ET

from bucketsum_cli.html.markup import coded, definitions, document, element, table
from bucketsum_cli.page.answers import PageAnswer, headline_of, url_of
from bucketsum_cli.page.figures import Figures, Record
from bucketsum_cli.page.history import PageTotals
from bucketsum_cli.snapshots.folder import Snapshot
from bucketsum_cli.snapshots.next_steps import HASHED, NEUTRAL, next_steps
from bucketsum_cli.terminal.formatting import (
    MISSING,
    cents_text,
    count_text,
    moment_text,
    size_text,
    tally_text,
)
from bucketsum_cli.terminal.output import printable

_NO_ACCOUNT: Final = "0" * 12
"""The local emulator's."""
_ROWS_MAX: Final = 60
_TEXT_MAX: Final = 320
_TEXT_END: Final = 50
_CLASSES: Final = {True: "good", False: "bad", None: ""}
"""By whether all is well."""
_WIDE_TEXT: Final = 120
"""Longer answers have two columns of a desktop."""


def _other_states(states: Mapping[str, int]) -> str:
    others = sorted(states, key=lambda state: (state in NEUTRAL, -states[state]))
    return tally_text({state: states[state] for state in others if state != HASHED}) or "none"


def _shares_text(sizes: Mapping[str | None, int]) -> str:
    """The storage classes, with their shares of the bytes if there are several."""
    names = {name or "unknown": size for name, size in sizes.items()}
    if len(names) == 1:
        return "".join(names)
    names = {name: size for name, size in names.items() if size}
    shown = {0: "<1", 100: ">99"} if len(names) > 1 else {}
    percents = zip(names, _percents([*names.values()]), strict=True)
    return ", ".join(f"{name} {shown.get(percent, percent)} %" for name, percent in percents)


def _percents(sizes: Sequence[int]) -> list[int]:
    """Whole percents of *sizes* that add up to 100: the largest remainders are rounded up."""
    whole = sum(sizes)
    percents = [100 * size // whole for size in sizes]
    by_remainder = sorted(range(len(sizes)), key=lambda place: -(100 * sizes[place] % whole))
    for place in by_remainder[: 100 - sum(percents)]:
        percents[place] += 1
    return percents


_LONG: Final = frozenset(
    {"bucket", "classes", "first_key", "item", "kept", "reason", "states", "url", "version"}
)
_COLUMNS: Final[Mapping[str, tuple[str, Callable[[Any], str]]]] = {
    "at": ("rows as of (UTC)", moment_text),
    "classes": ("storage classes", _shares_text),
    "copies": ("copies", "{:,}".format),
    "created_at": ("created (UTC)", moment_text),
    "deleted_at": ("deleted (UTC)", moment_text),
    "deleted_by": ("by", str),
    "first_key": ("first key", str),
    "kept": ("equal object, to keep", str),
    "newest_at": ("newest (UTC)", moment_text),
    "objects": ("objects", "{:,}".format),
    "oldest_at": ("oldest (UTC)", moment_text),
    "size_bytes": ("size", size_text),
    "states": ("in other states than hashed", _other_states),
    "storage_class": ("class", str),
    "url": ("key", str),
    "usd_per_month": ("USD per month", cents_text),
    "version": ("version", lambda version: MISSING if version == "null" else version),
}
"""Column → its title, and the text of a value; others have their name, and texts."""

_OF_COMMANDS: Final = ("problems", "reason")
"""The section of an answer, and the column, that may have commands; keys stay as they are."""
_NUMBERS: Final = frozenset({"objects", "copies", "size_bytes", "usd_per_month"})
_SECTIONS: Final = {
    "stored": ("In the buckets", "bucket objects size_bytes usd_per_month classes states"),
    "problems": (
        "In other states than hashed",
        "state objects reason first_key size_bytes newest_at",
    ),
    "gone": ("Lost, and last deleted", "url size_bytes created_at state deleted_at deleted_by"),
    "trend": ("This page, and those before", "at objects size_bytes states"),
    "verification": ("Verification", "verified objects size_bytes newest_at oldest_at"),
    "duplicates": ("Copies to delete", "url version kept copies size_bytes storage_class"),
    "arrivals": ("Arrivals by day", "day objects size_bytes"),
    "largest": ("Largest objects", "url size_bytes created_at state"),
    "newest": ("Newest objects", "url size_bytes created_at state"),
    "costs": ("Cost of a month", "item usd_per_month"),
}
"""Section → title and columns."""


def page_of(
    snapshot: Snapshot,
    figures: Figures,
    answers: Sequence[PageAnswer],
    pages: Sequence[PageTotals],
) -> str:
    """The whole page, as HTML; its length does not grow with the number of rows.

    *pages* are this one, and those before.
    """
    headline, is_good = headline_of(figures)
    facts = {
        "account": "the local emulator" if snapshot.account == _NO_ACCOUNT else snapshot.account,
        "Region": snapshot.region,
        "rows as of (UTC)": moment_text(snapshot.ended_at),
        "rows": f"{snapshot.rows:,}",
        "S3 was listed": "yes" if figures.is_listed else "not all",
    }
    cards = (
        element(
            "div",
            element("dt", element("a", answer.question, href=f"#{answer.section}")),
            element("dd", _isolated(answer.section, answer.answer)),
            class_=_CLASSES[answer.is_good] + " wide" * (len(answer.answer) > _WIDE_TEXT),
        )
        for answer in answers
    )
    kicker = element("p", f"the stack {snapshot.stack}: {answers[0].answer}", class_="kicker")
    verdict = element("h1", headline, class_=_CLASSES[is_good])
    return document(
        f"{snapshot.stack}: {headline}",
        element("header", kicker, verdict, definitions(facts, "facts")),
        element("main", element("dl", *cards, class_="answers"), *_sections(figures, pages)),
    )


def _sections(figures: Figures, pages: Sequence[PageTotals]) -> Iterator[ET.Element]:
    notes = _notes(figures)
    for name, rows in _rows(figures, pages).items():
        title, columns = _SECTIONS[name]
        parts = [_table(title, rows, columns.split()) if rows else element("p", "None.")]
        if name == "arrivals":
            parts = [_chart(rows), element("details", element("summary", "In numbers"), *parts)]
        parts += [notes[name]] if rows and name in notes else []
        yield element("section", element("h2", title), *parts, id=name)


def _rows(figures: Figures, pages: Sequence[PageTotals]) -> dict[str, Sequence[Record]]:
    """Section → its rows."""
    costs = {**figures.costs, "the stack, together": sum(figures.costs.values())}
    return {
        "stored": figures.buckets(),
        "problems": figures.problems,
        "gone": figures.list_of("gone"),
        "trend": [{"at": page.ended_at, **asdict(page)} for page in pages],
        "verification": figures.verification,
        "duplicates": [
            {**copy, "kept": url_of(group[0])} for group in figures.duplicates for copy in group[1:]
        ],
        "arrivals": figures.arrivals,
        "largest": figures.list_of("largest"),
        "newest": figures.list_of("newest"),
        "costs": [{"item": item, "usd_per_month": usd} for item, usd in costs.items()],
    }


def _notes(figures: Figures) -> dict[str, ET.Element]:
    """Section → what stands below its table."""
    states = {row["state"]: row["state_objects"] for row in figures.problems}
    steps = {tally_text({state: count}): next_steps()[state] for state, count in states.items()}
    unlisted = "" if figures.is_listed else " What was not listed may be gone: list it first."
    copies = (
        "The first copies of the groups that waste most; `bucketsum duplicates` has all. "
        f"Overwritten versions are copies too.{unlisted}"
    )
    return {
        "problems": definitions(steps, "meanings"),
        "duplicates": element("p", *coded(copies)),
        "costs": element("p", "Estimated at list prices, without alarms, metrics and KMS."),
    }


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


def _table(title: str, rows: Sequence[Record], names: Sequence[str]) -> ET.Element:
    """The first of the rows."""
    kinds = ["text" if n in _LONG else "number" if n in _NUMBERS else "word" for n in names]
    body = []
    for row in rows[:_ROWS_MAX]:
        texts = (_isolated(name, _text(name, row)) for name in names)
        cells = zip(texts, kinds, strict=True)
        body.append(element("tr", *(element("td", text, class_=kind) for text, kind in cells)))
    if len(rows) > _ROWS_MAX:
        text = f"{len(rows) - _ROWS_MAX:,} more"
        body.append(element("tr", element("td", text, class_="word", colspan=str(len(names)))))
    titles = (_COLUMNS.get(name, (name, str))[0] for name in names)
    columns = zip(titles, kinds, strict=True)
    return table(title, "figures", columns, [element("tbody", *body)])


def _text(name: str, row: Record) -> str:
    value = url_of(row) if name == "url" else row[name]
    return MISSING if value is None else _COLUMNS.get(name, (name, str))[1](value)


def _isolated(place: str, text: str) -> ET.Element:
    """A *text* that cannot turn others around; where we write commands, they are code."""
    return element("bdi", *(coded(_short(text)) if place in _OF_COMMANDS else [_short(text)]))


def _short(text: str) -> str:
    """A text from outside, without its middle if it is long."""
    text = printable(text)
    if len(text) <= _TEXT_MAX:
        return text
    return f"{text[: _TEXT_MAX - _TEXT_END]} … {text[-_TEXT_END:]}"
