"""libcurl's connections for small objects, and the requests over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.utils import get_environ_proxies

from bucketsum.hashing.row_requests import PutItemRequests
from bucketsum.invocation.clients import credentials
from bucketsum.s3.botocore_reader import BotocoreReader
from bucketsum.s3.curl_connections import Connections

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

    from bucketsum.s3.curl_reader import CurlReader
    from bucketsum.s3.curl_setup import SignedUrls
    from bucketsum.table.digests_table import DigestsTable


@dataclass(frozen=True, slots=True)
class Network:
    """Connections and signers that batches of small objects use.

    Attributes:
        connections: Of the invocation's thread; they stay open for the next batch.
    """

    connections: Connections
    urls: SignedUrls
    rows: PutItemRequests


def network_of(
    source: CurlReader | BotocoreReader, s3: S3Client, dynamodb: DynamoDBClient, table: DigestsTable
) -> Network | None:
    """The connections of *source*, also for rows of *table*; None if only botocore can be used."""
    if isinstance(source, BotocoreReader):
        return None
    rows = PutItemRequests.of(table, dynamodb, credentials())
    same_proxies = get_environ_proxies(s3.meta.endpoint_url) == get_environ_proxies(
        dynamodb.meta.endpoint_url
    )
    if rows is None or not same_proxies:
        return None
    return Network(Connections(source.config), source.urls, rows)
