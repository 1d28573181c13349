"""`bucketsum find`: where else is this content?"""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import (
    HOSTILE,
    HOSTILE_SHOWN,
    hashed,
    put_and_record,
    put_object,
    record_archive,
    record_deletion,
)

from bucketsum.hashing.verification import mark
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.items import key_of
from bucketsum.table.rows import Row, RowKey
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.objects import row_states

CONTENT = b"the same everywhere"
SHA1 = hashlib.sha1(CONTENT).hexdigest()


def test_every_object_and_version_with_the_content_is_found(run: Run, stack: Stack) -> None:
    """By digest in either case, and only those."""
    rows = [put_and_record(stack, key, CONTENT, s) for key, s in (("a", "01"), ("b", "01"))]
    rows.append(put_and_record(stack, "b", CONTENT, "02"))
    put_and_record(stack, "c", b"another")
    ended = run("find", SHA1.upper(), "--json").assert_done()
    assert ended.document["sha1"] == SHA1
    assert {(row["key"], row["version"]) for row in ended.document["objects"]} == {
        (row.key, row.entry) for row in rows
    }


def test_deleted_copies_are_marked(run: Run, stack: Stack) -> None:
    """They still have the content; a person sees which copies exist."""
    gone = put_and_record(stack, "gone", CONTENT)
    put_and_record(stack, "here", CONTENT)
    record_deletion(stack, gone)
    lines = {line.split()[0]: line for line in run("find", SHA1).out.splitlines()[1:]}
    assert "2026-11-21 03:04:05" in lines["gone"]
    assert "2026-11-21" not in lines["here"]
    listed = {entry["key"]: entry for entry in run("find", SHA1, "--json").document["objects"]}
    assert listed["gone"]["deleted_at"] == "2026-11-21T03:04:05.000Z"
    assert (listed["gone"]["deleted_by"], listed["here"]["deleted_at"]) == ("request", None)


def test_a_copy_that_differs_now_is_named(run: Run, stack: Stack) -> None:
    """`show` of a rotten object sends people here, to copies that still have the content."""
    rotten = put_and_record(stack, "rotten", CONTENT)
    put_and_record(stack, "sound", CONTENT)
    mark(stack.digests_table(), rotten, rotten, f"sha1:{'0' * 40}")
    ended = run("find", SHA1)
    assert (ended.status, "rotten was read twice with other bytes" in ended.err) == (0, True)
    assert "sound was" not in ended.err


def test_members_of_a_deleted_archive_are_marked(run: Run, stack: Stack) -> None:
    """The deletion is in the archive's row alone; members of an expired row are left out."""
    archive = RowKey(stack.bucket, "a.zip", record_archive(stack, {"x": CONTENT}))
    record_deletion(stack, archive)
    [member] = run("find", SHA1, "--json").document["objects"]
    assert (member["member"], bool(member["deleted_at"])) == ("x", True)
    [shown] = run("show", "a.zip!/x", "--json").document["versions"]
    assert shown["deleted_at"]
    assert "a.zip was deleted at 2026-11-21 03:04:05 UTC" in run("ls", "--members", "a.zip").err
    stack.client("dynamodb").delete_item(TableName=stack.table, Key=key_of(archive))
    assert run("find", SHA1, "--json").document["objects"] == []


