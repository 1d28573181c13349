"""AWS's S3 client in C: parallel ranges, passed on in order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from awscrt import auth, http, io, s3

if TYPE_CHECKING:
    from bench.readers.harness import ReadTarget


def get_object(
    target: ReadTarget, part_bytes: int, gbit_per_s: float
) -> Callable[[], tuple[int, str]]:
    """A GET of the CRT's S3 client; *gbit_per_s* is its target throughput."""
    group = io.EventLoopGroup()
    bootstrap = io.ClientBootstrap(group, io.DefaultHostResolver(group))
    tls = io.TlsContextOptions()
    tls.override_default_trust_store_from_path(ca_filepath=target.certificates)
    host = str(urlsplit(target.endpoint).hostname)
    connection = io.ClientTlsContext(tls).new_connection_options()
    client = s3.S3Client(
        bootstrap=bootstrap,
        region="us-east-1",
        credential_provider=auth.AwsCredentialsProvider.new_environment(),
        tls_connection_options=connection,
        part_size=part_bytes,
        throughput_target_gbps=gbit_per_s,
    )

    def read() -> tuple[int, str]:
        sha1, sizes = hashlib.sha1(usedforsecurity=False), []

        def on_body(chunk: bytes, offset: int, **_: object) -> None:  # noqa: ARG001 - its signature
            sha1.update(chunk)
            sizes.append(len(chunk))

        request = http.HttpRequest(
            "GET",
            f"/{target.bucket}/{target.key}",
            http.HttpHeaders([("host", host)]),
        )
        transfer = client.make_request(
            type=s3.S3RequestType.GET_OBJECT, request=request, on_body=on_body
        )
        transfer.finished_future.result()
        return sum(sizes), sha1.hexdigest()

    return read
