"""The baseline (Bryson, 2021) as a function: boto3 resources, chunks of 20 MB.

It imports boto3's resource API, and all parts of Powertools that need no packages beyond the
layer's and X-Ray's SDK. It logs and measures nothing, which is an advantage. It runs with the built
layer only.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote_plus

import boto3
from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.event_handler import (  # noqa: F401 - imported for its cost
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

CHUNK_SIZE: Final = 20_000_000
"""As in Bryson (2021)."""

logger = Logger()
metrics = Metrics()
tracer = Tracer()
_S3: Final = boto3.resource("s3")
_TABLE: Final = boto3.resource("dynamodb").Table(os.environ["DIGESTS_TABLE"])


def lambda_handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Hash the objects of a batch of S3's notifications, and put a row for each."""
    for message in event["Records"]:
        for record in json.loads(message["body"])["Records"]:
            s3 = record["s3"]
            bucket, key = s3["bucket"]["name"], unquote_plus(s3["object"]["key"])
            item = {"object": f"{bucket}/{key}", "entry": "null", **_hashed(bucket, key)}
            _TABLE.put_item(Item=item)
    return {"batchItemFailures": []}


def _hashed(bucket: str, key: str) -> dict[str, str | int]:
    sha1 = hashlib.sha1()
    size = 0
    body: Any = _S3.Object(bucket, key).get()["Body"]
    stream = body._raw_stream  # noqa: SLF001 - as in Bryson (2021)
    while chunk := stream.read(CHUNK_SIZE):
        sha1.update(chunk)
        size += len(chunk)
    return {"sha1": sha1.hexdigest(), "size_bytes": size}
