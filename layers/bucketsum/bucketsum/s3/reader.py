"""Choose the reader: libcurl if pycurl is installed, else botocore."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from bucketsum.invocation.clients import credentials
from bucketsum.s3.botocore_reader import BotocoreReader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_s3 import S3Client

    from bucketsum.s3.curl_reader import CurlReader
    from bucketsum.s3.read_plan import ReadPlan

_LOGGER: Final = logging.getLogger(__name__)


def reader(
    s3: S3Client, chunk_bytes: int, plan_for: Callable[[int], ReadPlan], env: Mapping[str, str]
) -> CurlReader | BotocoreReader:
    """A source over libcurl if pycurl can be imported, else over botocore.

    Args:
        s3: Configured with `CLIENT_CONFIG`.
        chunk_bytes: Bytes that botocore reads at a time.
        plan_for: Object size in bytes → its read plan.
        env: May set `AWS_CA_BUNDLE` and `REQUESTS_CA_BUNDLE`, as for botocore.
    """
    fallback = BotocoreReader(s3, chunk_bytes)
    try:
        # Imported here: the layer has no pycurl for python3.11, whose Amazon Linux is too old.
        from bucketsum.s3.curl_reader import CurlReader  # noqa: PLC0415 - as said
    except ImportError as error:
        _LOGGER.warning("reading over botocore, which is slower: %s", error)
        return fallback
    from bucketsum.s3.curl_setup import SignedUrls, transport_config  # noqa: PLC0415 - as said

    config = transport_config(s3, env)
    if config is None:
        return fallback
    return CurlReader(SignedUrls(s3, credentials()), config, plan_for, fallback)
