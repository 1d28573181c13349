"""Items that another program changed: shown as damaged, among the others."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.aws_calls import HEALTHY, answered, change_calls
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, HALF, change, put_and_record

from bucketsum.long_objects.progress import item_key
from bucketsum.table.items import key_of
from bucketsum.table.rows import RowKey
from bucketsum_cli.aws.stack import Stack


@pytest.mark.parametrize(("name", "value"), [("sha1", {"S": "zz"}), ("status", None)])
def test_a_damaged_row_is_shown_among_the_others(
    run: Run, stack: Stack, tmp_path: Path, name: str, value: dict[str, Any] | None
) -> None:
    """`ls`, `find`, `show` and `check` name it with its reason, and exit with 1."""
    content = b"content"
    row = put_and_record(stack, "a", content)
    put_and_record(stack, "b", content)
    change(stack, key_of(RowKey(BUCKET, "a", row.entry)), name, value)
    sha1 = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    ls = run("ls", "--json").assert_no()
    damaged, healthy = ls.document
    assert (damaged["key"], damaged["status"], damaged["sha1"]) == ("a", "damaged", None)
    assert f"the row of '{BUCKET}/a'" in damaged["reason"]
    assert (healthy["status"], healthy["sha1"]) == ("hashed", sha1)
    assert (run("ls").status, run("ls", "b").status) == (1, 0)
    assert "nothing is recorded" not in run("show", "a").err
    assert run("show", "a").status == 1
    done = run("find", sha1, "--json").assert_no()
    assert [item["status"] for item in done.document["objects"]] == ["damaged", "hashed"]
    assert "damaged: " in run("find", sha1).err
    for key in ("a", "b"):
        (tmp_path / key).write_bytes(content)
    check = run("check", tmp_path / "a", tmp_path / "b", "--json").assert_no()
    assert [item["result"] for item in check.document["files"]] == ["damaged", "equal"]


def test_damaged_progress_is_shown_among_the_others(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other objects can be watched and stopped; it is shown with its key and its reason."""
    table = stack.progress_table()
    table.begin(HALF)
    table.begin(replace(HALF, key="other"))
    change(stack, item_key(replace(HALF, key="other").row_key), "status", {"S": "weird"})
    assert run("show", "big").status == 0
    shown = run("show", "other").assert_no()
    assert "damaged: " in shown.out
    assert run("stop", "big").status == 0
    stop = run("stop", "other").assert_no()
    assert "delete it, then redrive the message" in stop.err
    change_calls(monkeypatch, answered(HEALTHY))
    status = run("status", "--json").assert_no()
    states = {item["key"]: item["slices_status"] for item in status.document["long_objects"]}
    assert states == {"big": "stopped", "other": "damaged"}
    assert "damaged: " in run("status").out
