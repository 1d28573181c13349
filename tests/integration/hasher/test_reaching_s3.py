"""Connections to S3: authorities, proxies, stale connections, expired credentials."""

import logging
import time
import traceback
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain, count, repeat
from pathlib import Path
from typing import Final
from unittest.mock import Mock
from urllib.parse import urlsplit

import boto3
import botocore.session
import pytest
from botocore.config import Config
from botocore.credentials import RefreshableCredentials
from botocore.exceptions import NoCredentialsError
from mypy_boto3_s3 import S3Client
from tests.integration.hasher.connect_proxy import connect_proxy
from tests.integration.hasher.reading import (
    BODY,
    PATH,
    Reader,
    arrival_of,
    every_reader,
    put_at,
    s3_client,
    transport_of,
)
from tests.support.s3_faults import HEALTHY, Fault
from tests.support.s3_server import HostileS3, hostile_s3
from tests.support.tls import own_tls

from bucketsum.errors import BucketsumError, SourceUnavailable
from bucketsum.s3.chosen_reader import reader as best_reader
from bucketsum.s3.curl_connections import Connections
from bucketsum.s3.read_plan import ReadPolicy
from bucketsum.s3.response_head import ResponseHead
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.source import CLIENT_CONFIG

NOWHERE: Final = "http://127.0.0.1:9"
HIDDEN: Final = "http://s3.example.invalid"
STREAM: Final = Reader(1)
RANGES: Final = Reader(3)
libcurls = pytest.mark.parametrize("reader", [STREAM, RANGES], ids=["stream", "ranges"])


@every_reader
def test_the_authority_that_the_environment_names_is_trusted(
    tmp_path: Path, reader: Reader
) -> None:
    """TLS works with a certificate of one's own, and libcurl uses it, not only botocore."""
    context, authority = own_tls(tmp_path)
    with (
        hostile_s3(context) as s3,
        s3_client(s3.endpoint_url, verify=str(authority)) as client,
    ):
        content = replace(reader, verify=str(authority)).content_of(client, s3.put(PATH, BODY))
        assert content == BODY
        assert {request.by_libcurl for request in s3.requests} == {reader.streams > 0}


