"""Clients: they read objects of a bucket into sinks, from several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import boto3
from botocore.config import Config

from bucketsum.errors import BadSettings
from bucketsum.s3.chosen_reader import reader
from bucketsum.s3.read_plan import ReadPolicy
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum_lab.protocol.probe import object_at
from bucketsum_lab.workloads.transfer.model import ClientName
from bucketsum_lab.workloads.transfer.sinks import Sink

# Libraries that only one client needs are imported by it: the others must not pay for them.
# ruff: noqa: PLC0415

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


_POOL_MIN: Final = 10
_MAKING: Final = Lock()
"""boto3's default session makes one client at a time."""

Fetch: TypeAlias = "Callable[[str, int, Sink], None]"
"""Writes all bytes of the object at a key, of a size, to a sink; threads may share it."""


@dataclass(frozen=True, slots=True)
class Access:
    """The bucket to read, and the options of the client."""

    bucket: str
    region: str
    policy: ReadPolicy
    """Streams and chunk size of libcurl; boto3 reads its chunk size at a time."""
    threads: int
    """Threads that will share the client."""


def new_client(name: ClientName, access: Access) -> AbstractContextManager[Fetch]:
    """A client that opens connections and threads when it is used, and then closes them.

    Raises:
        BadSettings: A library or program that it needs is not there; also on entering.
    """
    if name not in CLIENTS:
        raise BadSettings(f"the client {name} is a program that is not installed here")
    return CLIENTS[name](access)


def endpoint() -> str:
    """The URL of S3 if the environment names one, which boto3 and the AWS CLI read themselves."""
    environ = os.environ
    return environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or ""


def new_s3(access: Access) -> S3Client:
    """A client of boto3 with a connection for each thread."""
    pool = Config(max_pool_connections=max(access.threads, _POOL_MIN))
    with _MAKING:
        return boto3.client("s3", region_name=access.region, config=CLIENT_CONFIG.merge(pool))


@contextmanager
def _libcurl(access: Access) -> Iterator[Fetch]:
    s3 = new_s3(access)
    source = reader(s3, SignedRequests.of_client(s3), access.policy, os.environ)

    def fetch(key: str, size_bytes: int, sink: Sink) -> None:
        for chunk in source.open(object_at(access.bucket, key, size_bytes)).chunks:
            sink.write(chunk)

    yield fetch  # the connections end with their last reference


@contextmanager
def _boto3(access: Access) -> Iterator[Fetch]:
    with closing(new_s3(access)) as s3:

        def fetch(key: str, _size_bytes: int, sink: Sink) -> None:
            body = s3.get_object(Bucket=access.bucket, Key=key)["Body"]
            for chunk in body.iter_chunks(access.policy.chunk_bytes):
                sink.write(chunk)

        yield fetch


@contextmanager
def _boto3_per_file(access: Access) -> Iterator[Fetch]:
    def fetch(key: str, size_bytes: int, sink: Sink) -> None:
        with _boto3(access) as fetch_once:
            fetch_once(key, size_bytes, sink)

    yield fetch


@contextmanager
def _s3transfer(access: Access) -> Iterator[Fetch]:
    """boto3's transfer manager, which has threads of its own."""
    from s3transfer.manager import TransferManager

    manager: Any
    with TransferManager(new_s3(access)) as manager:
        yield lambda key, _size, sink: manager.download(access.bucket, key, sink).result()


CLIENTS: Final[dict[ClientName, Callable[[Access], AbstractContextManager[Fetch]]]] = {
    ClientName.LIBCURL: _libcurl,
    ClientName.BOTO3: _boto3,
    ClientName.BOTO3_PER_FILE: _boto3_per_file,
    ClientName.S3TRANSFER: _s3transfer,
}
"""The command adds programs, which Lambda does not have."""
