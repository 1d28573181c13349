"""`check --archive` compares members as extractors leave them on the disk."""

import hashlib
from dataclasses import replace
from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, READ, hashed, member, put_object

from bucketsum.archives.member_rows import MemberRows, member_entry
from bucketsum.table.rows import RowKey
from bucketsum_cli.aws.stack import Stack


def record(stack: Stack, members: dict[str, tuple[bytes, tuple[str, ...]]]) -> None:
    """Put a.zip, and record its members: path → content and remarks."""
    record = replace(READ, members=len(members))
    row = hashed(put_object(stack, "a.zip", b"zip"), b"zip", "01", archive=record)
    with MemberRows(stack.client("dynamodb"), stack.table).writer() as writer:
        for path, (content, remarks) in members.items():
            key = RowKey(BUCKET, "a.zip", member_entry(row.entry, "01", path))
            writer.put(hashed(key, content, "01", member=member(path), remarks=remarks))
    stack.digests_table().record(row)


def test_a_faultless_extraction_is_equal(run: Run, stack: Stack, tmp_path: Path) -> None:
    """Links, backslashes, folders without a slash, a leading slash, identical duplicates."""
    (tmp_path / "d" / "empty").mkdir(parents=True)
    for name in ("d/x", "d/y", "abs", "twice", "back\\slash"):
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "link").symlink_to("d/x")
    (tmp_path / "folder").symlink_to("d")
    (tmp_path / "broken").symlink_to("nowhere")
    record(
        stack,
        {
            "d\\x": (b"d/x", ("backslash",)),
            "d/y": (b"d/y", ()),
            "/abs": (b"abs", ("absolute",)),
            "back\\slash": (b"back\\slash", ("backslash",)),
            "twice": (b"twice", ()),
            "twice~2": (b"twice", ("duplicate",)),
            "d/empty": (b"", ()),
            "link": (b"d/x", ("symlink",)),
            "folder": (b"d", ("symlink",)),
            "broken": (b"nowhere", ("symlink",)),
        },
    )
    ended = run("check", tmp_path, "--archive", "a.zip")
    assert (ended.status, ended.out, ended.err) == (0, "8 equal\n", "")


def test_what_extracting_left_out_is_missed(run: Run, stack: Stack, tmp_path: Path) -> None:
    """Another target of a link, and the other content of a duplicate, are not equal."""
    (tmp_path / "twice").write_bytes(b"last")
    (tmp_path / "link").symlink_to("elsewhere")
    record(
        stack,
        {
            "twice": (b"last", ()),
            "twice~2": (b"first", ("duplicate",)),
            "link": (b"target", ("symlink",)),
        },
    )
    ended = run("check", tmp_path, "--archive", "a.zip", "--json").assert_no()
    assert {file["key"]: file["result"] for file in ended.document["files"]} == {
        "twice": "equal",
        "link": "differs",
    }
    assert ended.document["missing"] == ["twice~2"]
    sha1 = hashlib.sha1(b"elsewhere").hexdigest()
    assert sha1 in {file["sha1"] for file in ended.document["files"]}
