"""Signed requests for objects, which libcurl sends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, Self
from urllib.parse import quote, urlsplit

from botocore.exceptions import NoCredentialsError

from bucketsum.checksums.stored import MODE_HEADER
from bucketsum.events.object_events import ObjectCreated
from bucketsum.invocation.access import Keys, aws_s3_endpoint, credentials, s3_endpoint
from bucketsum.s3.response_head import if_match
from bucketsum.s3.sigv4 import EMPTY_SHA256, Signer

if TYPE_CHECKING:
    from botocore.credentials import Credentials
    from mypy_boto3_s3 import S3Client


_NO_BODY: Final = {"x-amz-content-sha256": EMPTY_SHA256}
_HOST_LABEL: Final = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
"""Names of buckets that are subdomains of AWS's endpoints; others are in the path."""


class SignedGet(NamedTuple):
    """A GET of an object.

    Attributes:
        headers: Header lines, with If-Match if the entity tag is known. A range may be added: S3
            requires only the host and names that begin with ``x-amz-`` to be signed.
    """

    url: str
    headers: list[str]


class SignedRequests:
    """Signs requests to an endpoint of S3, with credentials that botocore refreshes.

    A signature is in a header, so no URL is a credential. Each request has a signature of its own,
    which S3 accepts for 15 minutes. It also signs that there is no body: a bucket's policy may
    deny unsigned ones.

    Host and path are those of botocore's requests for a bucket in *region*, which the tests
    compare. botocore takes ten times as long for a signature, and needs a client.
    """

    def __init__(
        self,
        endpoint_url: str,
        region: str,
        credentials: Credentials | Keys | None,
        *,
        asks_checksum: bool = False,
    ) -> None:
        self.endpoint_url = endpoint_url
        self._headers = {**_NO_BODY, **(MODE_HEADER if asks_checksum else {})}
        # If somebody configures just this URL, botocore has the bucket in the path: S3 takes both.
        self._is_aws = endpoint_url == aws_s3_endpoint(region)
        self.region = region
        self._credentials = credentials

    @classmethod
    def of_region(cls, region: str, *, asks_checksum: bool = False) -> Self:
        """For *region*, or the endpoint that the environment names."""
        return cls(s3_endpoint(region), region, credentials(), asks_checksum=asks_checksum)

    @classmethod
    def of_client(cls, s3: S3Client, *, asks_checksum: bool = False) -> Self:
        """For the endpoint and the credentials of *s3*."""
        meta, signer = s3.meta, vars(s3)["_request_signer"]
        keys = vars(signer)["_credentials"]
        return cls(meta.endpoint_url, meta.region_name, keys, asks_checksum=asks_checksum)

    def get_of(self, created: ObjectCreated) -> SignedGet:
        """The request for exactly the version that was created.

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
        path += f"/{quote(created.key, safe='/~')}"
        query = f"versionId={quote(created.version_id, safe='')}" if created.version_id else ""
        signer = Signer(self._credentials, f"{scheme}://{host}", self.region, "s3")
        headers = signer.headers_of(self._headers, method="GET", path=path, query=query)
        if condition := if_match(created):
            headers.append(f"If-Match: {condition}")
        return SignedGet(f"{signer.url}{path}{query and '?'}{query}", headers)
