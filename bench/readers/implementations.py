"""The compared readers; each imports what it needs, because its memory counts.

A function takes an object, and returns a function that reads it: its size and its SHA-1.
"""

# ruff: noqa: PLC0415 - as said

from __future__ import annotations

import hashlib
import os
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from bench.tables.process import measure_one

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from bucketsum.s3.source import Source

    Read: TypeAlias = Callable[[], tuple[int, str]]

_CHUNK_BYTES: Final = 1024 * 1024
_CURL_BUFFER_BYTES: Final = 512 * 1024


class ReadTarget(SimpleNamespace):
    """The object to read, its server, the function's memory, and paths of programs by name."""

    endpoint: str
    certificates: str
    bucket: str
    key: str
    size_bytes: int
    memory_mb: int
    programs: dict[str, str]


class _Hashing:
    """A file without seek, so that s3transfer writes to it in order."""

    def __init__(self) -> None:
        self._sha1 = hashlib.sha1(usedforsecurity=False)
        self._size_bytes = 0

    def write(self, data: bytes) -> int:
        self._sha1.update(data)
        self._size_bytes += len(data)
        return len(data)

    def result(self) -> tuple[int, str]:
        return self._size_bytes, self._sha1.hexdigest()


def _digest(chunks: Iterable[bytes]) -> tuple[int, str]:
    hashing = _Hashing()
    for chunk in chunks:
        hashing.write(chunk)
    return hashing.result()


def baseline(target: ReadTarget, chunk_bytes: int) -> Read:
    """The baseline (Bryson, 2021): the raw stream of the resource's body."""
    import boto3

    s3 = boto3.resource("s3")

    def read() -> tuple[int, str]:
        body: Any = s3.Object(target.bucket, target.key).get()["Body"]
        stream = body._raw_stream  # noqa: SLF001 - as in Bryson (2021)
        return _digest(iter(partial(stream.read, chunk_bytes), b""))

    return read


def iter_chunks(target: ReadTarget, chunk_bytes: int) -> Read:
    """Yield chunks by `StreamingBody.iter_chunks` of botocore."""
    import boto3

    s3 = boto3.client("s3")

    def read() -> tuple[int, str]:
        body = s3.get_object(Bucket=target.bucket, Key=target.key)["Body"]
        return _digest(body.iter_chunks(chunk_bytes))

    return read


def download_fileobj(target: ReadTarget) -> Read:
    """s3transfer with its defaults, parts of 8 MiB in 10 threads, into a hash."""
    import boto3

    s3 = boto3.client("s3")

    def read() -> tuple[int, str]:
        hashing = _Hashing()
        s3.download_fileobj(target.bucket, target.key, hashing)  # type: ignore[arg-type]
        return hashing.result()

    return read


def crt(target: ReadTarget, part_bytes: int, gbit_per_s: float) -> Read:
    """A GET of AWS's S3 client in C: parallel ranges, passed on in order.

    *gbit_per_s* is its target throughput.
    """
    from urllib.parse import urlsplit

    from awscrt import auth, http, io, s3

    group = io.EventLoopGroup()
    bootstrap = io.ClientBootstrap(group, io.DefaultHostResolver(group))
    tls = io.TlsContextOptions()
    tls.override_default_trust_store_from_path(ca_filepath=target.certificates)
    host = str(urlsplit(target.endpoint).hostname)
    client = s3.S3Client(
        bootstrap=bootstrap,
        region="us-east-1",
        credential_provider=auth.AwsCredentialsProvider.new_environment(),
        tls_connection_options=io.ClientTlsContext(tls).new_connection_options(),
        part_size=part_bytes,
        throughput_target_gbps=gbit_per_s,
    )

    def read() -> tuple[int, str]:
        hashing = _Hashing()

        def on_body(chunk: bytes, offset: int, **_: object) -> None:  # noqa: ARG001 - its signature
            hashing.write(chunk)

        headers = http.HttpHeaders([("host", host)])
        request = http.HttpRequest("GET", f"/{target.bucket}/{target.key}", headers)
        transfer = client.make_request(
            type=s3.S3RequestType.GET_OBJECT, request=request, on_body=on_body
        )
        transfer.finished_future.result()
        return hashing.result()

    return read


