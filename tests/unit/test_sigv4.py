"""Our signatures are botocore's, byte for byte."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

import pytest
from botocore import auth
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.compat import HAS_CRT
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.session import Session
from hypothesis import given
from hypothesis import strategies as st

from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3 import sigv4
from bucketsum.s3.signed_urls import SignedUrls
from bucketsum.s3.sigv4 import Signer
from bucketsum.s3.source import CLIENT_CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_s3 import S3Client

ENDPOINT_URL: Final = "https://s3.example.com"
HEADERS: Final = {
    "content-type": "application/x-amz-json-1.0",
    "x-amz-target": "DynamoDB_20120810.PutItem",
}
TOKENS: Final = st.sampled_from([None, "a token/with+signs=="])


@pytest.fixture(autouse=True, scope="module")
def one_second() -> Iterator[None]:
    """Let botocore sign with our clock, which stands still."""
    moment = "2026-11-21T23:59:59.999Z"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sigv4, "now", lambda: moment)
        frozen = datetime.fromisoformat(moment)
        patch.setattr(auth, "get_current_datetime", lambda **_: frozen)
        if HAS_CRT:  # then botocore signs URLs by AWS's Common Runtime
            patch.setattr("botocore.crt.auth.get_current_datetime", lambda **_: frozen)
        yield


@cache
def client_of(token: str | None = None) -> S3Client:
    """Botocore's own client, with the credentials ``AK``, ``SK`` and *token*."""
    session: Any = Session()  # without types
    client: S3Client = session.create_client(
        "s3",
        region_name="eu-central-1",
        endpoint_url=ENDPOINT_URL,
        config=CLIENT_CONFIG.merge(Config(signature_version="s3v4")),
        aws_access_key_id="AK",
        aws_secret_access_key="SK",
        aws_session_token=token,
    )
    return client


@given(body=st.binary(max_size=50), token=TOKENS)
@pytest.mark.parametrize("url", ["https://Example.com:443/", "http://127.0.0.1:8000"])
def test_a_post_is_signed_as_by_botocore(url: str, body: bytes, token: str | None) -> None:
    """Every header that botocore signs has the same value, and so has the signature."""
    credentials = Credentials("AK", "SK", token)
    signer = Signer(credentials, url, "eu-central-1", "dynamodb")
    request = AWSRequest("POST", f"{signer.url}/", headers=dict(HEADERS), data=body)
    SigV4Auth(credentials, "dynamodb", "eu-central-1").add_auth(request)
    ours = dict(line.split(":", 1) for line in signer.headers_of(HEADERS, body))
    theirs = {name.lower(): value for name, value in request.headers.items()}
    assert ours.pop("host") == urlsplit(signer.url).netloc
    assert ours.pop("Authorization").strip() == theirs.pop("authorization")
    assert ours == theirs


KEYS: Final = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
VERSIONS: Final = st.sampled_from([None, "null", "v/1+2=="])


@given(key=KEYS, version_id=VERSIONS)
@pytest.mark.parametrize("token", [None, "a token/with+signs=="])
def test_urls_are_signed_as_by_botocore(
    token: str | None, key: str, version_id: str | None
) -> None:
    """The URL of an object is the one that botocore would sign."""
    version = {"VersionId": version_id} if version_id else {}
    by_botocore = client_of(token).generate_presigned_url(
        "get_object", Params={"Bucket": "a-bucket", "Key": key, **version}, ExpiresIn=3600
    )
    urls = SignedUrls(ENDPOINT_URL, "eu-central-1", Credentials("AK", "SK", token))
    created = ObjectCreated("a-bucket", key, version_id, "etag", 1, sequencer="", event_time="")
    ours, theirs = urlsplit(urls.url_of(created)), urlsplit(by_botocore)
    assert ours[:3] == theirs[:3]
    assert sorted(parse_qsl(ours.query)) == sorted(parse_qsl(theirs.query))
