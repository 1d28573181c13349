"""Readers and objects for the tests against the hostile S3."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import boto3
import pytest
from botocore.config import Config
from mypy_boto3_s3 import S3Client
from tests.support.s3_faults import StoredObject
from tests.support.s3_server import HostileS3

from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.botocore_reader import BotocoreReader
from bucketsum.s3.chosen_reader import transport_config
from bucketsum.s3.curl_connections import TransportConfig
from bucketsum.s3.curl_reader import CurlReader
from bucketsum.s3.read_plan import ReadPlan
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.source import CLIENT_CONFIG, Source

PATH: Final = "inbox/dir/a file+1%.bin"
BODY: Final = bytes(range(256)) * 40

_IMPATIENT: Final = Config(
    retries={"mode": "standard", "total_max_attempts": 1}, connect_timeout=60, read_timeout=60
)


def arrival_of(stored: StoredObject, path: str = PATH) -> ObjectCreated:
    """The event that S3 sends when *stored* lands at *path*."""
    bucket, _, key = path.partition("/")
    return ObjectCreated(
        bucket=bucket,
        key=key,
        version_id=stored.version_id,
        etag=stored.etag,
        size_bytes=len(stored.body),
        sequencer="00AB",
        event_time="2026-11-01T00:00:00.000Z",
    )


def put_at(hostile: HostileS3, key: str, body: bytes = BODY) -> ObjectCreated:
    """Put an object into the hostile S3's inbox; returns the event that S3 would send."""
    path = f"inbox/{key}"
    return arrival_of(hostile.put(path, body), path)


@contextmanager
def s3_client(
    endpoint_url: str, config: Config = _IMPATIENT, verify: str | None = None
) -> Iterator[S3Client]:
    """The hasher's client, but for trying once (or as *config* says) and a CA of our own."""
    client = boto3.client(
        "s3", endpoint_url=endpoint_url, config=CLIENT_CONFIG.merge(config), verify=verify
    )
    try:
        yield client
    finally:
        client.close()


def transport_of(client: S3Client, env: Mapping[str, str]) -> TransportConfig:
    """The configuration of libcurl where *client* reads."""
    return transport_config(client.meta.endpoint_url, env, client.meta.config)


def _no_pause(_seconds: float) -> None:
    """Do not wait."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One way of reading an object.

    Attributes:
        streams: Connections of libcurl; 0 is botocore's one.
        verify: File of the authority that libcurl is to trust.
    """

    streams: int
    verify: str = ""

    def source(
        self,
        client: S3Client,
        chunk_bytes: int = 4096,
        pause: Callable[[float], None] = _no_pause,
        plan: ReadPlan | None = None,
    ) -> Source:
        """A source that reads so from where *client* reads."""
        fallback = BotocoreReader(client, chunk_bytes, pause)
        if not self.streams:
            return fallback
        config = transport_of(client, {"AWS_CA_BUNDLE": self.verify})
        plan = plan or ReadPlan(self.streams, max(chunk_bytes, 1000))
        return CurlReader(
            SignedRequests.of_client(client), config, lambda _size: plan, fallback, pause
        )

    def content_of(
        self,
        client: S3Client,
        stored: StoredObject,
        chunk_bytes: int = 4096,
        pause: Callable[[float], None] = _no_pause,
    ) -> bytes:
        """Everything that the source yields for *stored*."""
        opened = self.source(client, chunk_bytes, pause).open(arrival_of(stored))
        return b"".join(opened.chunks)


@dataclass(frozen=True, slots=True)
class Reading:
    """A hostile S3, and one way of reading its objects.

    Attributes:
        client: A client of it that tries once.
    """

    s3: HostileS3
    client: S3Client
    reader: Reader

    def source(self, chunk_bytes: int = 4096, pause: Callable[[float], None] = _no_pause) -> Source:
        """See `Reader.source`."""
        return self.reader.source(self.client, chunk_bytes, pause)

    def content_of(
        self,
        stored: StoredObject,
        chunk_bytes: int = 4096,
        pause: Callable[[float], None] = _no_pause,
    ) -> bytes:
        """See `Reader.content_of`."""
        return self.reader.content_of(self.client, stored, chunk_bytes, pause)


BOTOCORE: Final = pytest.param(Reader(0), id="botocore")
STREAM: Final = pytest.param(Reader(1), id="stream")
RANGES: Final = pytest.param(Reader(3), id="ranges")

every_reader: Final = pytest.mark.parametrize("reader", [BOTOCORE, STREAM, RANGES])
one_stream: Final = pytest.mark.parametrize("reader", [BOTOCORE, STREAM])
