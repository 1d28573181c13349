"""Log lines and metrics of the hasher."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.test_archives import ARCHIVES
from tests.support.events import message_of
from tests.support.log_lines import metrics_in, objects_in
from tests.support.zip_maker import zip_of


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


def test_only_problems_have_a_line_if_it_is_so_set(
    stack: HasherStack, capsys: pytest.CaptureFixture[str]
) -> None:
    """A healthy object is counted as ever; one that is gone, and a broken archive, are logged."""
    stack.load(LOG_OBJECTS="problems", SHA1_INDEX="no", **ARCHIVES)
    gone = replace(stack.put("gone", b"?"), key="never there")
    no_archive = stack.put("b.zip", b"text")
    whole = stack.put("c.zip", zip_of({"x": b"x"}))
    stack.deliver(message_of(stack.put("a", b"content"), gone, no_archive, whole))
    out = capsys.readouterr().out
    assert {line["key"] for line in objects_in(out)} == {"never there", "b.zip"}
    assert sum(metrics_in(out)["ObjectsHashed"]) == 3
    rows = stack.rows()
    assert {("a", "null"), ("b.zip", "null"), ("c.zip", "null")} < set(rows)
    assert len(rows) == 4  # and the member
    assert not [row for row in rows.values() if "sha1_shard" in row]
