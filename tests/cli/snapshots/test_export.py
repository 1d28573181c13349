"""A manifest is read by the program that its format is of; a list of digests is found."""

import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

import click
import duckdb
import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, READ, hashed, record_archive
from tests.cli.snapshots.hostile_rows import listed_snapshot

from bucketsum.events.object_events import DeletedBy
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import Row, RowKey
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.manifests.formats import FORMATS

MARKER = "dir/empty/"
CONTENTS = {"a b": b"1", "dir/new\u2028": b"2", "-x": b"3", "caf\u00e9": b"4", "cafe\u0301": b"5"}


def recorded(key: str, content: bytes, version: str = "v1") -> Row:
    """The row of an object."""
    return hashed(RowKey(BUCKET, key, version), content)


def with_digests(key: str, content: bytes) -> Row:
    """The same with two more digests."""
    digests = {name: hashlib.new(name, content).hexdigest() for name in ("md5", "sha256")}
    return replace(recorded(key, content), digests=digests)


ROWS: Final = [*(with_digests(*item) for item in CONTENTS.items()), recorded(MARKER, b"")]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of objects with difficult keys, with three digests, and of a folder marker."""
    return listed_snapshot(tmp_path_factory.mktemp("export") / "s", ROWS)


@pytest.mark.parametrize(
    ("format_name", "algorithm", "program"),
    [
        *(
            (form, name, [f"{name}sum", "--strict", "--check"])
            for form in ("sum", "tag")
            for name in ("sha1", "sha256", "md5")
        ),
        *(
            ("hashdeep", name, ["hashdeep", "-a", "-r", "-l", "-v", "-k"])
            for name in ("sha1", "sha256", "md5")
        ),
    ],
)
def test_the_program_of_a_format_reads_it(
    run: Run, snapshot: Path, tmp_path: Path, format_name: str, algorithm: str, program: list[str]
) -> None:
    """A manifest is accepted by `sha256sum -c` and the like, whatever the keys are."""
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]} is not installed")
    for key, content in CONTENTS.items():
        there = tmp_path / "files" / key
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(content)
    file = tmp_path / "manifest"
    rest = ("--format", format_name, "--algorithm", algorithm, "--snapshot", snapshot)
    ended = run("export", BUCKET, *rest, "-o", file)
    assert (ended.status, "1 folder marker left out" in ended.err) == (0, True)
    folder = ["."] if format_name == "hashdeep" else []
    checked = subprocess.run(
        [*program, file, *folder], cwd=tmp_path / "files", capture_output=True, check=False
    )
    assert checked.returncode == 0, checked
    compared = run("compare", file, BUCKET, "--snapshot", snapshot, "--json").document
    assert [difference["right_name"] for difference in compared["differences"]] == [MARKER]


@pytest.mark.parametrize(("format_name", "has_it"), [("rclone", False), ("csv", True)])
def test_a_folder_marker_is_no_file(
    run: Run, snapshot: Path, format_name: str, *, has_it: bool
) -> None:
    """Lists for programs that open files leave it out; lists of objects have it."""
    ended = run("export", BUCKET, "--format", format_name, "--snapshot", snapshot)
    assert (MARKER in ended.out, "folder marker" in ended.err) == (has_it, not has_it)


def test_an_object_without_a_digest_is_named(run: Run, tmp_path: Path) -> None:
    """The rest is written; the exit status says that it is not all."""
    snapshot = listed_snapshot(tmp_path / "s", ROWS, [recorded("never", b"never")])
    export = ("export", BUCKET, "--snapshot", snapshot)
    ended = run(*export, "--format", "jsonl").assert_no()
    assert "1 object left out: no sha1 is recorded" in ended.err
    assert f"`bucketsum coverage {BUCKET}` shows what has no digest, and why" in ended.err
    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert [row["key"] for row in rows] == sorted([*CONTENTS, MARKER], key=str.encode)
    other = run(*export, "--algorithm", "sha512")
    assert (other.status, "coverage" in other.err) == (1, False)
    assert f"`bucketsum verify {BUCKET} --missing sha512` adds it" in other.err
    file = tmp_path / "all.parquet"
    assert run(*export, "--format", "parquet", "-o", file).status == 1
    columns = "SELECT key, sha1, state, s3_checksum_result FROM read_parquet($file) ORDER BY key"
    rows = duckdb.connect().execute(columns, {"file": str(file)}).fetchall()
    assert len(rows) == len(CONTENTS) + 2
    for form in ("sum", "parquet"):
        ended = run(*export, "--prefix", "x/", "--format", form, "-o", file)
        ended.assert_refused(f"there is no object under s3://{BUCKET}/x/")
    run("export", BUCKET, "--format", "parquet", "--snapshot", "none").assert_refused("--output")


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_lists_for_programs_have_s3s_checksum(run: Run, tmp_path: Path, form: str) -> None:
    """And whether the bytes have it; who reads the list as a manifest leaves both out."""
    compared = Compared(ChecksumResult.EQUAL, "crc32:6LeD7w==")
    rows = [replace(recorded("a", b"a"), compared=compared), recorded("b", b"b")]
    rest = ("--snapshot", listed_snapshot(tmp_path / "s", rows))
    file = tmp_path / "list"
    assert run("export", BUCKET, "--format", form, *rest, "-o", file).status == 0
    with file.open() as lines:
        listed = [*csv.DictReader(lines)] if form == "csv" else [*map(json.loads, lines)]
    known = [(line.get("s3_checksum"), line.get("s3_checksum_result")) for line in listed]
    assert known[0] == ("crc32:6LeD7w==", "equal")
    assert not any(known[1])
    assert run("compare", file, BUCKET, *rest).status == 0


def test_a_terminal_gets_escapes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key can move nothing there; a pipe and a file have its own bytes, and all of them."""
    key = "red\x9b31m\u202e"
    snapshot = listed_snapshot(tmp_path / "s", [*ROWS, recorded(key, b"")])
    rest = ("--prefix", "red", "--snapshot", snapshot)
    digest = hashlib.sha1(b"").hexdigest()
    assert run("export", BUCKET, *rest).out == f"{digest}  {key}\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run("export", BUCKET, *rest).out == f"{digest}  red\\x9b31m\\u202e\n"
    run("export", BUCKET, *rest, "-o", tmp_path / "file")
    assert (tmp_path / "file").read_text() == f"{digest}  {key}\n"


