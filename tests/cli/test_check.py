"""`bucketsum check`: local files beside what is recorded, and an exit status to rely on."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from rich.progress import Progress, TaskID
from tests.cli.conftest import Run
from tests.cli.deployed import (
    Stdin,
    bodies_in,
    dead_letter,
    hashed,
    put_and_record,
    put_object,
    record_archive,
    record_deletion,
    unreadable,
)
from tests.support.events import notification

from bucketsum.table.row_parts import Difference, FailedReading, Verified
from bucketsum.table.rows import Status
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments import coverage
from bucketsum_cli.buckets.served_buckets import AttachedBucket
from bucketsum_cli.objects import counterparts, file_digests, versions
from bucketsum_cli.objects.file_digests import sha1_of_file

ROTTEN = Difference(f"sha1:{'e' * 40}", "2026-11-27T10:00:00.000Z")
REFUSED = FailedReading("2026-11-27T10:00:00.000Z", "no key")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder ``in`` with the files ``a`` and ``b``."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a").write_bytes(b"a")
    (folder / "b").write_bytes(b"b")
    return folder


def verdicts(run: Run, *arguments: object) -> dict[str, str]:
    """Key → result."""
    return {
        file["key"]: file["result"] for file in run("check", *arguments, "--json").document["files"]
    }


def test_all_equal_is_a_yes(run: Run, stack: Stack, folder: Path) -> None:
    """Keys are as `put` makes them."""
    put_and_record(stack, "x/in/a", b"a")
    put_and_record(stack, "x/in/b", b"b")
    (folder / "link").symlink_to(folder)
    ended = run("check", folder, "--prefix", "x/")
    assert (ended.status, ended.err) == (0, "links to folders, which are not followed: 1\n")
    assert ended.out.splitlines()[-1] == "2 equal"
    document = run("check", folder, "--prefix", "x/", "--json").document
    assert document["all_equal"] is True
    assert document["files"][0]["sha1"] == hashlib.sha1(b"a").hexdigest()
    assert document["files"][0]["recorded_sha1"] == hashlib.sha1(b"a").hexdigest()


def test_one_that_is_not_equal_is_a_no_and_says_which(run: Run, stack: Stack, folder: Path) -> None:
    """Differs, not recorded, unreadable: each is a result of its own, and counted."""
    (folder / "c").write_bytes(b"c")
    (folder / "d").write_bytes(b"d")
    put_and_record(stack, "in/a", b"a")
    put_and_record(stack, "in/b", b"other")
    stack.digests_table().record(unreadable(put_object(stack, "in/c", b"c"), b"c", "access denied"))
    ended = run("check", folder).assert_no()
    assert ended.out.splitlines()[-1] == "1 equal, 1 differs, 1 unreadable, 1 missing"
    assert verdicts(run, folder) == {
        "in/a": "equal",
        "in/b": "differs",
        "in/c": "unreadable",
        "in/d": "missing",
    }


@pytest.mark.parametrize(("facts", "result", "reason"), [
    ({"difference": ROTTEN}, "differs", f"S3 returned sha1:{'e' * 40} on 2026-11-27"),
    ({"difference": ROTTEN, "verified": Verified("2026-11-28T10:00:00.000Z", 2)}, "equal", None),
    ({"failed_reading": REFUSED}, "unreadable", "since 2026-11-27T10:00:00.000Z: no key"),
    ({"status": Status.ARCHIVED, "sha1": None, "storage_class": "GLACIER"}, "archived", "GLACIER"),
])  # fmt: skip
def test_the_last_reading_decides(
    run: Run, stack: Stack, folder: Path, facts: dict[str, Any], result: str, reason: str | None
) -> None:
    """An object that S3 returned with other bytes, or not at all, is not equal; nor its members."""
    row = hashed(put_object(stack, "in/a", b"a"), b"a")
    stack.digests_table().record(replace(row, **facts))
    ended = run("check", folder / "a", "--prefix", "in/", "--json")
    [file] = ended.document["files"]
    assert (ended.status, file["result"]) == (int(result != "equal"), result)
    assert (reason or "") in (file["reason"] or "")
    record_archive(stack, {"a": b"a"}, **facts)
    sums = f"{hashlib.sha1(b'a').hexdigest()}  a.zip!/a\n"
    [file] = run("check", "--sums", "-", "--json", answer=sums).document["files"]
    assert file["result"] == result
    if result not in ("unreadable", "archived"):
        [file] = run("check", "--archive", "a.zip", folder / "a", "--json").document["files"]
        assert file["result"] == result


def test_the_newest_version_counts(run: Run, stack: Stack, folder: Path) -> None:
    """Equal to what was overwritten is not equal."""
    put_and_record(stack, "a", b"a", "01")
    put_and_record(stack, "a", b"new", "02")
    assert verdicts(run, folder / "a") == {"a": "differs"}
    put_and_record(stack, "a", b"a", "03")
    assert verdicts(run, folder / "a") == {"a": "equal"}


def test_recorded_version_counts_only_while_it_is_the_newest(
    run: Run, stack: Stack, folder: Path
) -> None:
    """An overwriting version without a digest is neither equal nor different."""
    put_and_record(stack, "in/a", b"a", "01")
    put_and_record(stack, "in/b", b"b", "01")
    put_object(stack, "in/b", b"new")
    ended = run("check", folder).assert_no()
    assert ended.out.splitlines()[-1] == "1 equal, 1 not hashed yet"
    assert verdicts(run, folder) == {"in/a": "equal", "in/b": "not hashed yet"}


def test_version_whose_message_failed_says_so_with_the_reason(
    run: Run, stack: Stack, folder: Path
) -> None:
    """A message in the dead-letter queue will not become a digest by waiting."""
    put_and_record(stack, "a", b"a", "01")
    version = put_object(stack, "a", b"new").entry
    body = notification()
    body["Records"][0]["s3"]["bucket"]["name"] = stack.bucket
    etag = hashlib.md5(b"new").hexdigest()
    body["Records"][0]["s3"]["object"] |= {"key": "a", "versionId": version, "eTag": etag}
    dead_letter(stack, json.dumps(body), reason="SourceUnavailable: S3 throttles")
    ended = run("check", folder / "a", "--json").assert_no()
    (file,) = ended.document["files"]
    assert (file["result"], file["reason"]) == ("failed", "SourceUnavailable: S3 throttles")
    assert file["version"] == version
    assert len(bodies_in(stack, stack.dead_letter_queue_url)) == 1


@pytest.mark.parametrize("versioning", ["Enabled", "Suspended", None])
def test_deleted_object_is_not_equal(
    run: Run, stack: Stack, folder: Path, versioning: Literal["Enabled", "Suspended"] | None
) -> None:
    """With a delete marker or without: what the bucket no longer holds is not a backup."""
    s3 = stack.client("s3")
    if versioning is None:
        s3.delete_bucket(Bucket=stack.bucket)
        s3.create_bucket(Bucket=stack.bucket)
    else:
        s3.put_bucket_versioning(
            Bucket=stack.bucket, VersioningConfiguration={"Status": versioning}
        )
    put_and_record(stack, "a", b"a")
    assert verdicts(run, folder / "a") == {"a": "equal"}
    s3.delete_object(Bucket=stack.bucket, Key="a")
    assert verdicts(run, folder / "a") == {
        "a": "hidden" if versioning == "Enabled" else "lost"  # moto has no marker if suspended
    }
    [row] = stack.digests_table().versions_of(stack.bucket, "a")
    record_deletion(stack, row)
    [comparison] = run("check", folder / "a", "--json").document["files"]
    assert comparison["reason"] == "deleted at 2026-11-21T03:04:05.000Z by a request"


def test_the_deletion_of_a_version_is_not_that_of_the_key(
    run: Run, stack: Stack, folder: Path
) -> None:
    """An older version, whose deletion nobody reported, is hidden or lost."""
    s3 = stack.client("s3")
    older, newer = (put_and_record(stack, "a", b"a", number) for number in ("01", "02"))
    s3.delete_object(Bucket=stack.bucket, Key="a", VersionId=newer.entry)
    record_deletion(stack, newer)
    marker = s3.delete_object(Bucket=stack.bucket, Key="a")["VersionId"]
    assert verdicts(run, folder / "a") == {"a": "hidden"}
    for version in (older.entry, marker):
        s3.delete_object(Bucket=stack.bucket, Key="a", VersionId=version)
    assert verdicts(run, folder / "a") == {"a": "lost"}


def test_longer_key_is_another_object(run: Run, stack: Stack, folder: Path) -> None:
    """S3 lists by prefix; only the exact key counts."""
    put_and_record(stack, "aa", b"a")
    assert verdicts(run, folder / "a") == {"a": "missing"}


def test_file_that_cannot_be_read_is_no_equal_file(
    run: Run, stack: Stack, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was not compared is shown, and the exit status is not 0."""
    put_and_record(stack, "in/a", b"a")
    put_and_record(stack, "in/b", b"b")

    def refuse_b(path: Path, shown: Progress, task: TaskID) -> str:
        if path.name == "b":
            raise PermissionError(13, "Permission denied")
        return sha1_of_file(path, shown, task)

    monkeypatch.setattr(file_digests, "sha1_of_file", refuse_b)
    (folder / "broken").symlink_to("nowhere")
    ended = run("check", folder).assert_no()
    assert ended.out.splitlines()[-1] == "1 equal, 2 skipped"
    assert "b: Permission denied" in ended.err
    assert "broken: No such file" in ended.err


