"""Signed URLs lead where botocore's own requests go, and reveal no more than they must."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.config import Config

from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.curl_setup import SignedUrls
from bucketsum.s3.get_object import request_for
from bucketsum.s3.source import CLIENT_CONFIG

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest
    from mypy_boto3_s3 import S3Client

ARRIVAL: Final = ObjectCreated("a-bucket", "dir/key", "v1", "etag", 1, sequencer="", event_time="")
KEYS: Final = [
    "key",
    "a b+c%d",
    "dir//x/../y/./z",
    "ünï☃",
    "?a=b&c#d",
    "~-_.!*'()",
    "/lead",
    "end/",
]

PLACES: Final[list[tuple[str, dict[str, Any]]]] = [
    (region, options)
    for region in ("us-east-1", "eu-west-1", "cn-north-1", "us-gov-west-1")
    for options in ({}, {"use_dualstack_endpoint": True}, {"use_fips_endpoint": True})
    if region != "cn-north-1" or "use_fips_endpoint" not in options  # China has no FIPS endpoints
]


class SeenError(Exception):
    """The request was seen, and is not sent."""


def asked_by_botocore(client: S3Client, arrival: ObjectCreated) -> str:
    """The address that `get_object` itself asks; nothing is sent."""
    urls: list[str] = []

    def see(request: AWSPreparedRequest, **_: object) -> None:
        urls.append(request.url)
        raise SeenError

    client.meta.events.register("before-send.s3.GetObject", see)
    with pytest.raises(SeenError):
        client.get_object(**request_for(arrival))
    return urls[0]


def same_place(client: S3Client, arrival: ObjectCreated) -> None:
    """The signed address and botocore's have host, path and version in common."""
    signed = urlsplit(SignedUrls(client).url_of(arrival))
    plain = urlsplit(asked_by_botocore(client, arrival))
    assert (signed.scheme, signed.netloc, signed.path) == (plain.scheme, plain.netloc, plain.path)
    versions = parse_qs(signed.query).get("versionId"), parse_qs(plain.query).get("versionId")
    assert versions[0] == versions[1]


@pytest.mark.parametrize(("region", "options"), PLACES)
@pytest.mark.parametrize("style", ["auto", "path", "virtual"])
@pytest.mark.parametrize("bucket", ["a-bucket", "with.dots"])
def test_an_address_goes_where_botocore_goes(
    region: str,
    options: dict[str, Any],
    style: Literal["auto", "path", "virtual"],
    bucket: str,
) -> None:
    """Region, style, dual stack and FIPS are botocore's: never the global endpoint."""
    config = CLIENT_CONFIG.merge(Config(s3={"addressing_style": style}, **options))
    client = boto3.client("s3", region_name=region, config=config)
    same_place(client, replace(ARRIVAL, bucket=bucket))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("version_id", [None, "null", "v/1+2="])
def test_an_address_names_key_and_version(key: str, version_id: str | None) -> None:
    """The signed URL of any key has the same path as botocore's request."""
    client = boto3.client("s3", config=CLIENT_CONFIG)
    same_place(client, replace(ARRIVAL, key=key, version_id=version_id))


def test_a_custom_endpoint_is_used() -> None:
    """So does the address of an endpoint that the environment or the client names."""
    client = boto3.client("s3", config=CLIENT_CONFIG, endpoint_url="http://127.0.0.1:4566")
    same_place(client, ARRIVAL)


def test_only_the_host_is_signed() -> None:
    """So that one address serves every range; what must be signed, S3 has in the query."""
    client = boto3.client(
        "s3", config=CLIENT_CONFIG, aws_access_key_id="AK", aws_secret_access_key="SK",
        aws_session_token="TOKEN",
    )  # fmt: skip
    query = parse_qs(urlsplit(SignedUrls(client).url_of(ARRIVAL)).query)
    assert query["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    assert query["X-Amz-SignedHeaders"] == ["host"]
    assert query["X-Amz-Security-Token"] == ["TOKEN"]
    assert query["X-Amz-Credential"][0].startswith("AK/")


def test_an_address_outlives_an_invocation() -> None:
    """An invocation takes 900 s at most, and S3 bears with clocks that are 900 s wrong."""
    url = SignedUrls(boto3.client("s3", config=CLIENT_CONFIG)).url_of(ARRIVAL)
    assert int(parse_qs(urlsplit(url).query)["X-Amz-Expires"][0]) >= 900 + 900


def test_making_readers_does_not_add_up() -> None:
    """A client serves any number of readers; what signing needs of it is there once."""
    client = boto3.client("s3", config=CLIENT_CONFIG)
    first = SignedUrls(client).url_of(ARRIVAL)
    for _ in range(3):
        assert urlsplit(SignedUrls(client).url_of(ARRIVAL)).netloc == urlsplit(first).netloc
