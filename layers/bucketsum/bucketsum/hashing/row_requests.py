"""PutItem requests for libcurl: signed, and without botocore's client."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from bucketsum.s3.sigv4 import Endpoint, Signer

if TYPE_CHECKING:
    from botocore.credentials import Credentials
    from mypy_boto3_dynamodb import DynamoDBClient

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

    @classmethod
    def of(
        cls, table: DigestsTable, dynamodb: DynamoDBClient, credentials: Credentials | None
    ) -> PutItemRequests | None:
        """Requests signed for the endpoint of *dynamodb*; None if only botocore can make them."""
        url = dynamodb.meta.endpoint_url
        if credentials is None or urlsplit(url).path not in ("", "/"):
            return None
        return cls(table, url, Signer(credentials, dynamodb.meta.region_name, "dynamodb"))

    def body_of(self, row: Row) -> bytes:
        """The body of the request that records *row*."""
        return json.dumps(self._table.put_parameters(row)).encode()

    def headers_of(self, body: bytes) -> list[str]:
        """Signed header lines of a request with *body*.

        Raises:
            BotoCoreError: There are no credentials.
        """
        return self._signer.headers_of(self._endpoint, _HEADERS, body)


def is_written(head: ResponseHead, body: Sequence[bytes]) -> bool:
    """Whether DynamoDB confirms the write; False also if the response is damaged."""
    checksum = head.headers.get("x-amz-crc32")
    intact = checksum is None or checksum == str(zlib.crc32(b"".join(body)))
    return head.status == HTTPStatus.OK and intact
