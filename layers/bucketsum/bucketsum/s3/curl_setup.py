"""Give libcurl botocore's signed URLs, CA bundle, proxies and time-outs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from botocore.httpsession import ProxyConfiguration, get_cert_path
from botocore.utils import get_environ_proxies

from bucketsum.s3.curl_connections import TransportConfig

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from mypy_boto3_s3 import S3Client

    from bucketsum.notifications import ObjectCreated

_VALID_SECONDS: Final = 3600
"""Longer than an invocation (900 s) plus the clock skew that S3 accepts (900 s)."""


class SignedUrls:
    """Signs URLs with botocore: its endpoint, and its credentials, which it refreshes.

    A signed URL is as good as a password while it is valid. It goes to libcurl and nowhere else:
    not into a log, not into an error's text. Only the host is signed, so one URL serves the whole
    object and every range of it, with or without If-Match: S3 requires only headers whose names
    begin with ``x-amz-`` to be signed.
    """

    def __init__(self, s3: S3Client) -> None:
        """Sign with *s3*, a client configured with `CLIENT_CONFIG`."""
        self._s3 = s3
        s3.meta.events.register_last(
            "before-parameter-build.s3.GetObject",
            _use_regional_endpoint,
            unique_id="bucketsum-use-regional-endpoint",
        )

    def url_of(self, created: ObjectCreated) -> str:
        """The signed URL of exactly the version that was created.

        Raises:
            BotoCoreError: There are no credentials, or no such endpoint.
        """
        params: dict[str, Any] = {"Bucket": created.bucket, "Key": created.key}
        if created.version_id:
            params["VersionId"] = created.version_id
        return self._s3.generate_presigned_url(
            "get_object", Params=params, ExpiresIn=_VALID_SECONDS
        )


def _use_regional_endpoint(context: MutableMapping[str, Any], **_: object) -> None:
    """Sign for the Region's endpoint, which botocore requests, not for the global one."""
    if "use_global_endpoint" in context:
        context["use_global_endpoint"] = False


def transport_config(s3: S3Client, env: Mapping[str, str]) -> TransportConfig | None:
    """The transport configuration of *s3* and *env*; None if libcurl must not be used.

    It must not if the client shows a certificate of its own, to S3 or to a proxy.
    """
    config: Any = s3.meta.config  # the stubs do not declare its options
    if config.client_cert or config.proxies_config:
        return None
    urls = config.proxies
    if urls is None:
        urls = get_environ_proxies(s3.meta.endpoint_url)
    proxies = ProxyConfiguration(urls)
    bundle = env.get("AWS_CA_BUNDLE") or env.get("REQUESTS_CA_BUNDLE")
    return TransportConfig(
        ca_bundle=bundle or str(get_cert_path(verify=True)),
        connect_timeout_seconds=float(config.connect_timeout),
        read_timeout_seconds=float(config.read_timeout),
        proxy_of=lambda url: proxies.proxy_url_for(url) or "",
    )
