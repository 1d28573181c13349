"""Answers to a stranger's questions, each in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from bucketsum_cli.page.figures import COST_DAYS, is_listed, total
from bucketsum_cli.snapshots.next_steps import DIFFERS, HASHED, NEUTRAL, next_steps
from bucketsum_cli.terminal.formatting import count_text, moment_text, month_usd_text, size_text

if TYPE_CHECKING:
    from bucketsum_cli.page.figures import Figures
    from bucketsum_cli.snapshots.folder import Snapshot


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """An answer of the page."""

    question: Annotated[str, "Question of somebody who sees the stack for the first time."]
    answer: Annotated[str, "Answer in a sentence."]
    section: Annotated[str, "Section of the page that has more."]
    is_good: Annotated[bool | None, "Whether all is well; null if that cannot be said."] = None


def answers_of(snapshot: Snapshot, figures: Figures) -> Iterator[PageAnswer]:
    """Yield the questions in the order in which they are asked."""
    unlisted = "; what has no row is not known: not all of S3 was listed"
    unknown = "" if is_listed(snapshot, figures) else unlisted
    count, buckets = total(figures["stored"]), {row["bucket"] for row in figures["stored"]}
    stored = f"{count_text(count, 'object')}, {size_text(total(figures['stored'], 'size_bytes'))}"
    stored += f", in {count_text(len(buckets), 'bucket')}"
    yield PageAnswer("What is stored?", stored, "stored")
    yield from _broken(figures, unknown)
    yield from _verified(figures)
    hashed = total(row for row in figures["stored"] if row["state"] == HASHED)
    covered = f"{'Yes' if hashed == count else 'No'}: {_percent_text(hashed, count)} have one"
    is_covered = None if unknown and hashed == count else hashed == count
    covered += unknown
    yield PageAnswer("Does every object have a digest?", covered, "stored", is_covered)
    saved = "Nothing: no two objects have equal content"
    for first in figures["duplicates"][:1]:
        usd, groups = first["all_wasted_usd_per_month"], count_text(first["all_groups"], "group")
        saved = (
            f"{month_usd_text(usd)} USD a month: {size_text(first['all_wasted_bytes'])} in {groups}"
        )
    yield PageAnswer("What would deleting duplicates save?", saved, "duplicates")
    yield PageAnswer("Does anything still arrive?", _arrived(figures), "arrivals")
    largest = [
        f"{size_text(row['size_bytes'])}: s3://{row['bucket']}/{row['key']}"
        for row in figures["largest"][:1]
    ]
    yield PageAnswer("Which object is the largest?", "".join(largest) or "None", "largest")
    costs = f"About {month_usd_text(figures['costs'][-1]['usd_per_month'])} USD for bucketsum, and "
    costs += (
        f"{month_usd_text(total(figures['stored'], 'usd_per_month'))} USD for the objects in S3"
    )
    yield PageAnswer("What does it cost a month?", costs, "costs")


def state_text(count: int, state: str) -> str:
    """The objects of a state, as ``2 differ``."""
    return f"{count:,} {'differ' if state == DIFFERS and count != 1 else state}"


def _arrived(figures: Figures) -> str:
    recent = figures["arrivals"][:COST_DAYS]
    newest = max(
        (str(row["newest_at"]) for row in figures["stored"] if row["newest_at"]), default=""
    )
    count, size = total(recent), size_text(total(recent, "size_bytes"))
    text = f"{'Yes' if count else 'No'}: {count:,} in {COST_DAYS} days ({size})"
    return f"{text}; the newest is of {moment_text(newest)[:16]} UTC" if newest else text


def _percent_text(part: int, whole: int) -> str:
    """A share; 100 % and 0 % are exact."""
    if part in (0, whole):
        return "100 %" if part == whole else "0 %"
    return f"{min(max(100 * part / whole, 0.01), 99.99):.2f} %"


def _broken(figures: Figures, unknown: str) -> Iterator[PageAnswer]:
    problems = [row for row in figures["problems"] if row["state"] not in NEUTRAL]
    states = {row["state"]: row["state_objects"] for row in problems}
    text = ", ".join(state_text(count, state) for state, count in states.items())
    text = f"Yes: {text}" if states else "No: every row has a digest, and none differs"
    text += unknown
    is_good = None if unknown and not states else not states
    yield PageAnswer("Is anything broken?", text, "problems", is_good)
    advice = "Nothing"
    for worst in problems[:1]:
        state, reason = worst["state"], worst["reason"]
        why = f"such as {worst['first_key']}" if state == DIFFERS or not reason else reason
        step = next_steps()[state].replace("`", "")
        advice = f"{state_text(states[state], state)}: {why[:90]}. {step}"
    yield PageAnswer("What is worst, and what to do?", advice, "problems")


def _verified(figures: Figures) -> Iterator[PageAnswer]:
    verified = [row for row in figures["verification"] if row["newest_at"]]
    differing = sum(
        row["state_objects"] for row in figures["problems"][:1] if row["state"] == DIFFERS
    )
    changed, again = "Not known: no object was read again", total(verified)
    if differing:
        changed = f"Yes: {count_text(differing, 'object')} had another digest when read again"
    elif again:
        changed = f"No: {again:,} were read again, and none differs"
    is_good = not differing if differing or again else None
    yield PageAnswer(
        "Has any content changed since it was recorded?", changed, "verification", is_good
    )
    times = "Never"
    if verified:
        newest = max(moment_text(row["newest_at"]) for row in verified)
        oldest = min(moment_text(row["oldest_at"]) for row in verified)
        hashed = total(figures["verification"])
        never = _percent_text(hashed - again, hashed)
        times = f"{newest[:10]}; the oldest is of {oldest[:10]}, and {never} were never verified"
    yield PageAnswer("When was this last verified?", times, "verification")