@pytest.mark.usefixtures("stack")
def test_nothing_to_check_is_not_a_yes(run: Run, tmp_path: Path) -> None:
    """An empty folder or a missing path is an error: a script must not take it for equal."""
    assert run("check", tmp_path).status == 2
    assert run("check", tmp_path / "missing").status == 2
    assert run("check").status == 2


def test_a_list_of_sums_is_compared(run: Run, stack: Stack, tmp_path: Path) -> None:
    """Lines of `sha1sum` need no local files."""
    sha1 = put_and_record(stack, "old/a", b"a").sha1
    listed = tmp_path / "list"
    listed.write_text(f"{sha1}  old/a\n")
    ended = run("check", "--sums", listed)
    note = "objects that the list does not name are not looked for\n"
    assert (ended.status, ended.err) == (0, note)
    assert run("check", "--sums", "-", answer=listed.read_text()).status == 0
    listed.write_text(f"{'0' * 40} *./a\n{'1' * 40}  b\n")
    ended = run("check", "--sums", listed, "--prefix", "old/", "--json")
    results = [file["result"] for file in ended.document["files"]]
    assert (ended.status, results) == (1, ["differs", "missing"])
    shown = " ".join(ended.err.split())
    assert "`bucketsum show old/a` has all versions" in shown
    assert "missing: there is no such object; an upload as old/b" in shown
    listed.write_text("")
    run("check", "--sums", listed).assert_refused("nothing was compared")
    listed.write_text("MD5 (x) = 0\n")
    run("check", "--sums", listed).assert_refused("nothing was compared", "line 1 is not a digest")
    listed.write_text("0" * 40)
    run("check", "--sums", listed).assert_refused("digests without names", "`bucketsum find --list")
    run("check").assert_refused("--sums")
    run("check", "--sums", listed, tmp_path).assert_refused("cannot be used with PATH")


