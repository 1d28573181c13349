"""`bucketsum local logs`: every event once, however many there are."""

from __future__ import annotations

import importlib
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import Run, SleepReplacer

log_messages = importlib.import_module("bucketsum_cli.commands.local.logs").log_messages


PAGE = 5


class Events:
    """FilterLogEvents as ministack answers: the oldest `PAGE` events, and no token."""

    def __init__(self, events: list[tuple[int, str]]) -> None:
        self.events = events
        self.log_group = "group"
        self.shown_events = 0

    def client(self, _service: str) -> Events:
        """The same, as a stack and as a client."""
        return self

    def filter_log_events(self, *, startTime: int, **_: object) -> dict[str, Any]:  # noqa: N803
        """The oldest events from *startTime* on."""
        events = sorted(event for event in self.events if event[0] >= startTime)[:PAGE]
        self.shown_events += len(events)
        return {"events": [{"timestamp": at, "message": text} for at, text in events]}


def at_distinct_times(texts: list[str]) -> list[tuple[int, str]]:
    """At most three events in a millisecond: ministack has 10,000 in an answer, this 5."""
    return [(1 + number // 3, text) for number, text in enumerate(texts)]


@given(texts=st.lists(st.sampled_from(["a", "b", "c"]), max_size=60))
def test_every_event_is_shown_once(texts: list[str]) -> None:
    """Beyond the first answer too, also equal messages of the same millisecond."""
    events = at_distinct_times(texts)
    stack: Any = Events(events)
    assert list(log_messages(stack, follow=False)) == [text for _, text in sorted(events)]


def test_following_shows_what_is_added_and_asks_for_little(replace_sleep: SleepReplacer) -> None:
    """A poll without news fetches only the events of the last millisecond."""
    stack: Any = Events(at_distinct_times([f"old {number:02}" for number in range(30)]))
    additions = iter([[], [(20, "new")], [(20, "new"), (21, "newer")], []])
    fetched: list[int] = []

    def pause(_seconds: float) -> None:
        fetched.append(stack.shown_events)
        addition = next(additions, None)
        if addition is None:
            raise KeyboardInterrupt
        stack.events += addition

    replace_sleep(pause)
    shown: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        shown.extend(log_messages(stack, follow=True))
    assert shown == [*(f"old {number:02}" for number in range(30)), "new", "new", "newer"]
    assert max(after - before for before, after in pairwise(fetched)) <= PAGE + 3


def test_lines_are_printable(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in a log line cannot act on the terminal; lines stay lines."""
    monkeypatch.setattr(
        "bucketsum_cli.emulator.emulator_state.local_project", lambda: SimpleNamespace(home=None)
    )
    stack = Events([(1, "START\nkey \x9b31m\u202e\n")])
    command = importlib.import_module("bucketsum_cli.commands.local.logs")
    monkeypatch.setattr(command, "find_local_stack", lambda _: stack)
    assert run("local", "logs").out == "START\n" + r"key \x9b31m\u202e" + "\n"
