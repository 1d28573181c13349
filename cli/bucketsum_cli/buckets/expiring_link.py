"""An HTML page in a bucket, and a link to it that expires."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from botocore.config import Config

from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.buckets.bucket_contents import head
from bucketsum_cli.buckets.s3_place import S3Place


class ExpiringLink(NamedTuple):
    """A pre-signed URL, and the end of its time; temporary credentials can end it sooner."""

    url: str
    expires_at: datetime
    ends_with_credentials: bool


def publish(connection: Connection, place: S3Place, html: str, days: int) -> ExpiringLink:
    """Write *html* to *place*; the link lasts for *days*, at most 7."""
    s3 = connection.client("s3")
    at = {"Bucket": place.bucket, "Key": place.key}
    s3.put_object(**at, Body=html.encode(), ContentType="text/html; charset=utf-8")
    lasts = timedelta(days=days)
    signer: Any = connection.session.create_client(  # botocore's choice would be version 2
        "s3",
        head(s3, place.bucket).region or connection.region,  # no other Region signs for it
        endpoint_url=connection.endpoint,
        config=Config(signature_version="s3v4"),
    )
    url = signer.generate_presigned_url("get_object", at, int(lasts.total_seconds()))
    credentials = connection.session.get_credentials()
    is_temporary = credentials is not None and credentials.token is not None
    return ExpiringLink(url, datetime.now(UTC) + lasts, is_temporary)
