"""Connecting over TLS: trusted authorities, and the cost of reading them."""

import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any, Final

import pytest
from botocore.config import Config
from botocore.exceptions import SSLError
from mypy_boto3_s3 import S3Client
from tests.support.s3_faults import Fault
from tests.support.s3_server import hostile_s3
from tests.support.tls import own_tls

from bucketsum.invocation.clients import client_of, speed_up_botocore

ONCE: Final = Config(retries={"mode": "standard", "total_max_attempts": 1})
CONNECTIONS: Final = 4


def client_at(endpoint_url: str, trusted: Path, monkeypatch: pytest.MonkeyPatch) -> S3Client:
    """A client as the hasher's, which trusts the authorities in the file *trusted*."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", endpoint_url)
    monkeypatch.setenv("AWS_CA_BUNDLE", str(trusted))
    speed_up_botocore()
    return client_of("s3", ONCE)


def test_authorities_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections that are opened at the same time read the CA bundle once together.

    Otherwise each takes 12 ms more of CPU; this fails if botocore renames its contexts.
    """
    context, trusted = own_tls(tmp_path)
    read = []

    def counted(self: ssl.SSLContext, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as ssl's
        read.append(args)
        time.sleep(0.05)  # meanwhile the other connections start
        super(ssl.SSLContext, self).load_verify_locations(*args, **kwargs)

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", counted, raising=False)
    together = Barrier(CONNECTIONS, timeout=60)
    with hostile_s3(context) as server, ThreadPoolExecutor(CONNECTIONS) as pool:
        server.put("inbox/a", b"content")
        server.always = Fault(pause=lambda _: together.wait())
        client = client_at(server.endpoint_url, trusted, monkeypatch)
        requests = [
            pool.submit(client.get_object, Bucket="inbox", Key="a") for _ in range(CONNECTIONS)
        ]
        contents = [request.result()["Body"].read() for request in requests]
        assert contents == [b"content"] * CONNECTIONS
        assert server.connections == CONNECTIONS
        client.close()
    assert len(read) == 1


def test_others_are_still_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server with another authority is refused, also after a trusted server."""
    (tmp_path / "own").mkdir()
    (tmp_path / "other").mkdir()
    context, trusted = own_tls(tmp_path / "own")
    other, _ = own_tls(tmp_path / "other")
    with hostile_s3(context) as server, hostile_s3(other) as impostor:
        for endpoint in (server, impostor):
            endpoint.put("inbox/a", b"content")
        client = client_at(server.endpoint_url, trusted, monkeypatch)
        assert client.get_object(Bucket="inbox", Key="a")["Body"].read() == b"content"
        client.close()
        client = client_at(impostor.endpoint_url, trusted, monkeypatch)
        with pytest.raises(SSLError, match="certificate verify failed"):
            client.get_object(Bucket="inbox", Key="a")
        client.close()
