"""One value reads ``s3://`` URLs; a deletion stays in the folder that is bucketsum's own."""

from __future__ import annotations

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

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
