"""Drop a file, read its SHA-1: the deployed stack, through the command."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.command import answer, run, until

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.local.demonstration import sha1sum

ODD_KEYS = ("plain.bin", "a name with spaces", "1+1=2", "100%25", "ünïcode/日本語.txt", "empty")


def waited_for(stack: Stack, key: str) -> list[dict[str, Any]]:
    """The rows of *key* as DynamoDB has them, once there is one."""
    table = stack.digests_table()
    rows = until(lambda: list(table.versions_of(stack.bucket, key)), f"a row of {key}")
    return [{"sha1": row.sha1, "status": row.status, "entry": row.entry} for row in rows]


@pytest.mark.usefixtures("at_project")
def test_each_file_is_recorded_with_what_sha1sum_says(tmp_path: Path) -> None:
    """A file of any name and size has the row that `sha1sum` would give it."""
    folder = tmp_path / "folder"
    for number, key in enumerate(ODD_KEYS):
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"" if key == "empty" else key.encode() * (1 + 10_000 * number))

    document = answer("put", str(folder))

    recorded = {created["key"]: created["sha1"] for created in document["objects"]}
    assert recorded == {f"folder/{key}": sha1sum(folder / key) for key in ODD_KEYS}
    run("check", str(folder), "--local")
    run("ls", "folder/", "--local")


@pytest.mark.usefixtures("at_project")
def test_what_was_denied_is_hashed_once_it_is_allowed(
    stack: Stack, denied: tuple[str, Callable[[], None]]
) -> None:
    """An object that we may not read has a row that says so; `redrive --key` hashes it later."""
    denied_key, allow = denied
    stack.client("s3").put_object(Bucket=stack.bucket, Key=denied_key, Body=b"denied at first")
    (row,) = waited_for(stack, denied_key)
    assert (row["status"], row["sha1"]) == ("unreadable", None)
    assert "access denied" in run("show", denied_key, "--local").stdout

    allow()
    run("redrive", "--key", denied_key, "--local")

    until(lambda: waited_for(stack, denied_key)[0]["status"] != "unreadable", "the digest")
    (row,) = waited_for(stack, denied_key)
    assert row["sha1"] == hashlib.sha1(b"denied at first").hexdigest()


@pytest.fixture
def denied(stack: Stack) -> Iterator[tuple[str, Callable[[], None]]]:
    """A key that the bucket's policy lets nobody read, and what allows it again."""
    s3 = stack.client("s3")
    before = s3.get_bucket_policy(Bucket=stack.bucket)["Policy"]
    denying = json.loads(before)
    denying["Statement"].append(
        {
            "Effect": "Deny",
            "Principal": "*",
            "Action": ["s3:GetObject", "s3:GetObjectVersion"],
            "Resource": f"arn:aws:s3:::{stack.bucket}/denied",
        }
    )

    def allow() -> None:
        s3.put_bucket_policy(Bucket=stack.bucket, Policy=before)

    s3.put_bucket_policy(Bucket=stack.bucket, Policy=json.dumps(denying))
    yield "denied", allow
    allow()


@pytest.mark.usefixtures("at_project")
def test_the_logs_hold_one_structured_line_for_an_object(stack: Stack) -> None:
    """`local logs` shows digest, bytes, seconds, MB/s and outcome of what was hashed."""
    content = b"logged content" * 100_000  # MB/s have three decimals: few bytes may be 0
    stack.client("s3").put_object(Bucket=stack.bucket, Key="logged", Body=content)
    waited_for(stack, "logged")

    def logged() -> dict[str, Any]:
        texts = run("local", "logs").stdout.splitlines()
        lines: list[dict[str, Any]] = [json.loads(text) for text in texts if text.startswith("{")]
        return next((line for line in lines if line.get("key") == "logged"), {})

    line = until(logged, "the log line of the object")
    assert line["sha1"] == hashlib.sha1(content).hexdigest()
    assert line["outcome"] == "hashed"
    assert line["size_bytes"] == len(content)
    assert line["seconds"] > 0
    assert line["mb_per_s"] > 0


@pytest.mark.usefixtures("at_project")
def test_the_log_of_the_emulator_is_at_hand(stack: Stack) -> None:
    """`local logs --emulator` shows what the local emulator itself did.

    It shows the last lines; connections that end write many of their own, at any time.
    """

    def is_noted() -> bool:
        stack.client("s3").put_object(Bucket=stack.bucket, Key="noted", Body=b"x")
        return "S3 notification" in run("local", "logs", "--emulator").stdout

    until(is_noted, "the object's line in the log")
