"""`check --bag` agrees with `bagit.py --validate`, and says what is wrong."""

import hashlib
import importlib
import os
import sys
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import click
import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, hashed, put_and_record_all, put_object

from bucketsum.table.row_parts import Difference
from bucketsum.table.rows import Status
from bucketsum.table.state import ObjectState
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.bags import bags_in_bucket
from bucketsum_cli.bags.results import Verdict
from bucketsum_cli.bags.validation import BagFile, validated

Files = dict[str, bytes]
ROOT = "bags/a b/"


def bag(algorithms: tuple[str, ...] = ("sha256",), version: str = "1.0") -> Files:
    """A valid bag with hostile names."""
    payload = {"data/a b.txt": b"1", "data/d/\u00e9": b"22", "data/line\nbreak": b"3"}
    payload |= {"data/=x": b"4", "data/.hidden": b""}
    files = payload | {
        "bagit.txt": f"BagIt-Version: {version}\nTag-File-Character-Encoding: UTF-8\n".encode(),
        "bag-info.txt": b"Source: x\n  continued\nPayload-Oxum: 5.5\n",
        "notes/tag.txt": b"any",
    }
    for algorithm in algorithms:
        files[f"manifest-{algorithm}.txt"] = manifest(payload, algorithm)
    return with_tags(files, algorithms[0])


def manifest(files: Files, algorithm: str) -> bytes:
    """The manifest of *files*."""
    lines = (
        f"{hashlib.new(algorithm, content).hexdigest()}  {path}".replace("\n", "%0A")
        for path, content in files.items()
    )
    return "".join(f"{line}\n" for line in lines).encode()


def with_tags(files: Files, algorithm: str = "sha256") -> Files:
    """The *files* with a new tag manifest."""
    tags = {p: c for p, c in files.items() if not p.startswith(("data/", "tagmanifest"))}
    return files | {f"tagmanifest-{algorithm}.txt": manifest(tags, algorithm)}


def changed(files: Files, path: str, content: bytes | None) -> Files:
    """The *files* with another content of one, or without it."""
    kept = {other: text for other, text in files.items() if other != path}
    return kept if content is None else {**kept, path: content}


def in_utf_16(files: Files) -> Files:
    """The *files*, of which the tag files are in UTF-16."""
    files = files | {"bagit.txt": files["bagit.txt"].replace(b"UTF-8", b"UTF-16")}
    for path in ("bag-info.txt", "manifest-sha256.txt"):
        files[path] = files[path].decode().encode("utf-16")
    files = with_tags(files)
    tags = files["tagmanifest-sha256.txt"].decode().encode("utf-16")
    return files | {"tagmanifest-sha256.txt": tags}


def put(stack: Stack, files: Files, root: str = ROOT, **facts: Any) -> None:  # noqa: ANN401 - fields of Row
    """Put and record the bag."""
    put_and_record_all(stack, {root + path: text for path, text in files.items()}, **facts)


@cache
def bagit() -> ModuleType:
    """bagit.py, which imports what setuptools has no longer."""
    gone: Any = ModuleType("pkg_resources")
    gone.DistributionNotFound, gone.get_distribution = KeyError, Mock(side_effect=KeyError)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(action="ignore"):
        patch.setitem(sys.modules, "pkg_resources", gone)
        return importlib.import_module("bagit")


