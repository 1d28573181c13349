"""The article's way as a function: boto3's resources, 20 MB at a time, one object after the other.

It imports what a first version imports: boto3's resource API and all of Powertools that does not
need packages beyond the layer's. Nothing is logged and nothing measured, which is in its favour.
Not a module of the project: it is run in Lambda's shape, against the built layer.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_plus

import boto3
from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.event_handler import (  # noqa: F401 - being imported is its part
    APIGatewayRestResolver,
)
from aws_lambda_powertools.utilities import (  # noqa: F401 - as above
    batch,
    data_classes,
    feature_flags,
    idempotency,
    jmespath_utils,
    kafka,
    parameters,
    serialization,
    streaming,
    typing,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

CHUNK_SIZE: Final = 20_000_000
"""The article's."""

logger = Logger()
metrics = Metrics()
tracer = Tracer()
_S3: Final = boto3.resource("s3")
_TABLE: Final = boto3.resource("dynamodb").Table(os.environ["DIGESTS_TABLE"])


def lambda_handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Hash the objects of a batch of S3's notifications, and put a row for each."""
    for message in event["Records"]:
        for record in json.loads(message["body"])["Records"]:
            place = record["s3"]
            bucket, key = place["bucket"]["name"], unquote_plus(place["object"]["key"])
            item = {"object": f"{bucket}/{key}", "entry": "null", **_hashed(bucket, key)}
            _TABLE.put_item(Item=item)
    return {"batchItemFailures": []}


def _hashed(bucket: str, key: str) -> dict[str, str | int]:
    sha1 = hashlib.sha1()
    size = 0
    body: Any = _S3.Object(bucket, key).get()["Body"]
    stream = body._raw_stream  # noqa: SLF001 - the article's way
    while chunk := stream.read(CHUNK_SIZE):
        sha1.update(chunk)
        size += len(chunk)
    return {"sha1": sha1.hexdigest(), "size_bytes": size}
