"""Log lines and metrics of the hasher."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.integration.hasher.log_lines import metrics_in, objects_in
from tests.support.events import BUCKET, message_of

if TYPE_CHECKING:
    from tests.integration.hasher.hasher_stack import HasherStack


def test_one_line_for_every_object(stack: HasherStack, capsys: pytest.CaptureFixture[str]) -> None:
    """The log tells of each object once: digest, bytes, seconds, MB/s and outcome, as JSON."""
    stack.deliver(message_of(stack.put("a b", b"content")))
    [line] = objects_in(capsys.readouterr().out)
    assert (line["bucket"], line["key"], line["outcome"]) == (BUCKET, "a b", "hashed")
    assert (line["sha1"], line["size_bytes"]) == (hashlib.sha1(b"content").hexdigest(), 7)
    assert line["seconds"] > 0
    assert line["mb_per_s"] == pytest.approx(7e-6 / line["seconds"], rel=0.01, abs=0.001)
    assert line["function_request_id"]


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
