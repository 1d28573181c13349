"""Rows after uploads by several tools, whose requests decide which checksum S3 keeps.

boto3 and `bucketsum put` send their own requests, to moto. Those of rclone 1.60.1 and of the AWS
CLI 1.45.11 were recorded by a server on 2026-11-28; those of the AWS CLI 2 are as its FAQ says.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import boto3
import pytest
from bench.tables.document import rows_of
from boto3.s3.transfer import TransferConfig
from botocore.awsrequest import AWSRequest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.reading import arrival_of
from tests.support.checksums import Kept, in_pieces
from tests.support.documents import ROOT
from tests.support.events import BUCKET, message_of
from tests.support.s3_server import HostileS3

from bucketsum_cli.objects.upload import CHECKSUM

Requests: TypeAlias = Sequence[tuple[str, Mapping[str, str]]]
"""Of an upload: queries, and headers with lower-case names."""
PAGE: Final = ROOT / "docs" / "explanation" / "what-is-recorded.md"
SMALL: Final = bytes(range(200)) * 40
LARGE: Final = bytes(range(250)) * 80_000
PARTS: Final = 3
"""Of 8 MiB, as boto3 and the AWS CLI have them."""


def sent(operation: str, *arguments: object, **options: object) -> Requests:
    """The requests of a method of boto3's client."""
    client: Any = boto3.client("s3")
    requests: list[tuple[str, Mapping[str, str]]] = []

    def note(request: AWSRequest, **_: object) -> None:
        headers = {name.lower(): str(value) for name, value in request.headers.items()}
        requests.append((str(request.url).partition("?")[2], headers))

    client.meta.events.register("request-created.s3", note)
    getattr(client, operation)(*arguments, **options)
    return requests


def put(body: bytes, **options: object) -> Requests:
    """The requests of boto3's upload of *body*."""
    return sent("upload_fileobj", io.BytesIO(body), BUCKET, "up", **options)


def put_in_parts() -> Requests:
    """Those of `bucketsum put` for a large file."""
    return put(LARGE, ExtraArgs=CHECKSUM, Config=TransferConfig(multipart_threshold=1))


def copy() -> Requests:
    """The request of a copy in S3."""
    source = {"Bucket": BUCKET, "Key": "up"}
    return sent("copy_object", Bucket=BUCKET, Key="copy", CopySource=source)


UPLOADS: Final[Sequence[tuple[str, bytes, Callable[[], Requests]]]] = (
    ("boto3, 8 kB", SMALL, lambda: put(SMALL)),
    ("boto3, 20 MB", LARGE, lambda: put(LARGE)),
    ("AWS CLI 1, 20 MB", LARGE, lambda: [("uploads", {"x-amz-checksum-algorithm": "CRC32"})]),
    ("AWS CLI 2, 8 kB", SMALL, lambda: [("", {"x-amz-sdk-checksum-algorithm": "CRC64NVME"})]),
    ("AWS CLI 2, 20 MB", LARGE, lambda: [("uploads", {"x-amz-checksum-algorithm": "CRC64NVME"})]),
    ("rclone 1.60, 20 MB", LARGE, lambda: [("", {"content-md5": "SWf8SX/npmjGtziRHT5MQQ=="})]),
    ("`bucketsum put`, 8 kB", SMALL, lambda: put(SMALL, ExtraArgs=CHECKSUM)),
    ("`bucketsum put`, in parts", LARGE, put_in_parts),
    ("a copy in S3 of boto3's 20 MB", LARGE, copy),
    ("any, before S3 kept checksums", SMALL, list),
)


def kept_after(requests: Requests, body: bytes) -> Kept | None:
    """The checksum that S3 keeps.

    [A] Without a checksum of the client, S3 adds a CRC-64/NVME; a copy has the algorithm of its
    source, here CRC-32. Both are of the whole object; so is another one of an upload in parts only
    if its type is FULL_OBJECT.
    """
    if not requests:
        return None
    query, headers = requests[0]
    default = "CRC32" if "x-amz-copy-source" in headers else "CRC64NVME"
    names = ("x-amz-checksum-algorithm", "x-amz-sdk-checksum-algorithm")
    algorithm = next((headers[name] for name in names if name in headers), default)
    is_whole = algorithm == "CRC64NVME" or headers.get("x-amz-checksum-type") == "FULL_OBJECT"
    pieces = in_pieces(body, PARTS if "uploads" in query and not is_whole else 1)
    return Kept(pieces, algorithm.lower())


def test_the_document_has_the_row_after_each_upload(
    hostile_stack: HasherStack, hostile: HostileS3
) -> None:
    """The hasher reads the object from an S3 that keeps what AWS's documents say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AWS_ENDPOINT_URL_S3")
        uploads = [(name, body, kept_after(requests(), body)) for name, body, requests in UPLOADS]
    hostile_stack.load(COMPARE_CHECKSUMS="yes")
    lines = []
    for name, body, kept in uploads:
        place = f"{BUCKET}/{name}"
        created = arrival_of(hostile.put(place, body, **(kept.stored if kept else {})), place)
        assert hostile_stack.deliver(message_of(created)) == []
        row = hostile_stack.rows()[name, "null"]
        parts = f"{len(kept.pieces)} parts" if kept and kept.is_composite else "the object"
        answer = ": ".join(filter(None, (row["s3_checksum_result"], row.get("s3_checksum_reason"))))
        lines.append((name, f"`{kept.algorithm}` of {parts}" if kept else "nothing", answer))
    table = rows_of(("uploaded by", "S3 keeps", "the row says"), lines)
    text = PAGE.read_text("utf-8")
    assert f"<!-- bench uploads -->\n{table}\n<!-- /bench uploads -->" in text, f"\n{table}"
