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
from botocore.credentials import Credentials
from botocore.session import Session
from hypothesis import given
from hypothesis import strategies as st

from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3 import sigv4
from bucketsum.s3.curl_setup import SignedUrls
from bucketsum.s3.sigv4 import Signer
from bucketsum.s3.source import CLIENT_CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_s3 import S3Client

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
        config=CLIENT_CONFIG,
        aws_access_key_id="AK",
        aws_secret_access_key="SK",
        aws_session_token=token,
    )
    return client


def created(key: str, version_id: str | None) -> ObjectCreated:
    """An object of the test's bucket."""
    return ObjectCreated("a-bucket", key, version_id, "etag", 1, sequencer="", event_time="")


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


@pytest.mark.parametrize("token", [None, "a token/with+signs=="])
@given(data=st.data())
def test_urls_are_signed_as_by_botocore(token: str | None, data: st.DataObject) -> None:
    """The second URL of a bucket, which botocore does not sign, is the one that it would sign."""
    credentials = Credentials("AK", "SK", token)
    client = client_of(token)
    urls, by_botocore = SignedUrls(client, credentials), SignedUrls(client)
    assert urls.url_of(created("first", None)) == by_botocore.url_of(created("first", None))
    calls: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            client, "generate_presigned_url", lambda *_, **__: calls.append("by botocore")
        )
        second = created(data.draw(KEYS), data.draw(VERSIONS))
        ours = urlsplit(urls.url_of(second))
    assert calls == []
    theirs = urlsplit(by_botocore.url_of(second))
    assert ours[:3] == theirs[:3]
    assert sorted(parse_qsl(ours.query)) == sorted(parse_qsl(theirs.query))


def test_other_credentials_leave_signing_to_botocore() -> None:
    """A URL that we cannot make in the same way is never made by us."""
    client = client_of()
    urls = SignedUrls(client, Credentials("AK", "another secret"))
    plain = SignedUrls(client)
    for key in ("first", "second"):
        assert urls.url_of(created(key, None)) == plain.url_of(created(key, None))


def test_a_forgotten_bucket_is_signed_by_botocore_again() -> None:
    """It may know another Region of the bucket since."""
    credentials = Credentials("AK", "SK")
    client = client_of()
    urls = SignedUrls(client, credentials)
    urls.url_of(created("first", None))
    urls.forget("a-bucket")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "generate_presigned_url", lambda *_, **__: "https://elsewhere/second")
        assert urls.url_of(created("second", None)) == "https://elsewhere/second"
