"""libcurl's connections for small objects, and the writes of their rows over them.

The requests are signed without botocore's client.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from botocore.utils import get_environ_proxies

from bucketsum.invocation.access import credentials, usual_endpoint
from bucketsum.s3.curl_connections import Connections, Transfer
from bucketsum.s3.curl_reader import CurlReader
from bucketsum.s3.response_head import ResponseHead
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.sigv4 import Signer
from bucketsum.table.digests_table import DigestsTable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


_API: Final = "DynamoDB_20120810"

WRITE_SECONDS: Final = 3.0
"""Time after which a write has failed, connecting included, as with botocore's client."""


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
        requests: Signs requests to S3.
        signer: Signs requests to DynamoDB.
    """

    connections: Connections
    requests: SignedRequests
    signer: Signer
    table: DigestsTable

    def start_writing(self, parameters: Mapping[str, Any]) -> Transfer:
        """Start a request to DynamoDB: PutItem if there is an item, else UpdateItem.

        Raises:
            BotoCoreError: There are no credentials.
        """
        operation = "PutItem" if "Item" in parameters else "UpdateItem"
        body = json.dumps(parameters).encode()
        target = {
            "content-type": "application/x-amz-json-1.0",
            "x-amz-target": f"{_API}.{operation}",
        }
        headers = self.signer.headers_of(target, body)
        return self.connections.post(f"{self.signer.url}/", headers, body, WRITE_SECONDS)


def network_of(source: CurlReader, dynamodb: DynamoDBClient, table: DigestsTable) -> Network | None:
    """The connections of *source*, also for rows of *table*; None if only botocore can be used."""
    keys, region = credentials(), source.requests.region
    url = usual_endpoint("dynamodb", region) or dynamodb.meta.endpoint_url
    same_proxies = get_environ_proxies(source.requests.endpoint_url) == get_environ_proxies(url)
    if keys is None or urlsplit(url).path not in ("", "/") or not same_proxies:
        return None
    signer = Signer(keys, url, region, "dynamodb")
    return Network(Connections(source.config), source.requests, signer, table)
