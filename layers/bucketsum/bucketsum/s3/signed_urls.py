"""Signed URLs of objects, which libcurl reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import quote, urlsplit

from botocore.exceptions import NoCredentialsError

from bucketsum.invocation.clients import aws_s3_endpoint, credentials, s3_endpoint
from bucketsum.s3.sigv4 import Signer

if TYPE_CHECKING:
    from botocore.credentials import Credentials
    from mypy_boto3_s3 import S3Client

    from bucketsum.events.object_events import ObjectCreated

_VALID_SECONDS: Final = 3600
"""Longer than an invocation (900 s) plus the clock skew that S3 accepts (900 s)."""

_HOST_LABEL: Final = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
"""Names of buckets that are subdomains of AWS's endpoints; others are in the path."""


class SignedUrls:
    """Signs URLs for an endpoint of S3, with credentials that botocore refreshes.

    A signed URL is as good as a password while it is valid. It goes to libcurl and nowhere else:
    not into a log, not into an error's text. Only the host is signed, so one URL serves the whole
    object and every range of it, with or without If-Match: S3 requires only headers whose names
    begin with ``x-amz-`` to be signed.

    Host and path are those of botocore's requests for a bucket in *region*, which the tests
    compare. botocore takes 0.2 ms for a URL, ten times as long, and needs a client.
    """

    def __init__(self, endpoint_url: str, region: str, credentials: Credentials | None) -> None:
        self.endpoint_url = endpoint_url
        # If somebody configures just this URL, botocore has the bucket in the path: S3 takes both.
        self._is_aws = endpoint_url == aws_s3_endpoint(region)
        self._region = region
        self._credentials = credentials

    @classmethod
    def of_region(cls, region: str) -> Self:
        """For *region*, or the endpoint that the environment names."""
        return cls(s3_endpoint(region), region, credentials())

    @classmethod
    def of_client(cls, s3: S3Client) -> Self:
        """For the endpoint and the credentials of *s3*."""
        meta, signer = s3.meta, vars(s3)["_request_signer"]
        return cls(meta.endpoint_url, meta.region_name, vars(signer)["_credentials"])

    def url_of(self, created: ObjectCreated) -> str:
        """The signed URL of exactly the version that was created.

        Raises:
            BotoCoreError: There are no credentials, or they could not be refreshed.
        """
        if self._credentials is None:
            raise NoCredentialsError
        scheme, host, path, *_ = urlsplit(self.endpoint_url)
        if self._is_aws and _HOST_LABEL.fullmatch(created.bucket):
            host = f"{created.bucket}.{host}"
        else:
            path = f"{path.rstrip('/')}/{created.bucket}"
        query = {"X-Amz-Expires": str(_VALID_SECONDS)}
        if created.version_id:
            query["versionId"] = created.version_id
        signer = Signer(self._credentials, f"{scheme}://{host}", self._region, "s3")
        return signer.presigned_url(f"{path}/{quote(created.key, safe='/~')}", query)