@pytest.mark.parametrize("command", [("check", "--sums", "-"), ("find", "-")])
def test_a_terminal_is_read_after_a_note(
    run: Run, monkeypatch: pytest.MonkeyPatch, stack: Stack, command: tuple[str, ...]
) -> None:
    """Nobody wonders why a command that reads from the terminal waits."""
    monkeypatch.setattr(Stdin, "is_terminal", True)
    ended = run(*command, answer=f"{put_and_record(stack, 'a', b'a').sha1}  a\n").assert_done()
    assert "reads lines of `sha1sum` from the terminal; Ctrl-D ends them" in ended.err


def test_content_under_another_prefix_is_not_uploaded_again(
    run: Run, stack: Stack, tmp_path: Path
) -> None:
    """A forgotten --prefix makes every file missing: the hint is the prefix, not a second copy."""
    put_and_record(stack, "bags/uni/data/a.txt", b"a")
    put_and_record(stack, "other", b"b")
    bag = tmp_path / "uni"
    (bag / "data").mkdir(parents=True)
    for name, content in (("a.txt", b"a"), ("b.txt", b"b"), ("empty", b"")):
        (bag / "data" / name).write_bytes(content)
    shown = " ".join(run("check", bag).err.split())
    assert "'uni/data/a.txt' has the content of 'bags/uni/data/a.txt'" in shown
    assert "if that is meant, use --prefix bags/" in shown
    assert "bucketsum put" not in shown
    shown = " ".join(run("check", bag, "--prefix", "bags/").err.split())
    assert "bucketsum put" in shown
    assert "if that is meant" not in shown


