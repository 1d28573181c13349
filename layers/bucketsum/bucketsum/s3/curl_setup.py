"""Give libcurl botocore's signed URLs, CA bundle, proxies and time-outs."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, quote, urlsplit

from botocore.httpsession import ProxyConfiguration, get_cert_path
from botocore.utils import get_environ_proxies

from bucketsum.s3.curl_connections import TransportConfig
from bucketsum.s3.sigv4 import Signer

if TYPE_CHECKING:
    from botocore.credentials import Credentials
    from mypy_boto3_s3 import S3Client

    from bucketsum.events.object_events import ObjectCreated

_VALID_SECONDS: Final = 3600
"""Longer than an invocation (900 s) plus the clock skew that S3 accepts (900 s)."""

_BUCKETS_MAX: Final = 1000
_SCOPE_PARTS: Final = 5


@dataclass(frozen=True, slots=True)
class _BucketUrls:
    """Signs URLs of one bucket, in the form of the first URL that botocore signed for it.

    Attributes:
        prefix: Path before an object's key.
    """

    signer: Signer
    prefix: str

    @classmethod
    def of(
        cls, url: str, created: ObjectCreated, credentials: Credentials | None
    ) -> _BucketUrls | None:
        """Derive it from botocore's *url* of *created*; None if it does not give the same URL."""
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query))
        scope = query.get("X-Amz-Credential", "").split("/")
        path = _quoted(created.key)
        if credentials is None or len(scope) != _SCOPE_PARTS or not parts.path.endswith(path):
            return None
        signer = Signer(credentials, url, scope[2], "s3")
        urls = cls(signer, parts.path.removesuffix(path))
        ours = urlsplit(urls.url_of(created, query["X-Amz-Date"]))
        same = ours[:3] == parts[:3] and dict(parse_qsl(ours.query)) == query
        return urls if same else None

    def url_of(self, created: ObjectCreated, timestamp: str = "") -> str:
        """The signed URL of *created*."""
        query = {"X-Amz-Expires": str(_VALID_SECONDS)}
        if created.version_id:
            query["versionId"] = created.version_id
        path = self.prefix + _quoted(created.key)
        return self.signer.presigned_url(path, query, timestamp)


class SignedUrls:
    """Signs URLs for botocore's endpoint, with its credentials, which it refreshes.

    A signed URL is as good as a password while it is valid. It goes to libcurl and nowhere else:
    not into a log, not into an error's text. Only the host is signed, so one URL serves the whole
    object and every range of it, with or without If-Match: S3 requires only headers whose names
    begin with ``x-amz-`` to be signed.

    botocore signs the first URL of each bucket, which takes 0.2 ms. The next ones take a tenth of
    that, if the same can be derived from the first: else botocore signs them too.
    """

    def __init__(self, s3: S3Client, credentials: Credentials | None = None) -> None:
        """Sign with *s3*, a client configured with `CLIENT_CONFIG`, and its *credentials*."""
        self._s3 = s3
        self._credentials = credentials
        self._buckets: dict[str, _BucketUrls | None] = {}
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
        if urls := self._buckets.get(created.bucket):
            return urls.url_of(created)
        params: dict[str, Any] = {"Bucket": created.bucket, "Key": created.key}
        if created.version_id:
            params["VersionId"] = created.version_id
        url = self._s3.generate_presigned_url("get_object", Params=params, ExpiresIn=_VALID_SECONDS)
        if created.bucket not in self._buckets and len(self._buckets) < _BUCKETS_MAX:
            self._buckets[created.bucket] = _BucketUrls.of(url, created, self._credentials)
        return url

    def forget(self, bucket: str) -> None:
        """Let botocore sign the next URL of *bucket*: it may have learned another endpoint."""
        self._buckets.pop(bucket, None)


def _quoted(key: str) -> str:
    return quote(key, safe="/~")


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
