"""Choose the reader: libcurl, or botocore where libcurl must not be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bucketsum.invocation.clients import credentials
from bucketsum.s3.botocore_reader import BotocoreReader
from bucketsum.s3.curl_reader import CurlReader
from bucketsum.s3.curl_setup import SignedUrls, transport_config

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from bucketsum.s3.read_plan import ReadPlan


def reader(
    s3: S3Client, chunk_bytes: int, plan_for: Callable[[int], ReadPlan], env: Mapping[str, str]
) -> CurlReader | BotocoreReader:
    """A source over libcurl, or over botocore if only it can use the configuration of *s3*.

    Args:
        s3: Configured with `CLIENT_CONFIG`.
        chunk_bytes: Bytes that botocore reads at a time.
        plan_for: Object size in bytes → its read plan.
        env: May set `AWS_CA_BUNDLE` and `REQUESTS_CA_BUNDLE`, as for botocore.
    """
    fallback = BotocoreReader(s3, chunk_bytes)
    config = transport_config(s3, env)
    if config is None:
        return fallback
    return CurlReader(SignedUrls(s3, credentials()), config, plan_for, fallback)
