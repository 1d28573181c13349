"""One value reads ``s3://`` URLs, in all commands; a deletion stays in bucketsum's own folder."""

from pathlib import Path

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws
from mypy_boto3_s3 import S3Client
from tests.cli.aws_calls import EXECUTED, answered, change_calls
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, put_and_record
from tests.cli.serving_stack import INBOX, PHOTOS

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.bucket_contents import emptied_folder
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.terminal.errors import CannotDoError

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(KEYS)
def test_a_key_is_exactly_as_written(key: str) -> None:
    """No letter of a key ends it, is decoded or is normalized."""
    place = S3Place.of(f"s3://photos/{key}")
    assert (place.bucket, place.key) == ("photos", key)
    assert S3Place.of(str(place)) == place


@pytest.mark.parametrize(
    "key", ["a#b", "a?b=c", "#", "?", "a%2Fb", "a%20b+c", "//a//", "a b", "ä/日本", "..", "a\nb"]
)
def test_letters_of_urls_are_letters_of_keys(key: str) -> None:
    """Letters that urllib cuts off or decodes stay."""
    assert S3Place.of(f"S3://photos/{key}") == S3Place("photos", key)


@pytest.mark.parametrize(
    "text",
    [
        "", "photos/a", "s3:/photos/a", "s3://", "s3:///a", "s3://b#x", "s3://b?x/y", "s3://ab/c",
        "s3://../x", "s3://a b/c", "s3://user@photos/c", "s3://photos:80/c", "s3://photos%2Fx/c",
        "s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/mine/a", f"s3://photos/{'ä' * 513}",
        "https://photos.s3.amazonaws.com/a", "s3://föhn/a", f"s3://{'a' * 256}/x",
    ],
)  # fmt: skip
def test_another_text_is_refused_with_what_is_allowed(text: str) -> None:
    """The error has the text and the form of a place."""
    with pytest.raises(CannotDoError, match=r"s3://BUCKET/KEY") as refused:
        S3Place.of(text)
    assert text in refused.value.message


def test_an_object_has_a_key_and_a_folder_may_have_none() -> None:
    """A folder ends with one slash or is the bucket; Athena would leave out a second slash."""
    assert S3Place.of_object("s3://photos/a/") == S3Place("photos", "a/")
    for text in ("s3://photos", "s3://photos/"):
        with pytest.raises(CannotDoError, match="has no key"):
            S3Place.of_object(text)
        assert S3Place.of_folder(text) == S3Place("photos", "")
    for text in ("s3://photos/a#b", "s3://photos/a#b/"):
        assert S3Place.of_folder(text) == S3Place("photos", "a#b/")
    for text in ("s3://photos//a", "s3://photos/a//", "s3://photos//"):
        with pytest.raises(CannotDoError, match="a folder without a name"):
            S3Place.of_folder(text)


@mock_aws
def test_only_a_folder_of_that_name_is_emptied() -> None:
    """Keys that begin alike, and an empty or a stranger's prefix, lose nothing."""
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket="photos")
    s3.put_bucket_versioning(Bucket="photos", VersioningConfiguration={"Status": "Enabled"})
    theirs = ["a#b/x", "a", "a/own", "a/own2/x", "own", "a/OWN/x", "a%2Fown/x", "x/a/own/y"]
    for key in (*theirs, "a/own/1", "a/own/#?%2F", "a/own//2"):
        s3.put_object(Bucket="photos", Key=key, Body=b"x")
    for key, name in (
        ("", ""), ("", "own"), ("a/", "own"), ("a/own", "own"), ("a/own/", ""), ("/", ""),
        ("a/own2/", "own"), ("a/", ""), ("xown/", "own"),
    ):  # fmt: skip
        with pytest.raises(CannotDoError, match="is not deleted"):
            list(emptied_folder(s3, S3Place("photos", key), name))
    assert sum(emptied_folder(s3, S3Place("photos", "a/own/"), "own")) == 3
    listed = s3.list_object_versions(Bucket="photos")
    assert [version["Key"] for version in listed["Versions"]] == sorted(theirs)
    assert "DeleteMarkers" not in listed


