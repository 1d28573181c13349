"""Signed URLs of objects, which libcurl reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import quote, urlsplit

from botocore.exceptions import NoCredentialsError

from bucketsum.invocation.clients import credentials, s3_endpoint
from bucketsum.s3.sigv4 import Signer

if TYPE_CHECKING:
    from botocore.credentials import Credentials
    from mypy_boto3_s3 import S3Client

    from bucketsum.events.object_events import ObjectCreated

_VALID_SECONDS: Final = 3600
"""Longer than an invocation (900 s) plus the clock skew that S3 accepts (900 s)."""

_HOST_OF_AWS: Final = re.compile(
    r"s3(-fips)?(\.dualstack)?\.[a-z0-9-]+\.amazonaws\.(com(\.cn)?|eu)"
)
"""Hosts of which a bucket has a subdomain; at others its name is in the path, as S3 allows."""

_HOST_LABEL: Final = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")


class SignedUrls:
    """Signs URLs for an endpoint of S3, with credentials that botocore refreshes.

    A signed URL is as good as a password while it is valid. It goes to libcurl and nowhere else:
    not into a log, not into an error's text. Only the host is signed, so one URL serves the whole
    object and every range of it, with or without If-Match: S3 requires only headers whose names
    begin with ``x-amz-`` to be signed.

    Host and path are those of botocore's own requests, which the tests compare. botocore takes
    0.2 ms for a URL, ten times as long, and needs a client.
    """

    def __init__(self, endpoint_url: str, region: str, credentials: Credentials | None) -> None:
        self.endpoint_url = endpoint_url
        self._region = region
        self._credentials = credentials

    @classmethod
    def of_region(cls, region: str, env: Mapping[str, str]) -> Self:
        """For *region*, or the endpoint that *env* names."""
        return cls(s3_endpoint(region, env), region, credentials())

    @classmethod
    def of_client(cls, s3: S3Client) -> Self:
        """For the endpoint of *s3*, which has `CLIENT_CONFIG` and no credentials of its own."""
        return cls(s3.meta.endpoint_url, s3.meta.region_name, credentials())

    def url_of(self, created: ObjectCreated) -> str:
        """The signed URL of exactly the version that was created.

        Raises:
            BotoCoreError: There are no credentials.
        """
        if self._credentials is None:
            raise NoCredentialsError
        scheme, host, path, *_ = urlsplit(self.endpoint_url)
        if _HOST_OF_AWS.fullmatch(host) and _HOST_LABEL.fullmatch(created.bucket):
            host = f"{created.bucket}.{host}"
        else:
            path = f"{path.rstrip('/')}/{created.bucket}"
        query = {"X-Amz-Expires": str(_VALID_SECONDS)}
        if created.version_id:
            query["versionId"] = created.version_id
        signer = Signer(self._credentials, f"{scheme}://{host}", self._region, "s3")
        return signer.presigned_url(f"{path}/{quote(created.key, safe='/~')}", query)