@every_reader
def test_an_authority_that_nobody_trusts(tmp_path: Path, reader: Reader) -> None:
    """Not a byte is asked of a server whose certificate is not vouched for, by either client."""
    context, _ = own_tls(tmp_path)
    with hostile_s3(context) as s3, s3_client(s3.endpoint_url) as client:
        with pytest.raises(SourceUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            reader.content_of(client, s3.put(PATH, BODY))
        assert s3.requests == []


@pytest.mark.parametrize("name", ["AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"])
def test_authorities_are_named_as_botocore_has_them_named(client: S3Client, name: str) -> None:
    """AWS's variable comes first, then that of requests, then botocore's own bundle."""
    access = transport_of(client, {name: "/a/bundle"})
    other = transport_of(client, {"REQUESTS_CA_BUNDLE": "/other", name: "/a/bundle"})
    plain = transport_of(client, {})
    assert (access.ca_bundle, other.ca_bundle) == ("/a/bundle", "/a/bundle")
    assert plain.ca_bundle.endswith(".pem")


def test_patience_is_botocore_s(hostile: HostileS3) -> None:
    """The time-outs are those of the client's configuration."""
    with s3_client(hostile.endpoint_url, Config(connect_timeout=3, read_timeout=0.3)) as client:
        access = transport_of(client, {})
    assert (access.connect_timeout_seconds, access.read_timeout_seconds) == (3.0, 0.3)


def test_only_silence_counts_as_waiting(hostile: HostileS3, client: S3Client) -> None:
    """A response may take longer than the read time-out, as long as bytes come.

    Its connection may have brought more bytes before.
    """
    requests = SignedRequests.of_client(client)
    gets = [requests.get_of(put_at(hostile, key)) for key in ("whole", "long")]
    hostile.script(
        HEALTHY, Fault(piece_bytes=1000, pause=lambda sent: hostile.stall(sent) if sent else None)
    )
    config = transport_of(client, {})
    connections = Connections(config)
    whole = connections.start(*gets[0])
    while not whole.ended:
        connections.wait_for(whole)
        connections.advance()
    transfer = connections.start(*gets[1])
    while not transfer.head_complete:
        connections.wait_for(transfer)
        connections.advance()
    transfer.waited_seconds = config.read_timeout_seconds  # until these bytes came
    hostile.resume()
    connections.wait_for(transfer)
    connections.drop_all()
    assert not transfer.failure


def test_a_response_that_is_too_long_brings_nothing(hostile: HostileS3, client: S3Client) -> None:
    """It ends after its headers, with all of them; the next request has no limit."""
    stored = hostile.put(PATH, BODY)
    get = SignedRequests.of_client(client).get_of(arrival_of(stored))
    config = transport_of(client, {})
    connections = Connections(config)
    received = []
    for bytes_max in (len(BODY) - 1, len(BODY), 0):
        transfer = connections.start(*get, bytes_max=bytes_max)
        while not transfer.ended:
            connections.wait_for(transfer)
            connections.advance()
        assert ResponseHead.of(transfer.lines).length == len(BODY)
        received.append(b"".join(transfer.pieces))
    assert received == [b"", BODY, BODY]


@every_reader
@pytest.mark.parametrize(
    ("endpoint", "proxy", "exceptions"),
    [
        (HIDDEN, "", ""),
        (NOWHERE, "", "127.0.0.0/8"),
        *(("", NOWHERE, hosts) for hosts in ("127.0.0.1", "*", "example.com,127.0.0.1")),
    ],
)
def test_a_proxy_is_used_as_botocore_uses_it(
    hostile: HostileS3,
    monkeypatch: pytest.MonkeyPatch,
    endpoint: str,
    proxy: str,
    exceptions: str,
    reader: Reader,
) -> None:
    """The proxy in `HTTP_PROXY` is used unless botocore finds the host in `NO_PROXY`.

    Only the proxy may know the host. Networks in `NO_PROXY` mean nothing to botocore, and so
    nothing to us; what it understands counts also where libcurl alone would not understand it.
    """
    monkeypatch.setenv("HTTP_PROXY", proxy or hostile.endpoint_url)
    monkeypatch.setenv("NO_PROXY", exceptions)
    with s3_client(endpoint or hostile.endpoint_url) as client:
        assert reader.content_of(client, hostile.put(PATH, BODY)) == BODY
    host = urlsplit(endpoint or hostile.endpoint_url).netloc
    assert {request.headers["host"] for request in hostile.requests} == {host}
    assert {request.by_libcurl for request in hostile.requests} == {reader.streams > 0}


@every_reader
def test_a_tunnel_is_opened_for_https(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader
) -> None:
    """A proxy's own answer, which comes before S3's, is not taken for it."""
    context, authority = own_tls(tmp_path)
    with hostile_s3(context) as s3, connect_proxy() as (proxy, tunnels):
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        with s3_client(s3.endpoint_url, verify=str(authority)) as client:
            trusting = replace(reader, verify=str(authority))
            assert trusting.content_of(client, s3.put(PATH, BODY)) == BODY
        assert set(tunnels) == {s3.endpoint_url.removeprefix("https://")}
        assert {request.by_libcurl for request in s3.requests} == {reader.streams > 0}


@every_reader
def test_a_proxy_that_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader
) -> None:
    """Nothing is known of the object then: try again later."""
    context, authority = own_tls(tmp_path)
    with hostile_s3(context) as s3, connect_proxy(refuses=True) as (proxy, tunnels):
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        with (
            s3_client(s3.endpoint_url, verify=str(authority)) as client,
            pytest.raises(SourceUnavailable, match="could not be reached"),
        ):
            replace(reader, verify=str(authority)).content_of(client, s3.put(PATH, BODY))
        assert tunnels
        assert s3.requests == []