def test_lines_that_are_no_entries_end_no_command(run: Run, stack: Stack) -> None:
    """A bad line, a name that is not UTF-8 and one that is too long are results of their own."""
    sha1 = (put_and_record(stack, "a", b"a").sha1 or "").encode()
    lines = sha1 + b"  a\nMD5 (x) = 0\n" + sha1 + b"  \xff\n" + sha1 + b"  " + b"x" * 1025
    ended = run("check", "--sums", "-", "--json", answer=lines).assert_no()
    assert [file["result"] for file in ended.document["files"]] == ["equal"]
    assert [skipped["reason"][:30] for skipped in ended.document["skipped"]] == [
        "line 3: its name is not UTF-8,",
        "line 4: its key would have 102",
        "line 2 is not a digest and a n",
    ]


def test_a_list_from_windows_is_read_from_stdin(run: Run, stack: Stack) -> None:
    """Its CR is the end of a line there too, and none of a key."""
    sha1 = put_and_record(stack, "a", b"a").sha1
    listed = f"{sha1}  a\r\n{sha1} *a\r\n".encode()
    ended = run("check", "--sums", "-", answer=listed)
    assert (ended.out, "1 line of the list left out: the name" in ended.err) == ("1 equal\n", True)
    assert run("find", "-", answer=listed).status == 0


def test_a_list_of_another_algorithm_is_compared_if_rows_have_it(run: Run, stack: Stack) -> None:
    """Of several digests, all that both sides have count; without any, the text says why."""
    md5, sha256 = hashlib.md5(b"a").hexdigest(), hashlib.sha256(b"a").hexdigest()
    rows = {"a": {"sha256": sha256}, "b": {"sha256": "0" * 64}, "c": {}}
    for key, digests in rows.items():
        place = put_object(stack, key, b"a")
        stack.digests_table().record(hashed(place, b"a", digests=digests))
    listed = "".join(f"{sha256}  {key}\n" for key in rows)
    ended = run("check", "--sums", "-", "--json", answer=listed)
    results = [file["result"] for file in ended.document["files"]]
    assert (ended.status, results) == (1, ["equal", "differs", "no such digest"])
    assert ended.document["files"][1]["digests"] == {"sha256": sha256}
    assert ended.document["files"][1]["recorded_digests"] == {"sha256": "0" * 64}
    assert "the rows have no sha256" in run("check", "--sums", "-", answer=listed).err
    sums = f"%%%% HASHDEEP-1.0\n%%%% size,md5,sha1,filename\n1,{md5},{'0' * 40},./a\n"
    assert "1 differs" in run("check", "--sums", "-", answer=sums).out


