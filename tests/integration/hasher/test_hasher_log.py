"""Log lines and metrics of the hasher."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.integration.hasher.log_lines import metrics_in, objects_in
from tests.support.events import message_of

if TYPE_CHECKING:
    import pytest
    from tests.integration.hasher.hasher_stack import HasherStack


def test_a_restored_object_has_its_line(
    stack: HasherStack, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if it is hashed without a sequencer, as the objects of a backfill, which have none."""
    created = message_of(stack.put("a", b"content"))
    stack.deliver(created.replace("ObjectCreated:Put", "ObjectRestore:Completed"))
    [line] = objects_in(capsys.readouterr().out)
    assert (line["outcome"], line["size_bytes"]) == ("hashed", 7)


def test_metrics_for_the_dashboard(stack: HasherStack, capsys: pytest.CaptureFixture[str]) -> None:
    """One EMF document per invocation holds messages, outcomes, bytes and speed."""
    gone = replace(stack.put("gone", b"?"), key="never there")
    stack.deliver(message_of(stack.put("a", b"content"), stack.put("b", b"more"), gone))
    metrics = metrics_in(capsys.readouterr().out)
    assert metrics["Messages"] == [1]
    assert sum(metrics["ObjectsHashed"]) == 2
    assert sum(metrics["ObjectsGone"]) == 1
    assert sum(metrics["BytesHashed"]) == len(b"content" + b"more")
    assert len(metrics["Speed"]) == 2
    [described] = metrics["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == "bucketsum"
    assert described["Dimensions"] == [["service"]]