PREFIXED = (
    (BUCKET, "--prefix", "a/"), ("--bucket", BUCKET, "--prefix", "a/"), (f"{BUCKET}/a/",),
    ("--bucket", f"{BUCKET}/a/"), (f"s3://{BUCKET}/a/",), ("--bucket", f"S3://{BUCKET}/a/"),
    ("--prefix", f"s3://{BUCKET}/a/"), (BUCKET, "--prefix", f"s3://{BUCKET}/a/"),
)  # fmt: skip


def test_a_bucket_and_a_prefix_are_named_alike_everywhere(
    run: Run, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an argument, an option, a URL or BUCKET/PREFIX: each command answers the same."""
    for key in ("a/x", "a/y", "b"):
        put_and_record(stack, key, b"content")
    folder = tmp_path / "s"
    run("snapshot", "--listing", "--to", folder)
    change_calls(monkeypatch, answered(EXECUTED))
    for command in (
        ("backfill", "start", "--dry-run"), ("verify", "start", "--dry-run"), ("import", "--plan"),
        *((name, "--snapshot", folder) for name in ("coverage", "duplicates", "export")),
    ):  # fmt: skip
        ended = [run(*command, *form) for form in PREFIXED]
        assert {(end.status, end.out) for end in ended} == {(0, ended[0].out)}, command
        assert ended[0].out, command
    run("import", "--plan", "a b").assert_refused("is not a bucket name")
    run("export").assert_refused("Missing argument 'BUCKET'")
    for other in (("--bucket", "other"), ("--prefix", "s3://other/a/")):
        run("export", BUCKET, *other).assert_refused("are not the same")
    options = [form for form in PREFIXED if form[0].startswith("--")]
    ended = [run("changes", folder, "--since", "2020-01-01", *form) for form in options]
    assert {(end.status, "a/x" in end.out, "b" in end.out.split()) for end in ended} == {
        (0, True, False)
    }
    run("export", f"{BUCKET}/a/", "--prefix", "c").assert_refused("name the bucket alone")


def test_a_bucket_alone_is_named_alike_everywhere(run: Run, s3: S3Client) -> None:
    """A prefix is refused where there is none, with the name that works."""
    s3.put_object(Bucket=PHOTOS, Key="k", Body=b"x")
    forms = ((PHOTOS,), ("--bucket", PHOTOS), (f"s3://{PHOTOS}",), ("--bucket", f"s3://{PHOTOS}/"))
    for command in ("attach", "detach"):
        ended = [run(command, *form, "--dry-run", "--json") for form in forms]
        assert len({(end.status, end.out) for end in ended}) == 1
        for form in ((f"{PHOTOS}/k",), ("--bucket", f"s3://{PHOTOS}/k")):
            run(command, *form).assert_refused(f"name the bucket alone, as s3://{PHOTOS}")
    for command in ("ls", "show", "find", "put", "check", "stop", "repair", "redrive"):
        refused = run(command, "--bucket", f"{PHOTOS}/k", "k")
        refused.assert_refused(f"name the bucket alone, as s3://{PHOTOS}")
    run("attach", PHOTOS, "--yes", "--deploy")
    for words in (("ls",), ("show",), ("stop",), ("redrive", "--key")):
        for key in (f"{PHOTOS}/k", f"{INBOX}/k"):
            assert f"write s3://{key}" in run(*words, key).err
        assert "write s3://" not in run(*words, "other/k").err
    run("find", f"s3://{PHOTOS}/k").assert_refused(f"`bucketsum show s3://{PHOTOS}/k --stack sums`")
    run("compare", "a b", PHOTOS).assert_refused("is not a bucket name")
