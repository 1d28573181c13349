"""The soak notices each problem, and its changes to a stack end with it."""

from dataclasses import replace
from typing import Any, Final
from unittest.mock import Mock

import pytest
from tests.soak.log_volume import LogVolume
from tests.soak.queues import through_proxy
from tests.soak.report import LOG_BYTES_MAX, MEMORY_FROM_OBJECTS, Report
from tests.soak.workers import Memory

PROXY: Final = "https://127.0.0.1:1"
FLAT, GROWING = Memory((60.0, 60.0, 60.0, 60.0)), Memory((60.0, 60.0, 60.0, 64.0))
HEALTHY: Final = Report(
    objects=MEMORY_FROM_OBJECTS, seed=1, seconds=1.0, versions=1, size_bytes=1, archive_members=0,
    deletions=0, duplicates=0, malformed=1, events=2, requests=3, faults={}, dead_letters=1,
    without_reason=0, malformed_dead=1, lost=(), wrong=(), memory=(FLAT,),
    log=LogVolume(2 * LOG_BYTES_MAX, 0),
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"lost": ("k",)}, "lost: k"),
        ({"wrong": ("k",)}, "wrong: k"),
        ({"malformed_dead": 0}, "0 of 1 malformed messages have a reason"),
        ({"memory": (FLAT, GROWING)}, "the memory of a worker is not flat"),
        ({"log": LogVolume(3 * LOG_BYTES_MAX, 0)}, "6,000 bytes of log lines for each event"),
    ],
)
def test_each_problem_is_noticed(change: dict[str, Any], problem: str) -> None:
    """A healthy report has none; of few objects, the memory is not judged."""
    assert list(HEALTHY.problems()) == []
    assert list(replace(HEALTHY, memory=(GROWING,), objects=1).problems()) == []
    [text] = replace(HEALTHY, **change).problems()
    assert text.startswith(problem)


def test_an_interrupted_soak_restores_the_function_and_does_not_judge_it() -> None:
    """Ctrl-C stays the reason, although the interrupted function cannot answer."""
    client = Mock()
    client.get_function_configuration.return_value = {"Environment": {"Variables": {"A": "1"}}}
    client.invoke.side_effect = [{}, {"FunctionError": "Unhandled", "Payload": Mock()}]
    stack = Mock(client=lambda _: client)
    with pytest.raises(KeyboardInterrupt), through_proxy(stack, PROXY):
        raise KeyboardInterrupt
    updates = client.update_function_configuration.mock_calls
    variables = [update.kwargs["Environment"]["Variables"] for update in updates]
    assert [environment.get("AWS_ENDPOINT_URL") for environment in variables] == [PROXY, None]
