"""A message's fate: its log line and its metric, and whether the message can be deleted."""

from typing import Final
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError
from tests.support.settings import SETTINGS

from bucketsum.errors import MalformedMessage, Released, SourceUnavailable
from bucketsum.hashing.report import Report
from bucketsum.queue.dead_letters import DeadLetters, ReceivedMessage

THROTTLED: Final = ClientError({"Error": {"Code": "ThrottlingException"}}, "PutItem")


def settled(
    failure: Exception | None, receives: int, sqs: Mock
) -> tuple[bool, list[str], list[str]]:
    """Whether the message is done, its metrics, and its log lines with level and seconds."""
    logger, metrics = Mock(), Mock()
    report = Report(DeadLetters(sqs, SETTINGS), logger, metrics)
    is_done = report.is_done(ReceivedMessage("body", "handle", receives, "id", "queue"), failure)
    names = [call.args[0] for call in metrics.add_metric.call_args_list]
    lines = [
        f"{level}: {call.args[0] % call.args[1:]} {call.kwargs.get('seconds', '')}".strip()
        for level in ("info", "error")
        for call in getattr(logger, level).mock_calls
    ]
    return is_done, names[1:], lines


@pytest.mark.parametrize(
    ("failure", "receives", "metric", "line"),
    [
        (SourceUnavailable("busy"), 1, "MessagesRetried", "error: message retried"),
        (Released(7), 1, "MessagesReleased", "info: message released 7"),
        (THROTTLED, 1, "MessagesReleased", "info: message released None"),
        (MalformedMessage("no"), 1, "MessagesDeadLettered", "error: message dead-lettered"),
        (
            Released(7),
            SETTINGS.max_receives,
            "MessagesDeadLettered",
            "error: message dead-lettered",
        ),
    ],
)
def test_log_line_and_metric_name_the_same_fate(
    failure: Exception, receives: int, metric: str, line: str
) -> None:
    """A message that is dead-lettered is never counted as released, also on its last receive."""
    is_done = metric == "MessagesDeadLettered"
    assert settled(failure, receives, Mock()) == (is_done, [metric], [line])


def test_a_message_that_is_done_has_no_fate() -> None:
    """Nothing is logged for it."""
    assert settled(None, 1, Mock()) == (True, [], [])


@pytest.mark.parametrize("failure", [MalformedMessage("no"), SourceUnavailable("busy")])
def test_what_sqs_refuses_is_retried(failure: Exception) -> None:
    """It must not be deleted: it is in no other queue, and waits out the queue's own time-out."""
    sqs = Mock()
    sqs.send_message.side_effect = sqs.change_message_visibility.side_effect = ClientError(
        {"Error": {"Code": "Throttled"}}, "any"
    )
    assert settled(failure, 1, sqs) == (False, ["MessagesRetried"], ["error: message retried"])
