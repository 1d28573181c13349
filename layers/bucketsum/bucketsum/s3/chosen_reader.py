"""The functions' choice of a reader: libcurl, as botocore would connect, and botocore itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from botocore.httpsession import ProxyConfiguration, get_cert_path
from botocore.utils import get_environ_proxies

from bucketsum.s3.botocore_reader import BotocoreReader
from bucketsum.s3.curl_connections import TransportConfig
from bucketsum.s3.curl_reader import CurlReader
from bucketsum.s3.read_plan import ReadPolicy
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.source import CLIENT_CONFIG

if TYPE_CHECKING:
    from botocore.config import Config
    from mypy_boto3_s3 import S3Client


def transport_config(
    endpoint_url: str, env: Mapping[str, str], config: Config = CLIENT_CONFIG
) -> TransportConfig:
    """The transport configuration of a client with *config* and *env*."""
    timeouts: Any = config  # the stubs do not declare its options
    proxies = ProxyConfiguration(get_environ_proxies(endpoint_url))
    bundle = env.get("AWS_CA_BUNDLE") or env.get("REQUESTS_CA_BUNDLE")
    return TransportConfig(
        ca_bundle=bundle or str(get_cert_path(verify=True)),
        connect_timeout_seconds=float(timeouts.connect_timeout),
        read_timeout_seconds=float(timeouts.read_timeout),
        proxy_of=lambda url: proxies.proxy_url_for(url) or "",
    )


def reader(
    s3: S3Client, requests: SignedRequests, policy: ReadPolicy, env: Mapping[str, str]
) -> CurlReader:
    """A source over libcurl, and over botocore for unusual responses.

    *s3* has `CLIENT_CONFIG`. *env* may set `AWS_CA_BUNDLE` and `REQUESTS_CA_BUNDLE`, as for
    botocore.
    """
    config = transport_config(requests.endpoint_url, env)
    return CurlReader(requests, config, policy.plan_for, BotocoreReader(s3, policy.chunk_bytes))