def test_40_digits_are_a_digest_even_where_a_file_has_that_name(
    run: Run, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """./NAME means the file."""
    put_and_record(stack, "by digest", CONTENT)
    put_and_record(stack, "by file", b"other")
    monkeypatch.chdir(tmp_path)
    (tmp_path / SHA1).write_bytes(b"other")
    assert "by digest" in run("find", SHA1).out
    assert "by file" in run("find", f"./{SHA1}").out


@pytest.mark.usefixtures("stack")
def test_content_that_is_nowhere_is_a_no(run: Run) -> None:
    """Exit status 1, and an empty list for a program; a person reads what to do next."""
    ended = run("find", SHA1).assert_no()
    assert f"the SHA-1 {SHA1}" in ended.err
    assert "`bucketsum backfill BUCKET` records" in " ".join(ended.err.split())
    ended = run("find", SHA1, "--json")
    assert (ended.status, ended.document["objects"]) == (1, [])


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize(
    ("arguments", "doing"),
    [
        (("find", SHA1, SHA1[::-1]), "finding"),
        (("check", "--sums", "-"), "comparing"),
        (("failures",), "receiving"),
    ],
)
def test_what_may_take_many_requests_shows_its_progress(
    run: Run, terminal: Callable[[int], None], arguments: tuple[str, ...], doing: str
) -> None:
    """On a terminal, and on stderr alone."""
    terminal(80)
    ended = run(*arguments, answer=f"{SHA1}  a.txt\n")
    assert (doing in ended.err, doing in ended.out) == (True, False)


@pytest.mark.parametrize("content", ["no/such/file", SHA1[:39], ".", "x\x1b[31m"])
def test_what_is_neither_digest_nor_file_is_refused(run: Run, content: str) -> None:
    """A digest cut short, a folder, a typing error: told before AWS is asked."""
    ended = run("find", content)
    ended.assert_refused(
        "neither a digest", "40 (SHA1), 64 (SHA256)", "nor a file that can be read"
    )
    assert "\x1b" not in ended.err


def test_objects_of_another_bucket_are_told_apart(run: Run, stack: Stack) -> None:
    """A stack can have had another bucket before; keys alone would mislead."""
    stack.digests_table().record(hashed(RowKey("former", HOSTILE, "v1"), CONTENT))
    assert f"s3://former/{HOSTILE_SHOWN}" in run("find", SHA1).out


def test_several_contents_are_looked_for(run: Run, stack: Stack, tmp_path: Path) -> None:
    """Files, SHA-1s and lines of `sha1sum`; the status is 1 if one of them is nowhere."""
    row = put_and_record(stack, "in the bucket", CONTENT)
    path = tmp_path / "here"
    path.write_bytes(CONTENT)
    both = run("find", path, "-", "--json", answer=f"{SHA1}  ./copy\n").assert_done()
    assert [result["objects"][0]["key"] for result in both.document] == [row.key] * 2
    ended = run("find", path, "0" * 40)
    assert (ended.status, ended.out.count(row.key)) == (1, 1)
    assert f"no object with the SHA-1 {'0' * 40}" in ended.err
    ended = run("find", path, tmp_path, "no/such/file", SHA1)
    assert (ended.status, ended.out.count(row.key)) == (1, 2)
    assert ended.err.count("nor a file that can be read") == 2
    run("find", "-").assert_refused("stdin has no SHA-1; it is empty")


def test_without_the_index_a_snapshot_is_asked(
    run: Run, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Sha1Index=no, rows from before it and from since are found, by a SHA-1 and by a file."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path / "home"))
    put_and_record(stack, "before", CONTENT)
    (tmp_path / "new").write_bytes(b"new")
    row = hashed(put_object(stack, "after", b"new"), b"new")
    table = DigestsTable(stack.client("dynamodb"), stack.table, has_sha1_index=False)
    table.record(row)
    stack.client("cloudformation").update_stack(
        StackName=stack.name,
        UsePreviousTemplate=True,
        Parameters=[{"ParameterKey": "Sha1Index", "ParameterValue": "no"}],
    )
    ended = run("find", SHA1, tmp_path / "new", "--json").assert_done()
    assert [content["objects"][0]["key"] for content in ended.document] == ["before", "after"]
    lost = run("find", "-", answer=f"{'0' * 40}  lost\n{SHA1}  a\nnonsense\n").assert_no()
    assert "before" in lost.out
    assert f"not recorded: {'0' * 40} lost" in lost.err
    assert "skipped line 3" in lost.err
    assert run("find", "-", answer=f"{SHA1}  a\nnonsense\n").status == 1


def test_s3_is_asked_whether_an_object_exists(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object that is gone is lost; a note says so if there are too many to ask."""
    row = put_and_record(stack, "gone", CONTENT)
    stack.client("s3").delete_object(Bucket=stack.bucket, Key="gone", VersionId=row.entry)
    lost = run("find", SHA1)
    assert (lost.status, "gone is lost" in lost.err) == (1, True)
    monkeypatch.setattr(row_states, "_ASKED_MAX", 0)
    assert "S3 was not asked whether these 1 exist" in run("find", SHA1).err


def test_what_is_elsewhere_is_said_once(run: Run, stack: Stack) -> None:
    """With --bucket, content in other buckets still counts as recorded."""
    for number in range(3):
        stack.digests_table().record(hashed(RowKey("former", f"k{number}", "v1"), CONTENT))
    ended = run("find", SHA1, "--bucket", stack.bucket).assert_no()
    assert f"is recorded in {stack.bucket}, but 3 in former" in " ".join(ended.err.split())
    assert "uploads a file" not in ended.err
    ended = run("find", "-", answer="".join(f"{digit * 40}\n" for digit in "0123"))
    assert (ended.status, ended.err.count("uploads a file")) == (1, 1)


def test_a_digest_is_asked_for_once(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of a thousand equal files takes the queries of one; other lists say why not."""
    put_and_record(stack, "a", CONTENT)
    queries: list[str] = []
    with_sha1 = DigestsTable.with_sha1

    def counted(table: DigestsTable, sha1: str) -> list[Row]:
        queries.append(sha1)
        return with_sha1(table, sha1)

    monkeypatch.setattr(DigestsTable, "with_sha1", counted)
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    ended = run("find", "-", answer=f"{SHA1}  x\n{SHA1}  y\n{sha256}  z\n")
    assert (ended.status, queries, ended.out.count("\na  ")) == (1, [SHA1], 2)
    assert "line 3: it has sha256, and objects are found by SHA-1" in " ".join(ended.err.split())