def test_a_name_twice_is_one_unless_its_lines_differ(run: Run, stack: Stack) -> None:
    """A list made of two is read; what it contradicts itself about is not equal."""
    sha1 = put_and_record(stack, "a", b"a").sha1
    sha256 = hashlib.sha256(b"a").hexdigest()
    for more, status, result in (
        (f"{sha1}  ./a\n{sha256}  a", 0, "1 equal"), (f"{'0' * 40}  a", 1, "1 equal, 1 differs"),
    ):  # fmt: skip
        ended = run("check", "--sums", "-", answer=f"{sha1}  a\n{more}\n")
        assert (ended.status, ended.out.splitlines()[-1]) == (status, result)


def test_all_that_differs_may_be_of_another_algorithm(run: Run, stack: Stack) -> None:
    """`b2sum` prints as many digits as `sha512sum`; with its name, the rows have no such digest."""
    sha512 = hashlib.sha512(b"a").hexdigest()
    row = hashed(put_object(stack, "a", b"a"), b"a", digests={"sha512": sha512})
    stack.digests_table().record(row)
    listed = f"{hashlib.blake2b(b'a').hexdigest()}  a\n"
    ended = run("check", "--sums", "-", answer=listed)
    assert (ended.status, "1 differs" in ended.out, "--algorithm" in ended.err) == (1, True, True)
    ended = run("check", "--sums", "-", "--algorithm", "blake2b", answer=listed)
    assert (ended.status, "1 no such digest" in ended.out) == (1, True)
    assert "--algorithm" not in ended.err


def test_names_of_members_are_looked_up_in_their_archive(run: Run, stack: Stack) -> None:
    """`export --members` prints KEY!/PATH; the newest version of the archive has it, or not."""
    record_archive(stack, {"a": b"a", "b!/c": b"c"})
    put_and_record(stack, "o!/a", b"o")
    sha1s = {text: hashlib.sha1(text.encode()).hexdigest() for text in "aco"}
    listed = (
        f"{sha1s['a']}  a.zip!/a\n{sha1s['c']}  a.zip!/b!/c\n{sha1s['o']}  o!/a\n"
        f"{sha1s['c']}  ./a.zip!/a\n{sha1s['a']}  a.zip!/none\n{sha1s['a']}  none.zip!/a\n"
    )
    files = run("check", "--sums", "-", "--json", answer=listed).document["files"]
    assert [file["result"] for file in files] == [*["equal"] * 3, "differs", "missing", "missing"]
    assert files[4]["reason"] == "the archive has no such member"


def test_a_size_of_a_list_counts_where_digests_agree(run: Run, stack: Stack) -> None:
    """A list that contradicts itself proves nothing."""
    row = put_and_record(stack, "a", b"a")
    for size, status in ((1, 0), (2, 1)):
        ended = run("check", "--sums", "-", answer=f"key,size,sha1\na,{size},{row.sha1}\n")
        assert ended.status == status
    assert "the list has 2 bytes, the object 1" in ended.out


def test_a_difference_shows_both_sides_and_how_to_keep_either(
    run: Run, stack: Stack, folder: Path
) -> None:
    """`put` is named with exactly the key, and that it replaces the object, which may be good."""
    row = put_and_record(stack, "x/in/a", b"other")
    put_and_record(stack, "x/in/b", b"b")
    ended = run("check", folder, "--prefix", "x/")
    _, own, recorded, summary = ended.out.splitlines()
    assert own.split() == ["x/in/a", "differs", hashlib.sha1(b"a").hexdigest()]
    assert (recorded.split(), summary) == (["recorded", row.sha1], "1 equal, 1 differs")
    hint = " ".join(ended.err.split())
    assert "either side may be the damaged one" in hint
    assert f"`bucketsum put {folder / 'a'} --prefix x/in/` replaces the object" in hint
    assert "x/in/b" in run("check", folder, "--prefix", "x/", "--all").out


