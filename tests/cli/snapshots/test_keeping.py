"""Snapshots do not pile up: only what a person took, and the last of a question, stay."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.cli.aws_calls import answered, change_calls
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, put_and_record

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.snapshots import keeping
from bucketsum_cli.snapshots.folder import snapshots, snapshots_folder

HELD = """
import sys, pathlib
from bucketsum_cli.snapshots import keeping
from bucketsum_cli.snapshots.folder import read_snapshot
keeping.hold(read_snapshot(pathlib.Path(sys.argv[1])))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def planted(stack: Stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stack:
    """A stack with a row; the current folder is the person's."""
    put_and_record(stack, "a", b"a")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return stack


@pytest.mark.usefixtures("planted")
def test_questions_leave_a_few_in_the_folder_of_the_person(run: Run, tmp_path: Path) -> None:
    """They are in XDG's folder for data, not where one stands; a snapshot that was taken stays."""
    first = Path(run("snapshot", "--json").document["folder"])
    for _ in range(keeping.LAST_ONES + 1):
        assert run("coverage", BUCKET).status == 0
    assert first.parent == snapshots_folder() == tmp_path / "data" / "bucketsum" / "snapshots"
    kept = run("snapshot", "list", "--json").document
    assert [snapshot["is_kept"] for snapshot in kept] == [False] * keeping.LAST_ONES + [True]
    assert all(snapshot["size_bytes"] > 100 for snapshot in kept)
    shown = run("snapshot", "list").out
    assert "one of the last 3" in shown
    assert "taken by `snapshot`" in shown
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.usefixtures("planted")
def test_a_snapshot_that_is_read_or_has_tables_elsewhere_stays(run: Run) -> None:
    """Another process may read it; the tables of Athena would have no name any more."""
    assert run("coverage", BUCKET).status == 0
    [held] = snapshots()
    arguments = [sys.executable, "-c", HELD, str(held.folder)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout
        assert reader.stdout.readline() == b"held\n"
        assert run("coverage", BUCKET).status == 0
        stored = snapshots()[0]
        file = stored.folder / "snapshot.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"place": "s3://lists/x/"}))
        for _ in range(keeping.LAST_ONES):
            assert run("coverage", BUCKET).status == 0
        assert {held.folder, stored.folder} <= {snapshot.folder for snapshot in snapshots()}
        assert "its rows are in S3" in run("snapshot", "list").out
        reader.communicate()
    assert run("coverage", BUCKET).status == 0
    assert held.folder not in {snapshot.folder for snapshot in snapshots()}


def test_another_tables_snapshots_are_not_counted(run: Run, planted: Stack) -> None:
    """Three of a table stay, and folders of dead processes go after a day."""
    assert run("coverage", BUCKET).status == 0
    [old] = snapshots()
    text = (old.folder / "snapshot.json").read_text()
    (old.folder / "snapshot.json").write_text(text.replace(planted.connection.region, "eu-west-3"))
    young, dead = (snapshots_folder() / f".partial-{name}" for name in ("1-x", "2-y"))
    for folder in (young, dead):
        folder.mkdir()
    os.utime(dead, (0, 0))
    for _ in range(keeping.LAST_ONES):
        assert run("coverage", BUCKET).status == 0
    assert old.folder in {snapshot.folder for snapshot in snapshots()}
    assert (young.exists(), dead.exists()) == (True, False)


@pytest.mark.usefixtures("planted")
def test_a_full_disk_is_known_before(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has what is needed, what is there, and what to do; nothing is read."""
    table = {"ItemCount": 10_000_000, "TableSizeBytes": 1, "TableArn": "a:b:c:d:e:f"}
    change_calls(monkeypatch, answered({"DescribeTable": {"Table": table}}))
    free = SimpleNamespace(free=2_000_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: free)
    run("coverage", BUCKET).assert_refused(
        "10,000,000 rows takes some 3.5 GB of disk and up to 2.2 GB of memory", "2.0 GB left",
        "snapshot list", "BUCKETSUM_HOME",
    )  # fmt: skip
    assert snapshots() == []
