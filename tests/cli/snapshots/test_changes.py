"""Changes between two snapshots are those that plain Python finds, over hostile rows."""

from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, put_and_record, put_object, record_deletion
from tests.cli.snapshots.changes_oracle import Side, changes, later
from tests.cli.snapshots.hostile_rows import Hostile, hostile

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.snapshots.folder import Listed

ALL: Final = (Listed("photos", ""), Listed("films", ""))
SOME: Final = (Listed("photos", "a"), Listed("films", ""))


@pytest.fixture(scope="module")
def both() -> tuple[Hostile, Hostile]:
    """Hostile rows, and what became of them."""
    before = hostile(1500)
    return before, later(before)


@pytest.mark.parametrize("listed", [(ALL, ALL), ((), ()), (SOME, ALL), (ALL, ())])
def test_changes_are_those_of_a_loop_over_the_rows(
    run: Run,
    tmp_path: Path,
    both: tuple[Hostile, Hostile],
    listed: tuple[tuple[Listed, ...], tuple[Listed, ...]],
) -> None:
    """Each version changed once; a change is counted in its folder, with the first keys."""
    before, after = both
    folders = (
        before.write(tmp_path / "a", listed[0]).folder,
        after.write(tmp_path / "b", listed[1]).folder,
    )
    document = run("changes", *folders, "--limit", 2, "--json").document
    got = {(p["bucket"], p["folder"], p["change"]): p["objects"] for p in document["parts"]}
    began = "2026-11-26T10:00:00"
    expected = changes(Side(before, listed[0]), Side(after, listed[1]), began)
    assert Counter(got) == expected
    kinds = {
        "added", "overwritten", "deleted", "recorded", "verified", "differs", "lost", "damaged",
        "unreadable", *(["not recorded"] if all(listed) else []),
    }  # fmt: skip
    assert {change for _, _, change in got} >= kinds - ({"added"} if not listed[0] else set())
    assert ("hidden" in document["counts"]) == all(map(bool, listed))
    assert all(len(p["first"]) == min(p["objects"], 2) for p in document["parts"])
    of_prefix = run("changes", *folders, "--bucket", "photos", "--prefix", "a!/", "--json").document
    place = ("photos", "a!/")
    assert of_prefix["counts"] == {change: n for (*at, change), n in got.items() if (*at,) == place}


def test_changes_since_the_last_snapshot_or_a_date(
    run: Run, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second needs no snapshot of then; what is good exits with 0, what is lost with 1."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path))
    put_and_record(stack, "a/kept", b"kept")
    lost = put_and_record(stack, "a/lost", b"lost")
    gone = put_and_record(stack, "a/gone", b"gone")
    first = run("snapshot", "--listing", "--json").document["folder"]
    assert run("changes", "last", "--bucket", BUCKET).out == "no changes\n"
    put_object(stack, "b/new", b"new")
    record_deletion(stack, gone)
    stack.client("s3").delete_object(Bucket=BUCKET, Key=gone.key, VersionId=gone.entry)
    good = run("changes", first).assert_done()
    assert "1 deleted, 1 added" in good.out
    stack.client("s3").delete_object(Bucket=BUCKET, Key=lost.key, VersionId=lost.entry)
    bad = run("changes", first, "--json")
    assert (bad.status, bad.document["has_findings"]) == (1, True)
    [part] = [part for part in bad.document["parts"] if part["change"] == "lost"]
    assert part["first"][0]["key"] == "a/lost"
    assert run("changes", "--since", "2026-11-01", "last", "--json").document["counts"] == {
        "added": 2, "lost": 1,
    }  # fmt: skip
    after = bad.document["after"]
    run("changes", after, first).assert_refused("name the earlier first")
    run("changes", first, after, "--bucket", "other").assert_refused("no object s3://other/")
    for wrong in ((), (first, after, "--since", "2026-11-01")):
        run("changes", *wrong).assert_refused("give A, or A and B")