def curl(target: ReadTarget) -> Read:
    """One unsigned, unverified GET: the upper bound of one stream, not a usable reader."""
    import pycurl

    handle = pycurl.Curl()
    handle.setopt(pycurl.URL, f"{target.endpoint}/{target.bucket}/{target.key}")
    handle.setopt(pycurl.CAINFO, target.certificates)
    handle.setopt(pycurl.BUFFERSIZE, _CURL_BUFFER_BYTES)

    def read() -> tuple[int, str]:
        sha1 = hashlib.sha1(usedforsecurity=False)
        handle.setopt(pycurl.WRITEFUNCTION, sha1.update)
        handle.perform()
        return int(handle.getinfo(pycurl.SIZE_DOWNLOAD_T)), sha1.hexdigest()

    return read


def single_stream(target: ReadTarget, chunk_bytes: int) -> Read:
    """One boto3 stream: the hasher's reader without libcurl."""
    import boto3

    from bucketsum.s3.botocore_reader import BotocoreReader
    from bucketsum.s3.source import CLIENT_CONFIG

    s3 = boto3.client("s3", config=CLIENT_CONFIG)
    return _reading(BotocoreReader(s3, chunk_bytes), target)


def as_deployed(target: ReadTarget, streams: int | None = None, key: str = "") -> Read:
    """The hasher's reader; without *streams*, with its default settings.

    With the beginning of a *key* that has a checksum of S3, that is compared.
    """
    import boto3

    from bucketsum.s3.chosen_reader import reader
    from bucketsum.s3.read_plan import ReadPolicy
    from bucketsum.s3.signed_requests import SignedRequests
    from bucketsum.s3.source import CLIENT_CONFIG
    from bucketsum.s3.stored_checksums import ComparingSource, StoredChecksums

    s3 = boto3.client("s3", config=CLIENT_CONFIG)
    policy = ReadPolicy(streams, _CHUNK_BYTES, target.memory_mb)
    requests = SignedRequests.of_client(s3, asks_checksum=bool(key))
    source: Source = reader(s3, requests, policy, os.environ)
    if key:
        source = ComparingSource(source, StoredChecksums(s3))
    return _reading(source, target, key)


def _reading(source: Source, target: ReadTarget, key: str = "") -> Read:
    from bucketsum.digest import digest_of
    from bucketsum.events.object_events import ObjectCreated

    key += target.key
    created = ObjectCreated(target.bucket, key, None, None, target.size_bytes, "00", "")

    def read() -> tuple[int, str]:
        opened = source.open(created)
        digest = digest_of(opened.chunks)
        compared = opened.compared(digest.by_name)
        if compared and compared.result != "equal":
            raise ValueError(compared)
        return digest.size_bytes, digest.sha1

    return read


def piped(target: ReadTarget, argv: list[str]) -> Read:
    """A program that writes the object to a pipe into `sha1sum`; the time includes their start.

    The target's ``{bucket}``, ``{key}`` and ``{endpoint}``, and the paths of programs by their
    names, are filled into *argv*.
    """
    import subprocess

    command = [word.format(**vars(target), **target.programs) for word in argv]

    def read() -> tuple[int, str]:
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE) as sender,  # noqa: S603 - from the table
            subprocess.Popen(
                ["sha1sum"],  # noqa: S607 - the system's
                stdin=sender.stdout,
                stdout=subprocess.PIPE,
                text=True,
            ) as hasher,
        ):
            assert sender.stdout is not None  # noqa: S101 - a pipe, as above
            sender.stdout.close()
            sha1 = hasher.communicate()[0].split()[0]
            if sender.wait() != 0:
                raise ChildProcessError(f"{command[0]} ended with {sender.returncode}")
        return target.size_bytes, sha1  # the digest is compared, so the size is right if it is

    return read


def prepared(job: dict[str, Any]) -> Callable[[], dict[str, object]]:
    """The reader of *job* after imports and set-up, and for a warm run after a first reading."""
    read = globals()[job["reader"]](ReadTarget(**job["target"]), **job["options"])
    if job["warm"]:
        read()
    return lambda: dict(zip(("size_bytes", "sha1"), read(), strict=True))


if __name__ == "__main__":  # the process that runs one reader in the sandbox
    measure_one(2, prepared)
