"""Signed requests go where botocore's own requests go."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.exceptions import NoCredentialsError
from mypy_boto3_s3 import S3Client

from bucketsum.events.object_events import ObjectCreated
from bucketsum.invocation.clients import _session
from bucketsum.s3.get_object import get_object
from bucketsum.s3.signed_requests import SignedGet, SignedRequests
from bucketsum.s3.source import CLIENT_CONFIG

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

BUCKETS: Final = ("a-bucket", "with.dots", "UPPER", "under_score", "a" * 63, "a" * 64)
RARE: Final = ("moon-1", "eusc-de-east-1", "us-iso-east-1")
PLACES: Final = [
    (region, variables)
    for region in ("us-east-1", "eu-west-1", "cn-north-1", "us-gov-west-1", *RARE)
    for variables in ([], ["DUALSTACK"], ["FIPS"], ["DUALSTACK", "FIPS"])
    if region != "cn-north-1" or "FIPS" not in variables  # China has no FIPS endpoints
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
        get_object(client, arrival)
    client.meta.events.unregister("before-send.s3.GetObject", see)
    return urls[0]


def key_of(get: SignedGet) -> str:
    """The access key with its scope."""
    [signed] = [line for line in get.headers if line.startswith("Authorization: ")]
    return signed.partition("Credential=")[2].partition(",")[0]


def same_place(client: S3Client, arrival: ObjectCreated) -> None:
    """The signed request and botocore's have URL and signer in common."""
    region = client.meta.region_name
    get = SignedRequests.of_region(region).get_of(arrival)
    assert re.fullmatch(rf"testing/\d{{8}}/{region}/s3/aws4_request", key_of(get))
    plain = asked_by_botocore(client, arrival)
    if region not in RARE or ".dualstack." not in plain:  # botocore names another there
        other = SignedRequests.of_client(client).get_of(arrival).url
        assert urlsplit(other).netloc == urlsplit(get.url).netloc
    assert get.url == plain


@pytest.fixture(autouse=True)
def _new_session() -> Iterator[None]:
    """Read the environment again."""
    _session.cache_clear()
    yield
    _session.cache_clear()


@pytest.mark.parametrize(("region", "variables"), PLACES)
def test_an_address_goes_where_botocore_goes(
    region: str, variables: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Region, style, dual stack and FIPS are botocore's: never the global endpoint."""
    for variable in variables:
        monkeypatch.setenv(f"AWS_USE_{variable}_ENDPOINT", "true")
    config = deepcopy(CLIENT_CONFIG)  # botocore changes it for dual stack
    client = boto3.Session().client("s3", region_name=region, config=config)
    for bucket in BUCKETS:
        same_place(client, replace(ARRIVAL, bucket=bucket))


DATA: Final = Path(__file__).with_name("data") / "aws_s3_endpoints.json"
ENDPOINTS: Final = json.loads(DATA.read_text("utf-8"))["vectors"]


@pytest.mark.parametrize("vector", ENDPOINTS, ids=lambda vector: vector["url"])
def test_aws_s_own_endpoints(vector: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples in AWS's endpoint rules of S3 for buckets that can be attached."""
    for variable in ("DUALSTACK", "FIPS"):
        monkeypatch.setenv(f"AWS_USE_{variable}_ENDPOINT", str(vector[variable.lower()]))
    requests = SignedRequests.of_region(vector["region"])
    get = requests.get_of(replace(ARRIVAL, bucket=vector["bucket"], version_id=None))
    assert get.url == f"{vector['url']}/dir/key"


@pytest.mark.parametrize("version_id", [None, "null", "v/1+2="])
def test_an_address_names_key_and_version(version_id: str | None) -> None:
    """The request for any key has the same path as botocore's request."""
    client = boto3.client("s3", config=CLIENT_CONFIG)
    for key in KEYS:
        same_place(client, replace(ARRIVAL, key=key, version_id=version_id))


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:4566",
        "https://example.com/store/",
        "https://s3.eu-west-1.amazonaws.com/",
        "https://s3.eu-central-1.amazonaws.com/a",
    ],
)
@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "profile"])
@pytest.mark.parametrize("ignored", ["false", "true"])
def test_a_configured_endpoint_is_used_unless_it_is_to_be_ignored(
    url: str, variable: str, ignored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signature goes to no server that botocore would not ask."""
    (tmp_path / "config").write_text(f"[default]\nendpoint_url = {url}\n", "utf-8")
    monkeypatch.setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", ignored)
    if variable == "profile":
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    else:
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        monkeypatch.setenv(variable, url)
    same_place(boto3.Session().client("s3", config=CLIENT_CONFIG), ARRIVAL)


def test_a_client_s_own_keys_and_endpoint_sign() -> None:
    """So that a profile with a role, which only boto3's session can assume, is used."""
    client = boto3.client("s3", "eu-west-3", aws_access_key_id="OWN", aws_secret_access_key="S")
    get = SignedRequests.of_client(client).get_of(ARRIVAL)
    assert urlsplit(get.url).netloc == "a-bucket.s3.eu-west-3.amazonaws.com"
    assert key_of(get).startswith("OWN/")


def test_without_credentials_nothing_is_signed() -> None:
    """The reader then asks botocore, whose error names what is missing."""
    with pytest.raises(NoCredentialsError):
        SignedRequests("https://example.com", "eu-west-1", None).get_of(ARRIVAL)
