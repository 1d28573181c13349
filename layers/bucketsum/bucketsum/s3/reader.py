"""The best reader that can be had here."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from bucketsum.s3.botocore_reader import BotocoreReader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_s3 import S3Client

    from bucketsum.s3.read_plan import ReadPlan
    from bucketsum.s3.source import Source

_LOGGER: Final = logging.getLogger(__name__)


def reader(
    s3: S3Client, chunk_bytes: int, plan_for: Callable[[int], ReadPlan], env: Mapping[str, str]
) -> Source:
    """A source that reads over libcurl if pycurl can be imported, and else over botocore.

    Args:
        s3: Configured as `CLIENT_CONFIG` says.
        chunk_bytes: How much botocore reads at a time.
        plan_for: An object's size → how it is read.
        env: Where `AWS_CA_BUNDLE` and `REQUESTS_CA_BUNDLE` may be named, as for botocore.
    """
    single = BotocoreReader(s3, chunk_bytes)
    try:
        # Imported here: the layer has no pycurl for python3.11, whose Amazon Linux is too old.
        from bucketsum.s3.curl_reader import CurlReader  # noqa: PLC0415 - as said
    except ImportError as error:
        _LOGGER.warning("reading over botocore, which is slower: %s", error)
        return single
    from bucketsum.s3.curl_setup import transport_config  # noqa: PLC0415 - as said
    from bucketsum.s3.signed_urls import SignedUrls  # noqa: PLC0415 - as said

    access = transport_config(s3, env)
    return CurlReader(SignedUrls(s3), access, plan_for, single) if access else single