def is_valid_for_bagit(folder: Path) -> bool:
    """Whether ``bagit.py --validate`` accepts the bag in *folder*."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["bagit.py", "--quiet", "--validate", str(folder)])
        with pytest.raises(SystemExit) as ending:
            bagit().main()
    return ending.value.code == 0


GOOD = bag()
OXUM = b"Payload-Oxum: "
MANIFEST = GOOD["manifest-sha256.txt"]
ENTRY = f"{'0' * 64}  ".encode()
CASES: Mapping[str, tuple[Files, str]] = {
    "valid": (GOOD, ""),
    "0.97 with two manifests": (bag(("md5", "sha256"), "0.97"), ""),
    "utf-16": (in_utf_16(GOOD), ""),
    "asterisks, dots and capitals": (with_tags(changed(
        GOOD, "manifest-sha256.txt",
        b"".join(b"%s *./%s\n" % (line[:64].upper(), line[66:]) for line in MANIFEST.splitlines()),
    )), ""),
    "no bagit.txt": (changed(GOOD, "bagit.txt", None), "bagit.txt"),
    "a mark": (changed(GOOD, "bagit.txt", b"\xef\xbb\xbf" + GOOD["bagit.txt"]), "bagit.txt"),
    "an unknown version": (bag(version="7.1"), "bagit.txt"),
    "no encoding": (changed(GOOD, "bagit.txt", b"BagIt-Version: 1.0\n"), "bagit.txt"),
    "no manifest": (changed(GOOD, "manifest-sha256.txt", None), "manifest-*.txt"),
    "a changed payload file": (changed(GOOD, "data/a b.txt", b"9"), "data/a b.txt"),
    "a changed tag file": (changed(GOOD, "notes/tag.txt", b"other"), "notes/tag.txt"),
    "a missing payload file": (changed(GOOD, "data/=x", None), "data/=x"),
    "a missing tag file": (changed(GOOD, "notes/tag.txt", None), "notes/tag.txt"),
    "a file too many": (GOOD | {"data/more": b""}, "data/more"),
    "a wrong Oxum": (with_tags(GOOD | {"bag-info.txt": OXUM + b"6.5"}), "bag-info.txt"),
    "a path that leads out": (with_tags(
        changed(GOOD, "manifest-sha256.txt", MANIFEST + ENTRY + b"../x\n")
    ), "manifest-sha256.txt"),
    "an absolute path": (with_tags(
        changed(GOOD, "manifest-sha256.txt", MANIFEST + ENTRY + b"/etc/x\n")
    ), "manifest-sha256.txt"),
    "two digests of a file": (with_tags(
        changed(GOOD, "manifest-sha256.txt", MANIFEST + ENTRY + b"data/=x\n")
    ), "manifest-sha256.txt"),
    "a file to be fetched": (with_tags(
        changed(GOOD, "data/=x", None) | {"fetch.txt": b"https://e.org/x - data/=x\n"}
    ), "data/=x"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bagit_says_the_same(run: Run, stack: Stack, tmp_path: Path, name: str) -> None:
    """A bag is valid where it lies if `bagit.py --validate` accepts it on a disk."""
    files, problem = CASES[name]
    put(stack, files)
    ended = run("check", "--bag", f"s3://{BUCKET}/{ROOT}", "--json")
    [result] = ended.document
    assert (result["verdict"], ended.status) == (("invalid", 1) if problem else ("valid", 0))
    paths = {wrong["path"] for wrong in result["problems"]}
    assert paths >= ({problem} if problem else set())
    for path, content in files.items():
        (tmp_path / "bag" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bag" / path).write_bytes(content)
    assert is_valid_for_bagit(tmp_path / "bag") is not bool(problem)


@pytest.mark.skipif("BAGS" not in os.environ, reason="BAGS names no folder with bags of others")
def test_no_bag_is_valid_that_bagit_refuses() -> None:
    """BAGS=FOLDER pytest -s: a line for each bag below it, such as those of bagit-java."""
    folders = [file.parent for file in sorted(Path(os.environ["BAGS"]).rglob("bagit.txt"))]
    for folder in [f for f in folders if not any(other in f.parents for other in folders)]:
        paths = [path for path in folder.rglob("*") if path.is_file()]
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        recorded = {path: as_recorded(content) for path, content in files.items()}
        ours = validated("", recorded, files.__getitem__)
        theirs = is_valid_for_bagit(folder)
        reasons = "; ".join(f"{problem.path}: {problem.reason}" for problem in ours.problems)
        verdict = "valid" if theirs else "invalid"
        click.echo(f"{folder}: bagit.py {verdict}, bucketsum {ours.verdict} {reasons}")
        # bagit.py fails where a manifest has a name in two Unicode forms with one digest
        assert theirs or ours.verdict is not Verdict.VALID or "normalization" in folder.name


def as_recorded(content: bytes) -> BagFile:
    """An object with all digests that a row can have."""
    names = ("sha1", "sha256", "sha512", "md5")
    digests = {name: hashlib.new(name, content).hexdigest() for name in names}
    return BagFile(len(content), ObjectState.HASHED, digests)


@pytest.mark.parametrize(("files", "problem"), [
    (changed(GOOD, "bagit.txt", GOOD["bagit.txt"].replace(b":", b" :")), "bagit.txt"),
    (bag(("sha256", "md5")) | {"manifest-md5.txt": b""}, "data/=x"),
    (with_tags(changed(GOOD, "manifest-sha256.txt", MANIFEST + MANIFEST)), "manifest-sha256.txt"),
    (with_tags(GOOD | {"fetch.txt": b"https://e.org/x 1 data/none\n"}), "data/none"),
    (with_tags(GOOD | {"fetch.txt": b"https://e.org/x 9 data/=x\n"}), "data/=x"),
])  # fmt: skip
def test_rfc_8493_is_stricter_than_bagit(
    run: Run, stack: Stack, files: Files, problem: str
) -> None:
    """Blanks, incomplete or repeated manifests, and files that only fetch.txt names are invalid."""
    put(stack, files)
    [result] = run("check", "--bag", f"s3://{BUCKET}/{ROOT}", "--json").document
    assert result["verdict"] == "invalid"
    assert problem in {wrong["path"] for wrong in result["problems"]}


@pytest.mark.parametrize(("version", "name"), [("0.97", "100%25"), ("1.0", "100%")])
def test_a_percent_sign_is_escaped_since_1_0(
    run: Run, stack: Stack, version: str, name: str
) -> None:
    """The same manifest names another file before."""
    files = {"data/" + name: b"1", "bagit.txt": bag(version=version)["bagit.txt"]}
    line = f"{hashlib.sha256(b'1').hexdigest()}  data/100%25\n".encode()
    put(stack, files | {"manifest-sha256.txt": line})
    assert run("check", "--bag", f"s3://{BUCKET}/{ROOT}").status == 0


@pytest.mark.parametrize(("facts", "verdict", "reason"), [
    ({"difference": Difference("sha1:00", "2026-11-27")}, "invalid", "S3 returned sha1:00"),
    ({"status": Status.UNREADABLE, "sha1": None, "reason": "no"}, "cannot tell", "unreadable: no"),
    ({"digests": {}}, "cannot tell", "its manifests have sha256, recorded are sha1"),
    (None, "cannot tell", "not recorded"),
])  # fmt: skip
def test_the_state_of_each_object_counts(
    run: Run, stack: Stack, facts: dict[str, Any] | None, verdict: str, reason: str
) -> None:
    """A difference makes a bag invalid; without a digest it cannot be told; both exit 1."""
    put(stack, changed(GOOD, "data/=x", None))
    if facts is None:
        put_object(stack, f"{ROOT}data/=x", b"4")
    else:
        put(stack, {"data/=x": b"4"}, **facts)
    ended = run("check", "--bag", f"{BUCKET}", "--bucket", BUCKET)
    ended.assert_refused("there is no object below")
    ended = run("check", "--bag", ROOT.rstrip("/"), "--json")
    [result] = ended.document
    assert (ended.status, result["verdict"]) == (1, verdict)
    assert [reason in problem["reason"] for problem in result["problems"]] == [True]
    assert "data/=x: " in run("check", "--bag", ROOT).err


def test_a_tag_file_that_cannot_be_read_says_nothing(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Archived or too large, it makes no bag invalid; with other bytes than recorded it does."""
    put(stack, GOOD)
    etag = hashlib.md5(b"Source: x\n").hexdigest()
    place = put_object(stack, f"{ROOT}bag-info.txt", b"Source: x\n")
    row = hashed(place, b"other", "02", etag=etag)
    stack.digests_table().record(row)
    [result] = run("check", "--bag", ROOT, "--json").document
    assert "S3 returns other bytes" in str(result["problems"])
    monkeypatch.setattr(bags_in_bucket, "_TAG_FILE_BYTES_MAX", 60)
    [result] = run("check", "--bag", ROOT, "--json").document
    assert (result["verdict"], "a tag file of up to 60" in str(result["problems"])) == (
        "cannot tell", True,
    )  # fmt: skip