def test_a_name_that_a_format_cannot_have_is_no_gap(run: Run, tmp_path: Path) -> None:
    """Its digest is recorded: the next step is another format."""
    snapshot = listed_snapshot(tmp_path / "s", [*ROWS, recorded("a\tb", b"6")])
    ended = run("export", BUCKET, "--format", "rclone", "--snapshot", snapshot)
    assert (ended.status, "coverage" in ended.err) == (1, False)
    assert "--format jsonl can have them" in ended.err


def test_names_may_be_relative(run: Run, tmp_path: Path) -> None:
    """In every format, and `compare` reads them back; the folder itself has no name."""
    contents = {"p/a": b"1", "p/b/c": b"2", "q": b"3", "p/": b""}
    snapshot = listed_snapshot(tmp_path / "s", [recorded(*item) for item in contents.items()])
    rest = ("--snapshot", snapshot, "--format")
    arguments = ("export", BUCKET, "--prefix", "p/", "--relative", *rest)
    for format_ in FORMATS.keys() - {"bagit", "digests"}:
        file = tmp_path / "list"
        assert run(*arguments, format_, "-o", file).status == 0
        assert run("compare", file, f"{BUCKET}/p/", *rest, format_).status == 0
    listed = run(*arguments, "bagit").out.splitlines()
    assert [line[42:] for line in listed] == ["data/a", "data/b/c"]
    run(*arguments, "parquet", "-o", tmp_path / "x")
    keys = duckdb.connect().execute(
        "SELECT key FROM read_parquet($file) WHERE key <> ''", {"file": str(tmp_path / "x")}
    )
    assert keys.fetchall() == [("a",), ("b/c",)]


def test_the_manifest_of_a_bag_in_the_bucket(run: Run, tmp_path: Path) -> None:
    """Its payload, relative to the bag, without tag files; a percent sign is noted."""
    files = {"bagit.txt": b"x", "data/100%": b"1", "data/b": b"2", "notes": b"3"}
    rows = [recorded(f"bags/x/{name}", content) for name, content in files.items()]
    snapshot = listed_snapshot(tmp_path / "s", rows)
    prefix = ("--prefix", "bags/x/", "--snapshot", snapshot)
    ended = run("export", BUCKET, *prefix, "--format", "bagit")
    names = [line.split("  ")[1] for line in ended.out.splitlines()]
    assert (ended.status, names) == (0, ["data/100%25", "data/b"])
    assert "1 name with a percent sign" in ended.err
    assert "tag files of the bag are left out" in ended.err


