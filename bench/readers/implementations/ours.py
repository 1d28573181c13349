"""bucketsum's readers, through the library's interface."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import boto3

from bucketsum.digest import digest_of
from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.botocore_reader import BotocoreReader
from bucketsum.s3.chosen_reader import reader
from bucketsum.s3.read_plan import ReadPolicy
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.source import CLIENT_CONFIG

_CHUNK_BYTES: Final = 1024 * 1024

if TYPE_CHECKING:
    from bench.readers.harness import ReadTarget
    from bucketsum.s3.source import Source

    Read = Callable[[], tuple[int, str]]


def single_stream(target: ReadTarget, chunk_bytes: int) -> Read:
    """One boto3 stream: the reader without libcurl."""
    s3 = boto3.client("s3", config=CLIENT_CONFIG)
    return reading(BotocoreReader(lambda: s3, chunk_bytes), target)


def as_deployed(target: ReadTarget, streams: int | None = None) -> Read:
    """The hasher's reader; without *streams*, with its default settings."""
    s3 = boto3.client("s3", config=CLIENT_CONFIG)
    policy = ReadPolicy(streams, _CHUNK_BYTES, target.memory_mb)
    return reading(reader(lambda: s3, SignedRequests.of_client(s3), policy, os.environ), target)


def reading(source: Source, target: ReadTarget) -> Read:
    """A reader that uses *source*."""
    created = ObjectCreated(target.bucket, target.key, None, None, target.size_bytes, "00", "")

    def read() -> tuple[int, str]:
        digest = digest_of(source.open(created).chunks)
        return digest.size_bytes, digest.sha1

    return read
