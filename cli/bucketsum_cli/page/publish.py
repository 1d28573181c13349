"""A page in a bucket, and a link to it that expires."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.config import Config
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from bucketsum_cli.aws.connection import Connection


class ExpiringLink(NamedTuple):
    """A pre-signed URL, and the end of its time; temporary credentials can end it sooner."""

    url: str
    expires_at: datetime
    ends_with_credentials: bool


def publish(connection: Connection, bucket: str, key: str, html: str, days: int) -> ExpiringLink:
    """Write *html* to the *key* of a *bucket*; the link lasts for *days*, at most 7."""
    connection.client("s3").put_object(
        Bucket=bucket, Key=key, Body=html.encode(), ContentType="text/html; charset=utf-8"
    )
    lasts = timedelta(days=days)
    signer: Any = connection.session.create_client(  # botocore's choice would be version 2
        "s3",
        _region_of(connection, bucket),
        endpoint_url=connection.endpoint,
        config=Config(signature_version="s3v4"),
    )
    url = signer.generate_presigned_url(
        "get_object", {"Bucket": bucket, "Key": key}, int(lasts.total_seconds())
    )
    credentials = connection.session.get_credentials()
    is_temporary = credentials is not None and credentials.token is not None
    return ExpiringLink(url, datetime.now(UTC) + lasts, is_temporary)


def _region_of(connection: Connection, bucket: str) -> str:
    """The Region that *bucket* is in: no other signs for it. S3 names it even if it refuses."""
    try:
        answer = connection.client("s3").head_bucket(Bucket=bucket)["ResponseMetadata"]
    except ClientError as error:
        answer = error.response["ResponseMetadata"]
    region: str = answer["HTTPHeaders"].get("x-amz-bucket-region", connection.region)
    return region
