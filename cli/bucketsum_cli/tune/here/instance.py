"""The EC2 instance of this process, described by its metadata service (IMDSv2)."""

from __future__ import annotations

import os
import urllib.request
from typing import Final

_SECONDS: Final = 0.5
_ADDRESS: Final = "http://169.254.169.254"
_LIFETIME: Final = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}


def instance_type() -> str | None:
    """Its type, for example ``c7g.large``; None if the metadata service does not answer."""
    if os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return None
    address = os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT", _ADDRESS).rstrip("/")
    if not address.startswith("http://"):
        return None
    try:
        token = _answer(f"{address}/latest/api/token", "PUT", _LIFETIME)
        return _answer(
            f"{address}/latest/meta-data/instance-type", "GET", {"X-aws-ec2-metadata-token": token}
        )
    except (OSError, ValueError):  # HTTP errors are OSErrors
        return None


def _answer(url: str, method: str, headers: dict[str, str]) -> str:
    request = urllib.request.Request(url, method=method, headers=headers)  # noqa: S310 - http, as checked
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # the link-local address
    with opener.open(request, timeout=_SECONDS) as response:
        text: str = response.read(200).decode("ascii")
    if not text.isprintable():
        raise ValueError("not the answer of the metadata service")
    return text
