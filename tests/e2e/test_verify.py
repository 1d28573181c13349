"""A verification of the deployed stack, through the command."""

import hashlib
import json
from typing import Final

import pytest
from tests.e2e.command import answer, run, until

from bucketsum_cli.aws.stack import Stack

PREFIX: Final = "verified/"
CONTENT: Final = {f"{PREFIX}sound": b"sound", f"{PREFIX}rotten": b"rotten"}


@pytest.mark.usefixtures("at_project")
def test_an_object_that_differs_from_its_row_is_found(stack: Stack) -> None:
    """The command fails, the row keeps its digest and gains the other; a sound row is marked."""
    for key, content in CONTENT.items():
        stack.client("s3").put_object(Bucket=stack.bucket, Key=key, Body=content)
    until(lambda: all(row["sha1"] for row in answer("ls", PREFIX)), "both rows")
    [version] = answer("show", f"{PREFIX}rotten")["versions"]
    wrong = "0" * 40
    stack.client("dynamodb").update_item(
        TableName=stack.table,
        Key={
            "object": {"S": f"{stack.bucket}/{PREFIX}rotten"},
            "entry": {"S": version["version"]},
        },
        UpdateExpression="SET sha1 = :wrong",
        ExpressionAttributeValues={":wrong": {"S": wrong}},
    )

    run("verify", stack.bucket, "--prefix", PREFIX, "--yes", "--wait", "--local", expected=1)
    ended = json.loads(run("verify", "show", "last", "--local", "--json", expected=1).stdout)
    assert (ended["tally"]["verified"], ended["tally"]["differs"]) == (1, 1)
    report = json.loads(run("verify", "report", "--local", "--json", expected=1).stdout)
    lines = report["buckets"][0]["balance"]
    rows = {(line["standing"], line["storage_class"]): line["rows"] for line in lines}
    assert (rows["verified", "STANDARD"], rows["differs", "STANDARD"]) == (1, 1)

    [sound] = answer("show", f"{PREFIX}sound")["versions"]
    shown = run("show", f"{PREFIX}rotten", "--local", "--json", expected=1)
    [rotten] = json.loads(shown.stdout)["versions"]
    assert sound["verifications"] == 1
    sha1 = hashlib.sha1(b"rotten").hexdigest()
    assert (rotten["sha1"], rotten["differing_digest"]) == (wrong, f"sha1:{sha1}")
