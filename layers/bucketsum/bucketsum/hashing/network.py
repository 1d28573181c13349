"""libcurl's connections for small objects, and the PutItem requests over them.

The requests are signed without botocore's client.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from botocore.utils import get_environ_proxies

from bucketsum.invocation.clients import credentials
from bucketsum.s3.botocore_reader import BotocoreReader
from bucketsum.s3.curl_connections import Connections
from bucketsum.s3.sigv4 import Endpoint, Signer

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

    from bucketsum.s3.curl_reader import CurlReader
    from bucketsum.s3.curl_setup import SignedUrls
    from bucketsum.s3.response_head import ResponseHead
    from bucketsum.table.digests_table import DigestsTable
    from bucketsum.table.rows import Row

_HEADERS: Final = {
    "content-type": "application/x-amz-json-1.0",
    "x-amz-target": "DynamoDB_20120810.PutItem",
}


class PutItemRequests:
    """Makes PutItem requests for the endpoint and the Region of a client."""

    def __init__(self, table: DigestsTable, endpoint_url: str, signer: Signer) -> None:
        self._table = table
        self._endpoint = Endpoint.of(endpoint_url)
        self._signer = signer
        self.url = f"{self._endpoint.url}/"

    def request_of(self, row: Row) -> tuple[list[str], bytes]:
        """Signed header lines and body of the request that records *row*.

        Raises:
            BotoCoreError: There are no credentials.
        """
        body = json.dumps(self._table.put_parameters(row)).encode()
        return self._signer.headers_of(self._endpoint, _HEADERS, body), body


def is_written(head: ResponseHead, body: Sequence[bytes]) -> bool:
    """Whether DynamoDB confirms the write; False also if the response is damaged."""
    checksum = head.headers.get("x-amz-crc32")
    intact = checksum is None or checksum == str(zlib.crc32(b"".join(body)))
    return head.status == HTTPStatus.OK and intact


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
    keys, url = credentials(), dynamodb.meta.endpoint_url
    same_proxies = get_environ_proxies(s3.meta.endpoint_url) == get_environ_proxies(url)
    if keys is None or urlsplit(url).path not in ("", "/") or not same_proxies:
        return None
    signer = Signer(keys, dynamodb.meta.region_name, "dynamodb")
    return Network(Connections(source.config), source.urls, PutItemRequests(table, url, signer))
