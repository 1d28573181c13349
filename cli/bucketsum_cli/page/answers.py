"""Answers to a stranger's questions, each in a sentence."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from bucketsum_cli.page.figures import COST_DAYS, Figures, Record, summed, total
from bucketsum_cli.page.history import PageTotals
from bucketsum_cli.snapshots.next_steps import DIFFERS, HASHED, NEUTRAL, REPAIRED, next_steps
from bucketsum_cli.terminal.formatting import (
    cents_text,
    count_text,
    moment_text,
    size_text,
    tally_text,
)

_UNLISTED = "; what has no row is not known: not all of S3 was listed"


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """An answer of the page."""

    question: Annotated[str, "Question of somebody who sees the stack for the first time."]
    answer: Annotated[str, "Answer in a sentence."]
    section: Annotated[str, "Section of the page that has more."]
    is_good: Annotated[bool | None, "Whether all is well; null if that cannot be said."] = None


def answers_of(
    figures: Figures, now: PageTotals, before: Sequence[PageTotals]
) -> Iterator[PageAnswer]:
    """Yield the questions in the order in which they are asked."""
    stored = f"{count_text(now.objects, 'object')}, {size_text(now.size_bytes)}"
    buckets = len({row["bucket"] for row in figures.stored})
    yield PageAnswer("What is stored?", f"{stored}, in {count_text(buckets, 'bucket')}", "stored")
    yield from _broken(figures)
    yield from _verified(figures)
    yield _digests(figures, now.objects)
    yield _agreement(figures)
    yield _gone(figures, now.states)
    yield PageAnswer("What changed since the page before?", _trend(now, before), "trend")
    yield PageAnswer("What would deleting duplicates save?", _saved(figures), "duplicates")
    yield PageAnswer("Does anything still arrive?", _arrived(figures), "arrivals")
    largest = [
        f"{size_text(row['size_bytes'])}: {url_of(row)}" for row in figures.list_of("largest")
    ]
    yield PageAnswer("Which object is the largest?", (*largest, "None")[0], "largest")
    costs = f"About {cents_text(sum(figures.costs.values()))} USD for bucketsum, and "
    costs += f"{cents_text(total(figures.stored, 'usd_per_month'))} USD for the objects in S3"
    yield PageAnswer("What does it cost a month?", costs, "costs")


def problems_of(figures: Figures) -> dict[str, int]:
    """State → objects of what is wrong, the worst first."""
    return {
        row["state"]: row["state_objects"]
        for row in figures.problems
        if row["state"] not in NEUTRAL
    }


def headline_of(figures: Figures) -> tuple[str, bool | None]:
    """The verdict in a few words, and whether all is well; null if that cannot be said."""
    if states := problems_of(figures):
        return tally_text(states), False
    if not figures.stored:
        return "There are no objects", None
    if not figures.is_listed:
        return "Nothing broken is known; not all of S3 was listed", None
    return "Nothing is broken", True


def url_of(row: Record) -> str:
    """The S3 URL of a version."""
    return f"s3://{row['bucket']}/{row['key']}"


def _verdict(*, is_good: bool, is_known: bool) -> bool | None:
    """Whether all is well; what is not known is not good."""
    return (True if is_known else None) if is_good else False


def _percent_text(part: int, whole: int) -> str:
    """A share; 100 % and 0 % are exact."""
    if part in (0, whole):
        return "100 %" if part == whole else "0 %"
    return f"{min(max(100 * part / whole, 0.01), 99.99):.2f} %"


def _broken(figures: Figures) -> Iterator[PageAnswer]:
    states = problems_of(figures)
    text = f"Yes: {tally_text(states)}" if states else "No: nothing differs, is lost or unreadable"
    text += "" if figures.is_listed else _UNLISTED
    is_good = _verdict(is_good=not states, is_known=figures.is_listed)
    yield PageAnswer("Is anything broken?", text, "problems", is_good)
    advice = "Nothing"
    for state, count in [*states.items()][:1]:
        worst = next(row for row in figures.problems if row["state"] == state)
        url = shlex.quote(worst["first_key"])
        step = next_steps()[state].replace("KEY --bucket BUCKET", url)
        step = step.replace("BUCKET", url.partition("//")[2].partition("/")[0])
        advice = f"{tally_text({state: count})}: {step}"
    question = "What is worst, and what to do?"
    yield PageAnswer(question, advice, "problems", is_good=False if states else None)


def _verified(figures: Figures) -> Iterator[PageAnswer]:
    verified = [row for row in figures.verification if row["newest_at"]]
    stored = summed(figures.stored, "state")
    differing, repaired = stored.get(DIFFERS, 0), stored.get(REPAIRED, 0)
    again = total(verified)
    changed = "Not known: no object was read again"
    if differing:
        changed = f"Yes: the last reading of {count_text(differing, 'object')} differed"
    elif repaired:
        changed = f"Yes, of {count_text(repaired, 'object')}: a newer version has the recorded one"
    elif again:
        changed = f"No: of {count_text(again, 'object')} read again, none differs"
    is_good = _verdict(is_good=not differing, is_known=bool(again) and not repaired)
    question = "Has any content changed since it was recorded?"
    yield PageAnswer(question, changed, "verification", is_good)
    times = "Never"
    if verified:
        newest = max(moment_text(row["newest_at"]) for row in verified)
        oldest = min(moment_text(row["oldest_at"]) for row in verified)
        share = _percent_text(again, total(figures.verification))
        times = f"Last on {newest[:10]}. {share} were read again; the oldest such reading is of "
        times += oldest[:10]
    yield PageAnswer("When was this last verified?", times, "verification")


def _digests(figures: Figures, count: int) -> PageAnswer:
    """Whether every object has a digest, and what those are that have none."""
    objects, digests = (summed(figures.stored, "state", name) for name in ("objects", "digests"))
    without = {state: n - digests[state] for state, n in objects.items() if n > digests[state]}
    have = sum(digests.values())
    text = f"{'No' if without else 'Yes'}: {_percent_text(have, count)} have a digest"
    text += f"; {tally_text(without)}" if without else ""
    is_known = not without and figures.is_listed
    is_good = _verdict(is_good=not {*without} - NEUTRAL, is_known=is_known)
    text += "" if figures.is_listed else _UNLISTED
    return PageAnswer("Does every object have a digest?", text, "stored", is_good)


def _agreement(figures: Figures) -> PageAnswer:
    agreeing, against = (total(figures.stored, name) for name in ("agreeing", "contradicted"))
    share = _percent_text(agreeing, total(figures.stored, "digests"))
    text = f"Yes, where S3 has one to compare: {share} of the digests"
    if against:
        text = f"No: {against:,} {'does' if against == 1 else 'do'} not; {share} of the digests do"
    if not agreeing and not against:
        text = "Not known: none was compared"
    is_good = _verdict(is_good=not against, is_known=bool(agreeing))
    return PageAnswer("Do S3's own checksums agree?", text, "stored", is_good)


def _gone(figures: Figures, states: Mapping[str, int]) -> PageAnswer:
    gone = {state: states[state] for state in ("lost", "deleted") if states.get(state)}
    deleted = [row for row in figures.list_of("gone") if row["deleted_at"]]
    last = f"; the last deletion on {moment_text(deleted[0]['deleted_at'])[:10]}" if deleted else ""
    unknown = "" if figures.is_listed else "; losses are not known: not all of S3 was listed"
    text = f"{tally_text(gone) or 'Nothing'}{last}{unknown}"
    is_good = False if states.get("lost") else None
    return PageAnswer("What was lost or deleted?", text, "gone", is_good)


def _trend(now: PageTotals, before: Sequence[PageTotals]) -> str:
    if not before:
        return "Not known: this is the first page"
    old = before[0]
    changes = {"objects": now.objects - old.objects}
    for state in sorted({*now.states, *old.states} - {HASHED}):
        changes[state] = now.states.get(state, 0) - old.states.get(state, 0)
    size = now.size_bytes - old.size_bytes
    texts = [f"{change:+,} {name}" for name, change in changes.items() if change]
    texts += [f"{'+' if size > 0 else '-'}{size_text(abs(size))}"] if size else []
    return f"{', '.join(texts) or 'Nothing'}, since {moment_text(old.ended_at)[:10]}"


def _saved(figures: Figures) -> str:
    if not figures.duplicates:
        return "Nothing: no two objects have equal content"
    first = figures.duplicates[0][0]
    size, groups = size_text(first["all_wasted_bytes"]), count_text(first["all_groups"], "group")
    return f"{cents_text(first['all_wasted_usd_per_month'])} USD a month: {size} in {groups}"


def _arrived(figures: Figures) -> str:
    recent = figures.arrivals[:COST_DAYS]
    newest = max((str(row["newest_at"]) for row in figures.stored if row["newest_at"]), default="")
    count, size = total(recent), size_text(total(recent, "size_bytes"))
    text = f"{'Yes' if count else 'No'}: {count:,} in {COST_DAYS} days ({size})"
    return f"{text}; the newest is of {moment_text(newest)[:16]} UTC" if newest else text
