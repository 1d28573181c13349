"""A message's fate: its log line and its metric, and whether the message can be deleted."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError
from tests.support.settings import SETTINGS

from bucketsum.errors import MalformedMessage, Released, SourceUnavailable
from bucketsum.queue.dead_letters import DeadLetters, ReceivedMessage
from bucketsum.queue.fates import MessageFates


def settled(failure: Exception | None, receives: int, sqs: Mock) -> tuple[bool, list[str], str]:
    """Whether the message is done, its metrics and its log line."""
    logger, metrics = Mock(), Mock()
    fates = MessageFates(lambda: DeadLetters(sqs, SETTINGS), logger, metrics)
    is_done = fates.is_done(ReceivedMessage("body", "handle", receives, "id", "queue"), failure)
    names = [call.args[0] for call in metrics.add_metric.call_args_list]
    lines = [call.args for call in (*logger.info.mock_calls, *logger.error.mock_calls)]
    [line] = [text % tuple(values) for text, *values in lines] or [""]
    return is_done, names[1:], line


@pytest.mark.parametrize(
    ("failure", "receives", "fate"),
    [
        (SourceUnavailable("busy"), 1, "retried"),
        (Released(7), 1, "released"),
        (MalformedMessage("no"), 1, "dead-lettered"),
        (Released(7), SETTINGS.max_receives, "dead-lettered"),
    ],
)
def test_log_line_and_metric_name_the_same_fate(
    failure: Exception, receives: int, fate: str
) -> None:
    """A message that is dead-lettered is never counted as released, also on its last receive."""
    metric = {"retried": "Retried", "released": "Released", "dead-lettered": "DeadLettered"}[fate]
    is_done = fate == "dead-lettered"
    assert settled(failure, receives, Mock()) == (is_done, [f"Messages{metric}"], f"message {fate}")


def test_a_message_that_is_done_has_no_fate() -> None:
    """Nothing is logged for it."""
    assert settled(None, 1, Mock()) == (True, [], "")


def test_what_sqs_refuses_to_dead_letter_is_retried() -> None:
    """It must not be deleted: it is in no other queue."""
    sqs = Mock()
    sqs.send_message.side_effect = ClientError({"Error": {"Code": "Throttled"}}, "SendMessage")
    expected = (False, ["MessagesRetried"], "message retried")
    assert settled(MalformedMessage("no"), 1, sqs) == expected
