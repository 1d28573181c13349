"""Two sides are compared by content: buckets, snapshots, manifests, reports and names."""

import csv
import gzip
import hashlib
import io
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote_plus

import click
import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, hashed, put_and_record, record_archive
from tests.cli.snapshots.hostile_rows import NAMES, listed_snapshot

from bucketsum.algorithms import ALGORITHMS
from bucketsum.table.rows import Row, RowKey
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.snapshots.manifest_rows import COLUMNS
from bucketsum_cli.snapshots.sides import name_pattern
from bucketsum_cli.snapshots.sides_database import SidesDatabase
from bucketsum_cli.terminal.errors import CannotDoError

Side = dict[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has its own snapshots."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path / "home"))


def side(chance: random.Random, names: list[str]) -> Side:
    """A side with hostile names, few contents, and digests of some algorithms."""
    rows = {}
    for name in names:
        content = str(chance.randint(0, 60)).encode()
        digests = {a: hashlib.new(a, content).hexdigest() for a in ("sha1", "sha256", "md5")}
        kept = chance.sample(sorted(digests), chance.randint(0, 3))
        size = len(content) if chance.random() < 0.8 else None
        rows[name] = {"size_bytes": size, **{a: digests[a] for a in kept}}
    return rows


def results(left: Side, right: Side) -> Counter[str]:
    """The number of names of each result, by plain Python."""
    counts: Counter[str] = Counter()
    for name in left.keys() & right.keys():
        a, b = left[name], right[name]
        shared = [algorithm for algorithm in ALGORITHMS if algorithm in a and algorithm in b]
        sizes = {a["size_bytes"], b["size_bytes"]} - {None}
        if len(sizes) > 1 or any(a[algorithm] != b[algorithm] for algorithm in shared):
            counts["differs"] += 1
        elif shared:
            counts["equal"] += 1
        else:
            counts["not recorded"] += 1
    algorithm = next(
        (
            a
            for a in ALGORITHMS
            if any(a in r for r in left.values()) and any(a in r for r in right.values())
        ),
    )
    content: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for place, (rows, others) in enumerate(((left, right), (right, left))):
        for name in rows.keys() - others.keys():
            content[rows[name].get(algorithm, f"none of {place}")][place] += 1
    for here, there in content.values():
        moved = min(here, there)
        counts["moved"] += moved
        counts["only left"] += here - moved
        counts["only right"] += there - moved
    return +counts


@pytest.mark.parametrize("seed", range(6))
def test_every_pair_has_the_result_of_plain_python(seed: int) -> None:
    """Equal, differs, moved, on one side alone, not recorded: over hostile names."""
    chance = random.Random(seed)  # noqa: S311 - test data
    names = [f"{name}{number}" for name in NAMES for number in range(12)]
    left = side(chance, chance.sample(names, 200))
    right = side(chance, chance.sample(names, 200)) | {
        name: left[name] | chance.choice(({}, {"size_bytes": 9}))
        for name in chance.sample(sorted(left), 60)
    }
    comparison = SidesDatabase()
    for table, rows in (("left_side", left), ("right_side", right)):
        comparison.local.put_table(
            table, COLUMNS, ({"name": n, "status": "hashed", **row} for n, row in rows.items())
        )
    records = list(comparison.ask("compare", rows=1000).records())
    assert {r["result"]: r["objects"] for r in records} == results(left, right)
    shown = Counter(r["result"] for r in records if r["result"] != "equal")
    assert shown == Counter({k: v for k, v in results(left, right).items() if k != "equal"})


CONTENTS: Final = {
    "a/same": b"1", "b/same": b"1", "a/here": b"2", "b/there": b"2", "a/x": b"3", "b/x": b"4",
    "a/left": b"5",
}  # fmt: skip
"""Of two prefixes: one content is equal, one moved, one differs, and one is on one side."""


def rows_of(contents: Mapping[str, bytes]) -> list[Row]:
    """A row of each key."""
    return [hashed(RowKey(BUCKET, key, "v1"), content) for key, content in contents.items()]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Sequence[object]:
    """The option that names a snapshot of `CONTENTS`, and of new objects."""
    folder = tmp_path_factory.mktemp("compare") / "s"
    new = rows_of(dict.fromkeys(("a/new", "b/new"), b"6"))
    return "--snapshot", listed_snapshot(folder, rows_of(CONTENTS), new)


def test_two_prefixes(run: Run, planted: Sequence[object]) -> None:
    """Names are relative; what S3 has now is compared, with what is recorded of it."""
    ended = run("compare", f"{BUCKET}/a/", f"s3://{BUCKET}/b/", *planted, "--json").assert_no()
    counts = {"equal": 1, "differs": 1, "moved": 1, "only left": 1, "not recorded": 1}
    assert ended.document["counts"] == counts
    by_result = {difference["result"]: difference for difference in ended.document["differences"]}
    assert by_result["moved"]["right_name"] == "there"
    assert by_result["only left"]["left_name"] == "left"
    shown = run("compare", f"{BUCKET}/a/", f"{BUCKET}/b/", *planted).assert_no()
    assert "1 moved: the content has another name" in shown.out
    assert "1 differs: equal name, other content" in shown.out
    assert "`bucketsum coverage BUCKET` shows what has no digest, why" in shown.err
    nowhere = run("compare", f"{BUCKET}/none/", f"{BUCKET}/none/", *planted)
    nowhere.assert_refused("has anything to compare")
    run("compare", BUCKET).assert_refused("give B, or --names")


def test_a_manifest_and_a_snapshot_folder(run: Run, stack: Stack, tmp_path: Path) -> None:
    """A file, an object and a folder of another stack are sides like a bucket."""
    for key in ("a/same", "a/x", "a/left"):
        put_and_record(stack, key, CONTENTS[key])
    sums = {name: hashlib.sha1(text).hexdigest() for name, text in (("same", b"1"), ("x", b"3"))}
    file = tmp_path / "a.sha1"
    file.write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    counts = run("compare", file, f"{BUCKET}/a/", "--json").document["counts"]
    assert counts == {"equal": 2, "only right": 1}
    assert run("compare", file, file).out.endswith("all equal\n")
    folder = run("snapshot", "--listing", "--to", tmp_path / "s", "--json").document["folder"]
    again = run("compare", f"{folder}#{BUCKET}/a/", file, "--json")
    assert again.document["counts"] == {"equal": 2, "only left": 1}
    assert f"snapshot {folder}: " in again.err
    file.write_text("nonsense\n" + file.read_text())
    bad = run("compare", file, f"{folder}#{BUCKET}/a/").assert_no()
    assert "1 line of a manifest is not an entry" in bad.out


def test_reasons_are_folded_at_words(
    run: Run, tmp_path: Path, terminal: Callable[[int], None]
) -> None:
    """The terminal would break them anywhere."""
    rows = rows_of(CONTENTS | {"a/long name of a file that is there.txt": b"7"})
    there = (f"{BUCKET}/a/", "--snapshot", listed_snapshot(tmp_path / "s", rows))
    file = tmp_path / "a.sha1"
    file.write_text("nonsense " * 12)
    terminal(60)
    lines = [*map(click.unstyle, run("compare", file, *there).out.splitlines())]
    assert [line for line in lines if len(line) > 60] == []
    assert "".join(lines).count("nonsense") == 9


@pytest.mark.parametrize("place", ["none.sha1", "SHA256SUMS", "/tmp/none", "./none"])  # noqa: S108 - names
def test_a_file_that_is_not_there_is_no_bucket(run: Run, stack: Stack, place: str) -> None:
    """A misspelt manifest is told from a misspelt bucket, before all rows are read."""
    run("compare", place, stack.bucket).assert_refused(f"there is no file {place}")
    assert "s3://none.sha1" in run("compare", "none.sha1", stack.bucket).err


def reported(rows: Sequence[tuple[str, str, str, bytes]], **facts: str) -> bytes:
    """A part of a report: bucket, key, version and content of each row."""
    text = io.StringIO()
    status = facts.pop("status", "succeeded")
    for bucket, key, version, content in rows:
        digest = hashlib.sha1(content).hexdigest().upper()
        result = {"checksum_hex": digest, "checksumAlgorithm": "SHA1", **facts}
        columns = [bucket, quote_plus(key), version, status, "", "200", json.dumps(result)]
        csv.writer(text).writerow(columns)
    return text.getvalue().encode()


def put_report(stack: Stack, body: bytes, **part: str) -> str:
    """Write a report with one part; returns the URL of its manifest."""
    results = [{"Bucket": BUCKET, "Key": "job/1.csv", **part}]
    report = {"Format": "Report_CSV_20180820", "Results": results}
    for key, content in (("1.csv", body), ("manifest.json", json.dumps(report).encode())):
        stack.client("s3").put_object(Bucket=BUCKET, Key=f"job/{key}", Body=content)
    return f"s3://{BUCKET}/job/manifest.json"


def test_a_report_of_compute_checksum(run: Run, stack: Stack, tmp_path: Path) -> None:
    """AWS's own digest of each object certifies the row; a composite one is none."""
    snapshot = listed_snapshot(tmp_path / "s", rows_of(CONTENTS | {"a/a+b é": b"1"}))
    lines = [
        reported([(BUCKET, key, "", b"1")], **{"checksumType": "FULL_OBJECT", **facts})
        for key, facts in (
            ("a/same", {}), ("a/x", {}), ("a/here", {"checksumType": "COMPOSITE"}),
            ("a/left", {"status": "failed"}), ("a/a+b é", {}),
        )
    ]  # fmt: skip
    bad = b"\xe9,\nb,%E9,,succeeded,,200,{}\n"
    manifest = put_report(stack, b"".join(lines) + bad, TaskExecutionStatus="succeeded")
    document = run("compare", manifest, BUCKET, "--snapshot", snapshot, "--json").document
    reasons = {difference["reason"] for difference in document["differences"]}
    assert "line 7: its name is not UTF-8, which a key must be" in reasons
    assert "line 6 is not a row of a completion report: \\xe9," in reasons
    results = {
        difference["left_name"]: difference
        for difference in document["differences"]
        if difference["left_name"]
    }
    assert document["counts"]["equal"] == 2
    assert {name: difference["result"] for name, difference in results.items()} == {
        "a/x": "differs", "a/here": "not recorded", "a/left": "not recorded",
    }  # fmt: skip
    assert results["a/here"]["reason"] == "only a composite sha1"


@pytest.mark.parametrize(("md5", "status"), [("0" * 32, 2), ("", 0), (None, 0)])
def test_a_report_is_read_only_if_it_is_whole(
    run: Run, stack: Stack, md5: str | None, status: int
) -> None:
    """The report's manifest has an MD5 of each of its files; a damaged one proves nothing."""
    body = reported([(BUCKET, "same", "", b"1")])
    part = {} if md5 is None else {"MD5Checksum": md5 or hashlib.md5(body).hexdigest().upper()}
    place = put_report(stack, body, **part)
    sums = f"{hashlib.sha1(b'1').hexdigest()}  same\n"
    ended = run("compare", place, "-", answer=sums)
    assert (ended.status, "has no MD5" in ended.err) == (status, md5 is None)
    if status:
        ended.assert_refused(f"s3://{BUCKET}/job/1.csv is damaged")
    without_key = json.dumps({"Format": "Report_CSV_20180820", "Results": [{"Bucket": BUCKET}]})
    stack.client("s3").put_object(Bucket=BUCKET, Key="job/manifest.json", Body=without_key)
    run("compare", place, "-", answer=sums).assert_refused("not the manifest of a whole")


@pytest.mark.parametrize("sides", [("-", f"{BUCKET}/p/"), (f"{BUCKET}/p/", "-")])
def test_versions_of_a_report_are_compared_with_themselves(
    run: Run, stack: Stack, sides: tuple[str, str]
) -> None:
    """An overwritten version is not the current one; one that is gone, or of elsewhere, is said."""
    old = put_and_record(stack, "p/c", b"old", "01").entry
    new = put_and_record(stack, "p/c", b"new", "02").entry
    rows = [(BUCKET, "p/c", new, b"new"), (BUCKET, "p/c", old, b"old"),
            ("elsewhere", "p/c", "", b"x"), (BUCKET, "q", "", b"q")]  # fmt: skip
    ended = run("compare", *sides, "--json", answer=reported(rows))
    assert (ended.status, ended.document["counts"]) == (0, {"equal": 2, "left out": 2})
    assert f"is a report about objects of {', '.join(sorted((BUCKET, 'elsewhere')))}" in ended.err
    rows[1:] = [(BUCKET, "p/c", old, b"rotten"), (BUCKET, "p/c", "3HL4", b"new")]
    ended = run("compare", "-", f"{BUCKET}/p/", "--json", answer=reported(rows))
    assert ended.document["counts"] == {"equal": 1, "differs": 1, "only left": 1}
    names = {name["left_name"] for name in ended.document["differences"]}
    assert names == {f"c?versionId={old}", "c?versionId=3HL4"}
    copies = [("elsewhere", "c", "v", b"new")]
    ended = run("compare", "-", f"{BUCKET}/p/", answer=reported(copies))
    assert (ended.status, "is a report about objects of elsewhere" in ended.err) == (0, True)


def test_a_list_has_no_markers_and_a_payload_manifest_no_tag_files(
    run: Run, stack: Stack, tmp_path: Path
) -> None:
    """Objects that it cannot have are counted; those that it has are compared."""
    contents = {
        "b/": b"", "b/data/": b"", "b/bagit.txt": b"x", "b/tagmanifest-sha1.txt": b"y",
        "b/data/a": b"1", "b/manifest-sha1.txt": b"z",
    }  # fmt: skip
    whole = (f"{BUCKET}/b/", "--snapshot", listed_snapshot(tmp_path / "s", rows_of(contents)))
    sums = {name: hashlib.sha1(content).hexdigest() for name, content in (
        ("data/a", b"1"), ("bagit.txt", b"x"), ("manifest-sha1.txt", b"z"),
    )}  # fmt: skip
    s3 = stack.client("s3")
    lists = {"manifest-sha1.txt": ["data/a"], "tagmanifest-sha1.txt": [*sums][1:]}
    for place, names in lists.items():
        body = "".join(f"{sums[name]}  {name}\n" for name in names).encode()
        s3.put_object(Bucket=BUCKET, Key=f"lists/{place}", Body=body)
        ended = run("compare", f"s3://{BUCKET}/lists/{place}", *whole)
        assert (ended.status, ended.out.endswith("all equal\n")) == (0, True)
        assert "a folder marker" in ended.out
    more = listed_snapshot(tmp_path / "more", rows_of(contents | {"b/data/more": b"2"}))
    there = (f"{BUCKET}/b/", "--snapshot", more, "--json")
    ended = run("compare", f"s3://{BUCKET}/lists/manifest-sha1.txt", *there)
    assert (ended.status, ended.document["counts"]["only right"]) == (1, 1)
    listed = f"{hashlib.sha1(b'').hexdigest()}  data/\n{sums['data/a']}  data/a\n"
    ended = run("compare", "-", *there, answer=listed)
    assert ended.document["counts"] == {"equal": 2, "left out": 1, "only right": 4}


def test_export_with_members_is_read_back(run: Run, stack: Stack, tmp_path: Path) -> None:
    """A name KEY!/PATH is a member of the current archive; members that no list names are none."""
    record_archive(stack, {"a": b"old"})
    record_archive(stack, {"a": b"a", "b": b"b"}, "02")
    put_and_record(stack, "o!/a", b"o")
    run("snapshot", "--listing")
    last, file = ("--snapshot", "last"), tmp_path / "all.sha1"
    assert run("export", BUCKET, "--members", *last, "-o", file).status == 0
    assert run("compare", file, BUCKET, *last).out.startswith("4 names equal\n")
    file.write_text(file.read_text().replace(hashlib.sha1(b"a").hexdigest(), "0" * 40))
    ended = run("compare", BUCKET, file, *last, "--json")
    assert ended.document["counts"] == {"equal": 3, "differs": 1}
    exported = run("export", BUCKET, *last).out
    assert run("compare", "-", BUCKET, *last, answer=exported).status == 0


def test_a_name_twice_is_one_name(run: Run, tmp_path: Path) -> None:
    """Equal lines are one, lines of two algorithms too; lines that contradict each other differ."""
    there = (BUCKET, "--snapshot", listed_snapshot(tmp_path / "s", rows_of({"a": b"a"})))
    sha1, sha256 = hashlib.sha1(b"a").hexdigest(), hashlib.sha256(b"a").hexdigest()
    listed = f"{sha1}  a\n" * 3 + f"{sha256}  a\n"
    ended = run("compare", "-", *there, answer=listed)
    assert (ended.status, ended.out) == (0, "1 name equal\nall equal\n")
    assert "3 lines of - left out: the name is in another line" in ended.err
    (tmp_path / "l").write_text(listed)
    assert run("compare", tmp_path / "l", "-", answer=listed).out.startswith("1 name equal")
    ended = run("compare", "-", *there, answer=f"{listed}{'0' * 40}  a\n")
    assert (ended.status, "1 differs" in ended.out, "5 different lines" in ended.out) == (1, 1, 1)


def test_any_file_is_a_side(
    run: Run,
    stack: Stack,
    planted: Sequence[object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pipe, stdin, a compressed list, and a folder that has the name of the bucket."""
    sums = f"{hashlib.sha1(b'1').hexdigest()}  same\n{hashlib.sha1(b'3').hexdigest()}  x\n".encode()
    file, packed, pipe = tmp_path / "a.sha1", tmp_path / "a.sha1.gz", tmp_path / "pipe"
    file.write_bytes(sums)
    packed.write_bytes(gzip.compress(sums.decode().encode("utf-16")))
    assert run("compare", file, "-", answer=sums).status == 0
    assert run("compare", packed, file).status == 0
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        pool.submit(pipe.write_bytes, sums)
        assert run("compare", pipe, file).status == 0
    stack.client("s3").put_object(Bucket=BUCKET, Key="l.gz", Body=packed.read_bytes())
    assert run("compare", f"s3://{BUCKET}/l.gz", file).status == 0
    run("compare", "-", "-").assert_refused("stdin can be one side only")
    run("compare", f"s3://{BUCKET}/a", file).assert_refused(
        f"there is no object s3://{BUCKET}/a", f"write s3://{BUCKET}/a/"
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / BUCKET / "a").mkdir(parents=True)
    ended = run("compare", f"{BUCKET}/a/", file, *planted, "--json")
    assert ended.document["counts"] == {"equal": 2, "only left": 3}
    assert "is taken for a bucket" in ended.err
    run("compare", f"{BUCKET}#a", file).assert_refused("is not a snapshot")
    run("compare", f"./{BUCKET}", file).assert_refused("is not a snapshot")


def test_digests_alone_are_no_side(run: Run, tmp_path: Path) -> None:
    """They have no names to compare, and `find --list` is for them; beside names they are bad."""
    digest = hashlib.sha1(b"1").hexdigest()
    (tmp_path / "a").write_text(f"{digest}\n")
    run("compare", "-", tmp_path / "a", answer=f"{digest}  a\n").assert_refused(
        "digests without names", "find --list"
    )
    listed = f'{{"key": "a", "sha1": "{digest}"}}\n{{"sha1": "{digest}"}}\n'
    (tmp_path / "a").write_text(f"{digest}  a\n")
    ended = run("compare", tmp_path / "a", "-", "--json", answer=listed)
    assert (ended.status, ended.document["counts"]) == (1, {"equal": 1, "bad line": 1})


def test_a_list_of_another_algorithm_is_a_hint(run: Run, tmp_path: Path) -> None:
    """If all differ, the digests may be others that are as long."""
    (tmp_path / "a").write_text(f"{hashlib.sha512(b'1').hexdigest()}  a\n")
    listed = f"{hashlib.blake2b(b'1').hexdigest()}  a\n"
    ended = run("compare", tmp_path / "a", "-", answer=listed)
    assert (ended.status, "--algorithm" in ended.err) == (1, True)
    ended = run("compare", tmp_path / "a", "-", "--format", "rclone", "--algorithm", "blake2b",
                answer=listed)  # fmt: skip
    assert (ended.status, "not recorded" in ended.out, "2" in ended.err) == (1, True, False)


def test_a_list_of_an_algorithm_that_no_row_has_says_so(
    run: Run, planted: Sequence[object]
) -> None:
    """A backfill would add nothing: the algorithms of both sides are named, and what adds one."""
    listed = f"{hashlib.sha256(b'1').hexdigest()}  same\n"
    ended = run("compare", "-", f"{BUCKET}/a/", *planted, answer=listed)
    shown = " ".join(ended.err.split())
    assert ended.status == 1
    assert "A has sha256, B has sha1: `bucketsum verify BUCKET --missing sha256`" in shown
    assert "backfill" not in shown


GOOD, BAD = (hashlib.sha1(text).hexdigest() for text in (b"good", b"bad"))


@pytest.mark.parametrize(("pattern", "folder", "wrong"), [
    *(("data/{sha1}", "data/", wrong) for wrong in (BAD.upper(), BAD[:-1], f"{BAD}0")),
    ("data/??/{sha1}", "data/%.2s/", BAD),
])  # fmt: skip
def test_digests_in_names_are_of_any_case_and_length(
    run: Run, tmp_path: Path, pattern: str, folder: str, wrong: str
) -> None:
    """A content-addressed store is checked against its own names, without a read.

    A name in capitals is compared; one that was cut short is not of its content.
    """
    good, bad = ((folder % name if "%" in folder else folder) + name for name in (GOOD, wrong))
    snapshot = listed_snapshot(tmp_path / "s", rows_of({good: b"good", bad: b"rotten"}))
    ended = run("compare", BUCKET, "--names", pattern, "--snapshot", snapshot, "--json")
    assert (ended.status, ended.document["counts"]) == (1, {"equal": 1, "differs": 1})
    assert [entry["left_name"] for entry in ended.document["differences"]] == [bad]


def test_names_of_another_form_are_left_out(run: Run, tmp_path: Path) -> None:
    """A restic repository has other files too: they are counted, and all can be equal."""
    names = ("compare", f"{BUCKET}/r/", "--names", "data/??/{sha1}", "--snapshot")
    other = {"r/config": b"c"}
    ended = run(*names, listed_snapshot(tmp_path / "other", rows_of(other)))
    ended.assert_refused("has anything to compare")
    rows = rows_of(other | {f"r/data/{GOOD[:2]}/{GOOD}": b"good"})
    ended = run(*names, listed_snapshot(tmp_path / "s", rows))
    assert (ended.status, "1 left out: the name is not of this form" in ended.out) == (0, True)
    assert ended.out.endswith("all equal\n")


@pytest.mark.parametrize("line", [
    b"%s  a\xff\n", b"key,sha1\na\xff,%s\n", b'{"sha1": "%s", "key": "a\\udcff"}\n',
])  # fmt: skip
def test_a_name_that_is_not_utf_8_equals_no_key(run: Run, tmp_path: Path, line: bytes) -> None:
    """Its escaped form is the name of another object, of which nothing is claimed."""
    file, other = tmp_path / "list", tmp_path / "other"
    digest = hashlib.sha1(b"a").hexdigest().encode()
    file.write_bytes(line % digest)
    other.write_bytes(rb'{"sha1": "%s", "key": "a\\xff"}' % digest)
    ended = run("compare", file, other, "--json")
    assert (ended.status, ended.document["counts"]) == (1, {"bad line": 1, "only right": 1})
    assert "not UTF-8" in str(ended.document["differences"])


def test_a_pattern_of_names() -> None:
    """One digest, of a known algorithm, perhaps with a slash after its first two digits."""
    pattern = "^files/md5/([0-9A-Fa-f]{2}/?[0-9A-Fa-f]{14,})$"
    assert name_pattern("files/md5/{md5}") == (pattern, "md5")
    for text in ("data", "{sha1}/{md5}", "{sha0}"):
        with pytest.raises(CannotDoError, match="must have one of"):
            name_pattern(text)
