"""Clients: they read objects of a bucket into sinks, from several threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol

import boto3
from botocore.config import Config

from bucketsum.errors import BadSettings
from bucketsum.s3.botocore_reader import BotocoreReader
from bucketsum.s3.choose_reader import reader
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum_lab.protocol.probe import object_at
from bucketsum_lab.workloads.transfer.model import ClientName

# Libraries that only one client needs are imported by it: the others must not pay for them.
# ruff: noqa: PLC0415

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from bucketsum.s3.read_plan import ReadPolicy
    from bucketsum.s3.source import Source
    from bucketsum_lab.workloads.transfer.sinks import Sink

_POOL_MIN: Final = 10
_MAKING: Final = Lock()
"""boto3's default session makes one client at a time."""


class Client(Protocol):
    """Reads objects of one bucket; threads may share it."""

    def fetch(self, key: str, size_bytes: int, sink: Sink) -> None:
        """Write all bytes of the object to *sink*.

        Raises what the client raises.
        """

    def close(self) -> None:
        """Close its connections and threads."""


@dataclass(frozen=True, slots=True)
class Access:
    """The bucket to read, and the options of the client."""

    bucket: str
    region: str
    policy: ReadPolicy
    """Streams and chunk size of libcurl; boto3 reads its chunk size at a time."""
    threads: int
    """Threads that will share the client."""


def new_client(name: ClientName, access: Access) -> Client:
    """A client without connections.

    Raises:
        BadSettings: A library or program that it needs is not there.
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


class _Curl:
    def __init__(self, access: Access) -> None:
        policy = access.policy
        self._bucket = access.bucket
        self._source: Source = reader(
            new_s3(access), policy.chunk_bytes, policy.plan_for, os.environ
        )
        if isinstance(self._source, BotocoreReader):
            raise BadSettings(
                "the S3 client has a certificate of its own, which libcurl cannot use"
            )

    def fetch(self, key: str, size_bytes: int, sink: Sink) -> None:
        for chunk in self._source.open(object_at(self._bucket, key, size_bytes)).chunks:
            sink.write(chunk)

    def close(self) -> None:
        """The connections end with their last reference."""


class _Boto3:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._s3 = new_s3(access)

    def fetch(self, key: str, size_bytes: int, sink: Sink) -> None:  # noqa: ARG002 - as `Client`
        body = self._s3.get_object(Bucket=self._access.bucket, Key=key)["Body"]
        for chunk in body.iter_chunks(self._access.policy.chunk_bytes):
            sink.write(chunk)

    def close(self) -> None:
        self._s3.close()


class _Boto3PerFile:
    def __init__(self, access: Access) -> None:
        self._access = access

    def fetch(self, key: str, size_bytes: int, sink: Sink) -> None:
        client = _Boto3(self._access)
        client.fetch(key, size_bytes, sink)
        client.close()

    def close(self) -> None:
        """Do nothing: `fetch` closes the client of each file."""


class _S3Transfer:
    """boto3's transfer manager, which has threads of its own."""

    def __init__(self, access: Access) -> None:
        from s3transfer.manager import TransferManager

        self._manager: Any = TransferManager(new_s3(access))
        self._bucket = access.bucket

    def fetch(self, key: str, size_bytes: int, sink: Sink) -> None:  # noqa: ARG002 - as `Client`
        self._manager.download(self._bucket, key, sink).result()

    def close(self) -> None:
        self._manager.shutdown()


CLIENTS: Final[dict[ClientName, Callable[[Access], Client]]] = {
    ClientName.LIBCURL: _Curl,
    ClientName.BOTO3: _Boto3,
    ClientName.BOTO3_PER_FILE: _Boto3PerFile,
    ClientName.S3TRANSFER: _S3Transfer,
}
"""The command adds programs, which Lambda does not have."""