def test_all_bags_below_a_folder(run: Run, stack: Stack) -> None:
    """A bag in a payload is a part of it; a folder that lost its bagit.txt is invalid."""
    put(stack, GOOD, "bags/2026/x/")
    put(stack, GOOD, "bags/2026/x/data/inner/")
    put(stack, GOOD, "bags/y/")
    put(stack, changed(GOOD, "bagit.txt", None), "bags/2026/z/")
    put(stack, {"bags/README": b"", "bags/old/": b""}, "")
    ended = run("check", "--bags", f"s3://{BUCKET}/bags", "--json")
    verdicts = {
        result["bag"].removeprefix(f"s3://{BUCKET}/"): result["verdict"]
        for result in ended.document
    }
    assert verdicts == {"bags/2026/x/": "invalid", "bags/y/": "valid", "bags/2026/z/": "invalid"}
    assert (ended.status, "1 object beside the bags" in ended.err) == (1, True)
    shown = run("check", "--bags", f"s3://{BUCKET}/bags/y")
    words = [f"s3://{BUCKET}/bags/y/", "valid", "5", "5", "B", "sha256"]
    assert (shown.status, shown.out.split()[-6:]) == (0, words)
    run("check", "--bags", f"s3://{BUCKET}/none").assert_refused("there is no bag")
    run("check", "--bags", "x", "--bag", "y").assert_refused("used alone")
