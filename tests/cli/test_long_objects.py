"""`bucketsum show`, `status` and `stop` of an object that is hashed in slices."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.aws_calls import HEALTHY, answered, change_calls
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, HALF

from bucketsum.long_objects.progress import ChainStatus, Progress
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.table.rows import RowKey, Status
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.put import slices_text
from bucketsum_cli.objects.files import LocalFile
from bucketsum_cli.objects.long_objects import long_object, progress_text
from bucketsum_cli.objects.upload import Upload
from bucketsum_cli.terminal.live_progress import progress


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (HALF, "312.0 GB of 5.0 TB, 78 MB/s, done in about 16 h 41 min"),
        (replace(HALF, offset=0, mb_per_s=None), "0 B of 5.0 TB, the first slice has not ended"),
        (
            replace(HALF, status=ChainStatus.STOPPED, reason="why"),
            "312.0 GB of 5.0 TB, stopped: why",
        ),
        (
            replace(HALF, status=ChainStatus.STOPPED, reason="stopped by a person"),
            "312.0 GB of 5.0 TB, stopped by a person",
        ),
    ],
)
def test_progress_in_words(progress: Progress, text: str) -> None:
    """Size, speed and the time that is left."""
    item = long_object(progress)
    assert progress_text(item) == text


def test_show_and_status_have_the_progress(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object in progress has no row yet, and is shown all the same."""
    stack.progress_table().begin(HALF)
    stack.progress_table().begin(replace(HALF, key="other"))
    shown = run("show", "big").assert_done()
    assert "312.0 GB of 5.0 TB, 78 MB/s" in shown.out
    [progress] = run("show", "big", "--json").document["in_progress"]
    assert (progress["bytes_done"], progress["slices_done"]) == (312_000_000_000, 5)
    assert progress["seconds_left"] == 60_103
    change_calls(monkeypatch, answered(HEALTHY))
    status = run("status").out
    assert "long objects" in status
    assert "312.0 GB of 5.0 TB, 78 MB/s" in status
    assert len(run("status", "--json").document["long_objects"]) == 2


def test_stop_ends_the_chain_and_records_why(run: Run, stack: Stack) -> None:
    """The row's reason names the command that continues; that command finds the row."""
    stack.progress_table().begin(HALF)
    ended = run("stop", "big").assert_done()
    assert "stopped by a person after 312.0 GB of 5.0 TB" in ended.out
    [progress] = stack.progress_table().in_progress()
    assert isinstance(progress, Progress)
    assert progress.status is ChainStatus.STOPPED
    row = stack.digests_table().row_at(RowKey(BUCKET, "big", "null"))
    assert row is not None
    assert (row.status, row.reason) == (Status.UNREADABLE, progress.reason)
    assert run("redrive", "--key", "big").status == 0
    again = run("stop", "big")
    assert (again.status, again.out) == (1, "")
    assert "not being hashed in slices" in again.err


def test_a_slice_that_ends_meanwhile_does_not_save_the_chain(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The offset that was seen has moved on: it is read again."""
    table = stack.progress_table()
    table.begin(HALF)
    table.advance(HALF, replace(HALF, offset=400_000_000_000, hop=6))
    monkeypatch.setattr("bucketsum_cli.commands.stop.in_progress", lambda *_: ([HALF], []))
    document = run("stop", "big", "--json").document
    assert [version["bytes_done"] for version in document["stopped_versions"]] == [400_000_000_000]


def test_stop_gives_up_on_a_chain_that_always_changes(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop over the conditional write has an end, with a reason and no report of a defect."""
    stack.progress_table().begin(HALF)
    monkeypatch.setattr(ProgressTable, "stop", lambda *_: None)
    ended = run("stop", "big")
    assert ended.status == 2
    assert "was changed by others before each attempt" in ended.err
    assert "defect" not in ended.err


def test_a_wait_shows_the_progress_of_a_long_object(stack: Stack) -> None:
    """Without it, nothing would move for the minutes or hours that its slices take."""
    path = Path("big.tar")
    small, long = (
        Upload(LocalFile(path, key, size), RowKey(BUCKET, key, "null"), "an-etag")
        for key, size in (("small", 1), ("big", HALF.size_bytes))
    )
    assert slices_text(stack, [small, long]) == ""
    stack.progress_table().begin(HALF)
    assert slices_text(stack, [small, long]).startswith("; big: 312.0 GB of 5.0 TB, 78 MB/s")
    assert slices_text(stack, [small]) == ""


def test_a_key_in_a_bar_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Markup in it would colour the terminal, or end the command."""
    with progress("{task.fields[slices]}") as bar:
        bar.add_task("hashing", total=1, slices="; [/red]key")
    assert "; [/red]key" in capsys.readouterr().err
