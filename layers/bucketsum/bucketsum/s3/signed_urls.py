"""An arrival → an address that S3 answers without further credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from mypy_boto3_s3 import S3Client

    from bucketsum.notifications import ObjectCreated

_VALID_SECONDS: Final = 3600
"""Longer than an invocation's 900 s by more than the 900 s that S3 lets a clock be wrong."""


class SignedUrls:
    """Signs addresses with botocore: its endpoint, its credentials, refreshed as it does it.

    An address is as good as a password while it is valid. It goes to libcurl and nowhere else: not
    into a log, not into an error's text. Only the host is signed, so one address serves the whole
    object and every range of it, with or without If-Match: S3 wants headers signed whose names
    begin with ``x-amz-``, and no others.
    """

    def __init__(self, s3: S3Client) -> None:
        """Sign with *s3*, which is to be configured as `CLIENT_CONFIG` says."""
        self._s3 = s3
        s3.meta.events.register_last(
            "before-parameter-build.s3.GetObject",
            _keep_to_the_region,
            unique_id="bucketsum-keep-to-the-region",
        )

    def url_of(self, arrival: ObjectCreated) -> str:
        """The address of exactly the version that arrived.

        Raises:
            BotoCoreError: There are no credentials, or no such endpoint.
        """
        params: dict[str, Any] = {"Bucket": arrival.bucket, "Key": arrival.key}
        if arrival.version_id:
            params["VersionId"] = arrival.version_id
        return self._s3.generate_presigned_url(
            "get_object", Params=params, ExpiresIn=_VALID_SECONDS
        )


def _keep_to_the_region(context: MutableMapping[str, Any], **_: object) -> None:
    """Botocore signs addresses for S3's global endpoint, but calls the Region's; so shall we."""
    if "use_global_endpoint" in context:
        context["use_global_endpoint"] = False
