"""What bucketsum reads with, through its own interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3

from bucketsum.arrivals import Arrival
from bucketsum.digest import digest_of
from bucketsum.reading.source import CLIENT_CONFIG, SingleStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.box.harness import Target
    from bucketsum.reading.source import Source

    Read = Callable[[], tuple[int, str]]


def single_stream(target: Target, chunk_bytes: int) -> Read:
    """One boto3 stream that resumes and verifies: the library's first source."""
    return reading(SingleStream(boto3.client("s3", config=CLIENT_CONFIG), chunk_bytes), target)


def reading(source: Source, target: Target) -> Read:
    """Any source of the library as a reader."""
    arrival = Arrival(target.bucket, target.key, None, None, target.size_bytes, "00", "")

    def read() -> tuple[int, str]:
        digest = digest_of(source.open(arrival).chunks)
        return digest.size_bytes, digest.sha1

    return read