def test_members_and_a_manifest_in_s3(
    run: Run, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members follow their archive; the manifest may be written to a bucket."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path / "home"))
    record_archive(stack, {"m/x": b"m"})
    place = f"s3://{BUCKET}/lists/all.sha1"
    assert run("export", BUCKET, "--members", "--prefix", "a.", "-o", place).status == 0
    body = stack.client("s3").get_object(Bucket=BUCKET, Key="lists/all.sha1")["Body"].read()
    names = [line.split("  ", 1)[1] for line in body.decode().splitlines()]
    assert names == ["a.zip", "a.zip!/m/x"]
    record_archive(stack, {"m/x": b"m"}, archive=replace(READ, status=ArchiveStatus.TRUNCATED))
    partial = run("export", BUCKET, "--members", "--prefix", "a.")
    assert (partial.status, "not all members of the archive are known" in partial.err) == (1, True)
    last = ("--prefix", "a.", "--snapshot", "last")
    bag = run("export", BUCKET, "--format", "bagit", *last)
    assert [line.partition("  ")[2] for line in bag.out.splitlines()] == ["data/a.zip"]
    run("export", BUCKET, "-o", "s3://lists", *last).assert_refused("has no key")


@pytest.mark.parametrize("form", ["sum", "parquet"])
def test_a_manifest_goes_where_the_option_says(
    run: Run, snapshot: Path, tmp_path: Path, form: str
) -> None:
    """A pipe stays one, `-` is stdout, and a closed file stays closed."""
    command = ("export", BUCKET, "--format", form, "--snapshot", snapshot, "-o")
    closed = tmp_path / "closed"
    closed.touch(mode=0o600)
    assert run(*command, closed).status == 0
    assert closed.stat().st_mode & 0o777 == 0o600
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with ThreadPoolExecutor() as pool:
        piped = pool.submit(fifo.read_bytes)
        assert run(*command, fifo).status == 0
    assert piped.result()[:4] == closed.read_bytes()[:4]
    assert fifo.is_fifo()
    if form == "sum":
        assert run(*command, "-").out == closed.read_text()
    assert not Path("-").exists()


def test_a_list_of_digests_is_found(run: Run, snapshot: Path, tmp_path: Path) -> None:
    """Digests alone or with names; one that is nowhere is named, and the exit status is 1."""
    file = tmp_path / "known"
    find = ("find", "--list", file, "--snapshot", snapshot)
    digests = [hashlib.sha1(content).hexdigest() for content in CONTENTS.values()]
    file.write_text("".join(f"{digest}\n" for digest in digests))
    ended = run(*find).assert_done()
    assert "5 of 5 digests recorded" in ended.out
    file.write_text(f"{'0' * 40}  lost\n{digests[0]}  kept\n")
    lost = run(*find, "--json").assert_no()
    by_name = {copy["name"]: copy for copy in lost.document}
    assert by_name["lost"]["objects"] == []
    assert [copy["key"] for copy in by_name["kept"]["objects"]] == ["a b"]
    for listed in (f"# a list\n{digests[0].upper()}\n", f"md5,sha1\n,{digests[0]}\n"):
        file.write_text(listed)
        assert run(*find).status == 0
    file.write_text(f"{'0' * 40}\n")
    assert f"not recorded: {'0' * 40}\n" in run(*find).err
    file.write_text("nonsense\n")
    run(*find).assert_refused("line 1 is not")
    run("find").assert_refused("--list")
    other = run("find", "0" * 64, *find[3:], "--json")
    assert (other.status, other.document[0]["objects"]) == (1, [])


def test_an_algorithm_that_no_row_has_is_not_a_digest_that_is_missing(
    run: Run, snapshot: Path, tmp_path: Path
) -> None:
    """Beside others it is said of each digest; a size that no object has is a bad line."""
    content = CONTENTS["a b"]
    md5, sha512 = hashlib.md5(content).hexdigest(), hashlib.sha512(content).hexdigest()
    listed = tmp_path / "list"
    listed.write_text(f"{sha512}\n{md5}\n")
    rest = ("--snapshot", snapshot)
    ended = run("find", "--list", listed, *rest)
    assert (ended.status, "1 of 2 digests recorded" in ended.out) == (1, True)
    assert f"not known, as no row has sha512: {sha512}" in " ".join(ended.err.split())
    head = "%%%% HASHDEEP-1.0\n%%%% size,md5,sha256,filename\n"
    listed.write_text(f"{head}1,{'0' * 32},{'0' * 64},./a\n")
    assert "not recorded: " in run("find", "--list", listed, *rest).err
    listed.write_text(f"key,sha1,size\na b,{hashlib.sha1(content).hexdigest()},{2**62}\n")
    assert "1 line of a manifest is not an entry" in run("compare", listed, BUCKET, *rest).out


def test_the_algorithm_of_a_list_can_be_named(run: Run, tmp_path: Path) -> None:
    """RIPEMD-160 has as many digits as SHA-1; an argument is always of a recorded algorithm."""
    file = tmp_path / "known"
    file.write_text(f"{'0' * 40}\n")
    other = ("--algorithm", "ripemd160")
    run("find", "--list", file, *other).assert_refused("it has ripemd160; rows have sha1")
    run("find", "0" * 40, *other).assert_refused("about the list of --list")


def test_on_a_terminal_a_digest_is_above_its_objects(
    run: Run, tmp_path: Path, terminal: Callable[[int], None]
) -> None:
    """Once, with all names of the list; key, version and size then fit into 80 columns."""
    deletion = Deletion("2026-11-21T03:04:05.000Z", DeletedBy.REQUEST, "0F", None)
    gone = replace(recorded("gone", b"2", "v" * 32), deletion=deletion)
    rows = [*ROWS, recorded("copy", b"1", "v" * 32), gone]
    rest = ("--snapshot", listed_snapshot(tmp_path / "s", rows))
    file = tmp_path / "known"
    first, second = (hashlib.sha1(content).hexdigest() for content in (b"1", b"2"))
    file.write_text(f"{first}  one\n{'0' * 40}  lost\n{first}  again\n{second}  two\n")
    terminal(80)
    lines = [*map(click.unstyle, run("find", "--list", file, *rest).out.splitlines())]
    assert lines[0] == f"{first}  one, again"
    assert [line.split(" ")[0] for line in lines[1:3]] == [
        f"s3://{BUCKET}/a",
        f"s3://{BUCKET}/copy",
    ]
    assert lines[3] == f"{second}  two"
    assert re.search(r" deleted 20[-0-9]+ [:0-9]+$", lines[-2])
    assert lines[-1] == "2 of 3 digests recorded"
    assert max(map(len, lines)) <= 80


def test_a_digest_in_two_lines_is_shown_once(run: Run, snapshot: Path, tmp_path: Path) -> None:
    """Its places, and that it is nowhere; each line has its entry in JSON."""
    file, here = tmp_path / "known", hashlib.sha1(b"1").hexdigest()
    file.write_text(f"{here}\n{'0' * 40}\n{here}\n{'0' * 40}\n")
    find = ("find", "--list", file, "--snapshot", snapshot)
    ended = run(*find)
    assert (ended.out.count(here), ended.err.count("0" * 40)) == (1, 1)
    assert "1 of 2 digests recorded" in ended.out
    assert len(run(*find, "--json").document) == 4


def test_lines_without_a_recorded_algorithm_end_no_list(
    run: Run, snapshot: Path, tmp_path: Path
) -> None:
    """They are named with their numbers, the first ten of them; the exit status is 1."""
    file = tmp_path / "known"
    others = [f"nonsense {number}\n" for number in range(20)]
    kept = hashlib.sha1(b"1").hexdigest()
    file.write_text("".join(["f" * 56, "  other\n", *others, f"{kept}  kept\n"]))
    ended = run("find", "--list", file, "--snapshot", snapshot).assert_no()
    assert "1 of 1 digest recorded" in ended.out
    assert "line 1: it has sha224" in " ".join(ended.err.split())
    assert "skipped line 10 is not" in ended.err
    assert "and 11 more" in ended.err