def test_an_object_without_a_row_says_what_it_waits_for(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the queue, from before the bucket was attached, or outside of its notification."""
    stack.client("s3").create_bucket(Bucket="other")
    put_object(replace(stack, bucket="other"), "a", b"a")
    for covered, since, state in (
        (True, "2000", "not hashed yet"), (True, "", "not hashed yet"),
        (True, "2999", "needs a backfill"), (False, "2999", "not covered"),
    ):  # fmt: skip
        attached = {"other": AttachedBucket("other", attached_at=since)}
        monkeypatch.setattr(coverage, "attached_to", lambda _, attached=attached: attached)
        monkeypatch.setattr(coverage, "coverage_of", lambda _, is_in=covered: lambda _key: is_in)
        listed = run("ls", "--bucket", "other", "--json").document
        checked = run("check", "--sums", "-", "--bucket", "other", answer=f"{'0' * 40}  a\n")
        shown = run("show", "a", "--bucket", "other")
        assert [entry["status"] for entry in listed] == [state]
        assert f"1 {state}" in checked.out
        assert f"{state}: " in shown.err
        assert "`bucketsum backfill other`" in " ".join(checked.err.split())


@pytest.mark.parametrize("missing", ["Ka\u0308se/a", "k\xe4se/A", "k\xe4se/a ", " k\xe4se/a"])
def test_a_key_that_looks_the_same_is_named(run: Run, stack: Stack, missing: str) -> None:
    """Another Unicode form, case or a blank: nobody sees them in two lines of a terminal."""
    key = "K\xe4se/a" if missing.startswith("K") else "k\xe4se/a"
    sha1 = put_and_record(stack, key, b"a").sha1
    ended = run("check", "--sums", "-", answer=f"{sha1}  {missing}\n")
    assert (ended.status, "1 missing" in ended.out) == (1, True)
    assert f"but there is {key!a}" in " ".join(ended.err.split())


def test_many_keys_are_for_compare(
    run: Run, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each needs a look-up here; with few, nothing is said of another command."""
    (tmp_path / "a").write_bytes(b"a")
    sha1 = put_and_record(stack, "a", b"a").sha1
    for command in ((str(tmp_path / "a"),), ("--sums", "-")):
        assert "compare" not in run("check", *command, answer=f"{sha1}  a\n").err
        with monkeypatch.context() as few:
            few.setattr(counterparts, "_MANY_KEYS", 0)
            ended = run("check", *command, answer=f"{sha1}  a\n").assert_done()
        assert f"`bucketsum compare LIST {stack.bucket}`" in " ".join(ended.err.split())


def test_neighbours_share_requests(run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of which many keys are wanted is listed; versions and deletions mislead nobody."""
    monkeypatch.setattr(versions, "_MANY", 3)
    keys = [f"d/{number:02}" for number in range(12)] + ["d/e/x", "f"]
    sums = {key: put_and_record(stack, key, b"old").sha1 for key in keys}
    for key in keys[::3]:
        sums[key] = put_and_record(stack, key, b"new", "02").sha1
    stack.client("s3").delete_object(Bucket=stack.bucket, Key="d/04")
    requests: list[str] = []
    stack.client("s3").meta.events.register(
        "before-call.s3.ListObjectVersions", lambda params, **_: requests.append(params["url"])
    )
    listed = "".join(f"{sha1}  {key}\n" for key, sha1 in {**sums, "d/03x": "0" * 40}.items())
    results = {
        file["key"]: file["result"]
        for file in run("check", "--sums", "-", "--json", answer=listed).document["files"]
    }
    assert results == {**dict.fromkeys(keys, "equal"), "d/04": "hidden", "d/03x": "missing"}
    assert len(requests) <= 4  # the folder, d/e/x, f, and similar keys