@libcurls
@pytest.mark.parametrize("gently", [True, False], ids=["closed", "reset"])
def test_a_connection_that_the_other_side_has_closed_is_not_missed(
    hostile: HostileS3, client: S3Client, reader: Reader, *, gently: bool
) -> None:
    """A connection kept open over a pause, as Lambda freezes them, is replaced without a word."""
    source = reader.source(client)
    stored = hostile.put(PATH, BODY)
    hostile.always = Fault(cut_after=len(BODY), gently=gently)
    assert b"".join(source.open(arrival_of(stored)).chunks) == BODY
    hostile.always = HEALTHY
    assert b"".join(source.open(arrival_of(stored)).chunks) == BODY
    assert all(request.by_libcurl for request in hostile.requests)


@libcurls
def test_a_connection_that_dies_when_it_is_used_again(
    hostile: HostileS3, client: S3Client, reader: Reader
) -> None:
    """One that looks alive and is not costs one more request, and is not a failure."""
    source = reader.source(client)
    stored = hostile.put(PATH, BODY)
    assert b"".join(source.open(arrival_of(stored)).chunks) == BODY
    before = len(hostile.requests)
    hostile.script(Fault(hang_up=True))
    assert b"".join(source.open(arrival_of(stored)).chunks) == BODY
    assert len(hostile.requests) == 2 * before + 1
    assert all(request.by_libcurl for request in hostile.requests)


@every_reader
@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_is_for_botocore(
    hostile: HostileS3, client: S3Client, status: int, reader: Reader
) -> None:
    """Libcurl follows none: which host may have the credentials is not a server's to say."""
    hostile.always = Fault(refuse=(status, "TemporaryRedirect", "Elsewhere."))
    with pytest.raises(SourceUnavailable, match="Redirect"):
        reader.content_of(client, hostile.put(PATH, BODY))
    gets = [request for request in hostile.requests if request.method == "GET"]
    assert len(gets) <= reader.streams + 1
    assert not all(request.by_libcurl for request in hostile.requests)


def expiring_client(endpoint_url: str) -> S3Client:
    """A client whose credentials are new each time that something is signed with them."""
    numbers = count(1)

    def fresh() -> dict[str, str]:
        soon = datetime.now(UTC) + timedelta(minutes=1)  # within the time of botocore's refresh
        number = next(numbers)
        return {
            "access_key": f"KEY{number}",
            "secret_key": "secret",
            "token": "token",
            "expiry_time": soon.isoformat(),
        }

    class Provider:
        def load_credentials(self) -> RefreshableCredentials:
            return RefreshableCredentials.create_from_metadata(fresh(), fresh, "test")

    session = botocore.session.get_session()
    session.register_component("credential_provider", Provider())
    boto = boto3.Session(botocore_session=session)
    return boto.client("s3", endpoint_url=endpoint_url, config=CLIENT_CONFIG)


def keys_of(hostile: HostileS3) -> list[str]:
    """With which access key each request was signed."""
    signed = [request.headers["authorization"] for request in hostile.requests]
    return [text.partition("Credential=")[2].partition("/")[0] for text in signed]


def test_each_request_is_signed_with_the_credentials_of_then(hostile: HostileS3) -> None:
    """Credentials may expire while an object is read."""
    client = expiring_client(hostile.endpoint_url)
    hostile.script(Fault(cut_after=4000, gently=True))
    assert STREAM.content_of(client, hostile.put(PATH, BODY)) == BODY
    first, again = keys_of(hostile)
    assert first != again
    assert hostile.requests[-1].headers["range"] == "bytes=4000-"
    client.close()


