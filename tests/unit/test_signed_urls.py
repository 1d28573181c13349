"""Signed URLs lead where botocore's own requests go, and reveal no more than they must."""

from __future__ import annotations

import os
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.credentials import Credentials

from bucketsum.events.object_events import ObjectCreated
from bucketsum.invocation.clients import _session
from bucketsum.s3.get_object import request_for
from bucketsum.s3.signed_urls import SignedUrls
from bucketsum.s3.source import CLIENT_CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator

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

PLACES: Final[list[tuple[str, list[str]]]] = [
    ("moon-1", []),
    ("eusc-de-east-1", []),
    *(
        (region, variables)
        for region in ("us-east-1", "eu-west-1", "cn-north-1", "us-gov-west-1")
        for variables in ([], ["DUALSTACK"], ["FIPS"], ["DUALSTACK", "FIPS"])
        if region != "cn-north-1" or "FIPS" not in variables  # China has no FIPS endpoints
    ),
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
    urls = SignedUrls.of_region(client.meta.region_name, os.environ)
    signed = urlsplit(urls.url_of(arrival))
    assert urlsplit(SignedUrls.of_client(client).url_of(arrival)).netloc == signed.netloc
    plain = urlsplit(asked_by_botocore(client, arrival))
    assert (signed.scheme, signed.netloc, signed.path) == (plain.scheme, plain.netloc, plain.path)
    versions = parse_qs(signed.query).get("versionId"), parse_qs(plain.query).get("versionId")
    assert versions[0] == versions[1]


@pytest.fixture(autouse=True)
def _new_session() -> Iterator[None]:
    """Read the environment again."""
    _session.cache_clear()
    yield
    _session.cache_clear()


@pytest.mark.parametrize(("region", "variables"), PLACES)
@pytest.mark.parametrize("bucket", ["a-bucket", "with.dots", "UPPER", "under_score", "a" * 64])
def test_an_address_goes_where_botocore_goes(
    region: str, variables: list[str], bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Region, style, dual stack and FIPS are botocore's: never the global endpoint."""
    for variable in variables:
        monkeypatch.setenv(f"AWS_USE_{variable}_ENDPOINT", "true")
    config = deepcopy(CLIENT_CONFIG)  # botocore changes it for dual stack
    client = boto3.Session().client("s3", region_name=region, config=config)
    same_place(client, replace(ARRIVAL, bucket=bucket))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("version_id", [None, "null", "v/1+2="])
def test_an_address_names_key_and_version(key: str, version_id: str | None) -> None:
    """The signed URL of any key has the same path as botocore's request."""
    client = boto3.client("s3", config=CLIENT_CONFIG)
    same_place(client, replace(ARRIVAL, key=key, version_id=version_id))


@pytest.mark.parametrize("url", ["http://127.0.0.1:4566", "https://example.com/store/"])
@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
def test_a_custom_endpoint_is_used(
    url: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that the environment names, with buckets in its path."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv(variable, url)
    same_place(boto3.client("s3", config=CLIENT_CONFIG), ARRIVAL)


def test_only_the_host_is_signed() -> None:
    """So that one address serves every range; what must be signed, S3 has in the query."""
    urls = SignedUrls("https://s3.eu-west-1.amazonaws.com", "eu-west-1", Credentials("A", "S", "T"))
    query = parse_qs(urlsplit(urls.url_of(ARRIVAL)).query)
    assert query["X-Amz-SignedHeaders"] == ["host"]
    assert query["X-Amz-Security-Token"] == ["T"]


def test_an_address_outlives_an_invocation() -> None:
    """An invocation takes 900 s at most, and S3 bears with clocks that are 900 s wrong."""
    url = SignedUrls.of_region("us-east-1", {}).url_of(ARRIVAL)
    assert int(parse_qs(urlsplit(url).query)["X-Amz-Expires"][0]) >= 900 + 900
