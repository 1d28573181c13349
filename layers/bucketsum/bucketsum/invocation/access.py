"""Region, credentials and endpoints of a function, as botocore would choose them.

Where the environment is as Lambda makes it, a few variables say all of it. botocore's session takes
a tenth of a cold start, so only other environments ask it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple, Self

if TYPE_CHECKING:
    from botocore.credentials import Credentials

_USUAL: Final = re.compile(
    r"AWS_((DEFAULT_)?REGION|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|(EXECUTION|LAMBDA|XRAY)_\w+"
    r"|ENDPOINT_URL(_S3|_DYNAMODB|_SQS)?|CA_BUNDLE|RETRY_MODE|MAX_ATTEMPTS|EC2_METADATA_DISABLED"
    r"|CONFIG_FILE|SHARED_CREDENTIALS_FILE)"
)
"""Variables that Lambda sets, or that are known here to choose none of these or an endpoint."""

_FILES: Final = {
    "AWS_CONFIG_FILE": "~/.aws/config",
    "AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials",
}
"""Variable → its default: files that may say anything, and that no function has."""
_NEEDED: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION")
_COMMERCIAL: Final = re.compile(r"(us|eu|ap|sa|ca|me|af|il|mx)-\w+-\d+")
"""Regions of the partition ``aws``, without AWS GovCloud and others."""


class Keys(NamedTuple):
    """Credentials that never change, as `botocore.credentials.Credentials` has them."""

    access_key: str
    secret_key: str
    token: str | None

    def get_frozen_credentials(self) -> Self:
        """These keys, which need no refresh."""
        return self


def credentials() -> Credentials | Keys | None:
    """The credentials of all clients, which refresh themselves; None if there are none."""
    if not _is_usual():
        from bucketsum.invocation import clients  # noqa: PLC0415 - it imports botocore's session

        return clients.credentials()
    key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    return Keys(key, secret, os.environ.get("AWS_SESSION_TOKEN") or None)


def usual_region() -> str | None:
    """The Region of all clients; None if botocore must say it."""
    return os.environ["AWS_DEFAULT_REGION"] if _is_usual() else None


def usual_endpoint(service: str, region: str) -> str | None:
    """The URL that clients of *service* in *region* use; None if botocore must say it."""
    if not _is_usual():
        return None
    names = f"AWS_ENDPOINT_URL_{service.upper()}", "AWS_ENDPOINT_URL"
    urls = filter(None, map(os.environ.get, names))
    return next(urls, _aws_endpoint(service, region))


def s3_endpoint(region: str) -> str:
    """The URL of S3 that clients in *region* use: the configured one, or AWS's own."""
    if url := usual_endpoint("s3", region):
        return url
    from bucketsum.invocation import clients  # noqa: PLC0415 - as above

    return clients.s3_endpoint(region)


def aws_s3_endpoint(region: str) -> str:
    """AWS's own URL of S3 in *region*, by the rule of botocore's endpoint rule set for S3."""
    if _is_usual() and (url := _aws_endpoint("s3", region)):
        return url
    from bucketsum.invocation import clients  # noqa: PLC0415 - as above

    return clients.aws_s3_endpoint(region)


def _aws_endpoint(service: str, region: str) -> str | None:
    return f"https://{service}.{region}.amazonaws.com" if _COMMERCIAL.fullmatch(region) else None


def _is_usual() -> bool:
    """Whether no variable and no file but those that are known here may change a client."""
    others = (name for name in os.environ if name.startswith("AWS_") and not _USUAL.fullmatch(name))
    files = (os.path.expanduser(os.environ.get(*file)) for file in _FILES.items())  # noqa: PTH111 - as botocore; pathlib's is an error for a user without a home
    return (
        all(map(os.environ.get, _NEEDED))
        and next(others, None) is None
        and not any(map(os.path.isfile, files))
    )
