"""Our signatures are botocore's and those of AWS's own examples, byte for byte."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from botocore import auth
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3 import sigv4
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.sigv4 import Signer

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
        yield


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


@given(key=KEYS, version_id=VERSIONS, token=TOKENS)
def test_a_get_is_signed_as_by_botocore(
    key: str, version_id: str | None, token: str | None
) -> None:
    """Every header that botocore signs for S3 has the same value, and so has the signature."""
    credentials = Credentials("AK", "SK", token)
    requests = SignedRequests(ENDPOINT_URL, "eu-central-1", credentials)
    created = ObjectCreated("a-bucket", key, version_id, None, 1, sequencer="", event_time="")
    get = requests.get_of(created)
    request = AWSRequest("GET", get.url)
    S3SigV4Auth(credentials, "s3", "eu-central-1").add_auth(request)
    ours = dict(line.split(":", 1) for line in get.headers)
    theirs = {name.lower(): value for name, value in request.headers.items()}
    assert ours.pop("host") == urlsplit(ENDPOINT_URL).netloc
    assert ours.pop("Authorization").strip() == theirs.pop("authorization")
    assert ours == theirs


DATA: Final = Path(__file__).with_name("data") / "aws_sigv4.json"
VECTORS: Final = json.loads(DATA.read_text("utf-8"))["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_aws_s_own_examples(vector: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS's test suite of Signature Version 4, as far as our requests have its forms."""
    monkeypatch.setattr(sigv4, "now", lambda: "2015-08-30T12:36:00Z")
    secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    credentials = Credentials("AKIDEXAMPLE", secret, vector["token"])
    signer = Signer(credentials, "https://example.amazonaws.com", "us-east-1", "service")
    *_, proof = signer.headers_of(
        vector["headers"],
        vector["body"].encode(),
        method=vector["method"],
        path=vector["path"],
        query=vector["query"],
    )
    assert proof == f"Authorization: {vector['authorization']}"
