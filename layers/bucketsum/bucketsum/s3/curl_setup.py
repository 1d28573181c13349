"""How botocore would reach S3 → how libcurl shall: the same authorities, proxies and patience."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.httpsession import ProxyConfiguration, get_cert_path
from botocore.utils import get_environ_proxies

from bucketsum.s3.curl_connections import TransportConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_s3 import S3Client


def transport_config(s3: S3Client, env: Mapping[str, str]) -> TransportConfig | None:
    """What *s3* does by its configuration and by *env*; None where libcurl is not to do it.

    That is where the client shows a certificate of its own, to S3 or to a proxy.
    """
    config: Any = s3.meta.config  # its stubs do not tell its options
    if config.client_cert or config.proxies_config:
        return None
    found = config.proxies
    if found is None:
        found = get_environ_proxies(s3.meta.endpoint_url)
    proxies = ProxyConfiguration(found)
    bundle = env.get("AWS_CA_BUNDLE") or env.get("REQUESTS_CA_BUNDLE")
    return TransportConfig(
        ca_bundle=bundle or str(get_cert_path(verify=True)),
        connect_seconds=float(config.connect_timeout),
        silent_seconds=float(config.read_timeout),
        proxy_of=lambda url: proxies.proxy_url_for(url) or "",
    )