@pytest.mark.parametrize("refusals", [1, 99])
def test_a_refused_continuation_is_for_botocore(hostile: HostileS3, refusals: int) -> None:
    """It has newer credentials by then, or says what the matter is."""
    client = expiring_client(hostile.endpoint_url)
    expired = Fault(refuse=(403, "ExpiredToken", "Expired."))
    hostile.script(Fault(cut_after=4000, gently=True), *[expired] * refusals)
    stored = hostile.put(PATH, BODY)
    with nullcontext() if refusals == 1 else pytest.raises(SourceUnavailable, match="ExpiredToken"):
        assert STREAM.content_of(client, stored) == BODY
    assert [request.by_libcurl for request in hostile.requests].count(True) == 2
    client.close()


FAILURES: Final = {
    "denied": Fault(refuse=(403, "AccessDenied", "Access Denied")),
    "throttled": Fault(refuse=(503, "SlowDown", "Please reduce your request rate.")),
    "elsewhere": Fault(refuse=(301, "PermanentRedirect", "Elsewhere.")),
    "gone": Fault(refuse=(404, "NoSuchKey", "Gone.")),
    "no answer": Fault(hang_up=True),
    "reset": Fault(cut_after=100),
    "closed": Fault(cut_after=100, gently=True),
    "another object": Fault(ignore_conditions=True, headers={"ETag": '"other"'}),
}


@libcurls
@pytest.mark.parametrize("fault", FAILURES.values(), ids=FAILURES)
def test_no_signature_is_told(
    hostile: HostileS3,
    client: S3Client,
    caplog: pytest.LogCaptureFixture,
    fault: Fault,
    reader: Reader,
) -> None:
    """It is a credential for 15 minutes: neither errors nor our log have one, at any level."""
    caplog.set_level(logging.DEBUG, "bucketsum")
    hostile.always = fault
    with pytest.raises(BucketsumError) as caught:
        reader.content_of(client, hostile.put(PATH, BODY))
    signature = hostile.requests[0].headers["authorization"].partition("Signature=")[2]
    assert len(signature) == 64
    assert "X-Amz-" not in hostile.requests[0].query
    texts = "".join(traceback.format_exception(caught.value))
    texts += "".join(record.getMessage() for record in caplog.records if "bucketsum" in record.name)
    assert "Credential=" not in texts
    assert signature not in texts


@pytest.mark.parametrize("signed", [0, 1])
def test_botocore_reads_if_a_request_cannot_be_signed(
    hostile: HostileS3, client: S3Client, signed: int
) -> None:
    """It says which credentials are missing, or has found some by then."""
    hostile.script(*[Fault(cut_after=5000, gently=True)] * signed)
    stored = hostile.put(PATH, BODY)
    requests = SignedRequests.of_client(client)
    gets = chain([requests.get_of(arrival_of(stored))] * signed, repeat(NoCredentialsError()))
    signer = Mock(requests, endpoint_url=requests.endpoint_url, get_of=Mock(side_effect=gets))
    source = best_reader(client, signer, ReadPolicy(1, 4096, 128), {})
    assert b"".join(source.open(arrival_of(stored)).chunks) == BODY
    assert not hostile.requests[-1].by_libcurl


def test_functions_read_over_libcurl(hostile: HostileS3, client: S3Client) -> None:
    """The functions read over libcurl; a change of the choice cannot go unseen."""
    source = best_reader(client, SignedRequests.of_client(client), ReadPolicy(1, 4096, 128), {})
    assert b"".join(source.open(arrival_of(hostile.put(PATH, BODY))).chunks) == BODY
    assert all(request.by_libcurl for request in hostile.requests)


def test_a_connection_that_was_idle_for_long_is_not_used_again(
    hostile: HostileS3, client: S3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3 closes such connections, or answers the next request on them with an error."""
    monkeypatch.setattr("bucketsum.s3.curl_connections.IDLE_SECONDS_MAX", 3)
    source, stored = STREAM.source(client), hostile.put(PATH, BODY)
    for pause_seconds in (0, 0, 4.5):  # libcurl counts whole seconds
        time.sleep(pause_seconds)
        assert b"".join(source.open(arrival_of(stored)).chunks) == BODY
    assert hostile.connections == 2
