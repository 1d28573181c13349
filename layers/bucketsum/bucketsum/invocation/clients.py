"""AWS clients that start fast; a cold start makes none in a usual environment."""

from __future__ import annotations

import functools
import gzip
import json
import os
import re
import ssl
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, overload

import botocore.httpsession
from botocore.config import Config
from botocore.configprovider import ConfiguredEndpointProvider
from botocore.loaders import JSONFileLoader, Loader
from botocore.session import Session

if TYPE_CHECKING:
    from botocore.credentials import Credentials
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

SERVICES: Final = ("dynamodb", "s3", "sqs")

PROMPT: Final = Config(
    connect_timeout=1,
    read_timeout=2,
    retries={"mode": "standard", "total_max_attempts": 4},
)
"""Configuration of clients of DynamoDB and SQS.

A request that hangs is given up after 3 s and repeated, so that few outlast the invocation.
"""

SILENT_SECONDS: Final = 19.0
"""Longest time until a client with `PROMPT` gives up a service that does not answer.

Four attempts of 3 s, and pauses of up to 1, 2 and 4 s.
"""

_MAKING: Final = Lock()
"""A session makes one client at a time."""

_GZIP_MAGIC: Final = b"\x1f\x8b"


class _PlainJsonLoader(JSONFileLoader):
    """Loads botocore's models into plain dictionaries.

    botocore requests an `OrderedDict` for every object, from before dictionaries kept their order,
    and that doubles the time of decoding.
    """

    def load_file(self, file_path: str) -> Any:  # noqa: ANN401 - as botocore's: any JSON value
        """Return the value in *file_path* with one of the endings; None if there is no file."""
        for suffix in (".json.gz", ".json"):
            try:
                data = Path(file_path + suffix).read_bytes()
            except FileNotFoundError:
                continue
            return json.loads(gzip.decompress(data) if data[:2] == _GZIP_MAGIC else data)
        return None


class _CachingSSLContext(ssl.SSLContext):
    """Reads a CA bundle once, and not again for every connection.

    urllib3 reads it for each connection. botocore's bundle takes 12 ms of a full CPU, 40 ms at
    512 MB of memory and 170 ms at 128 MB, more than the rest of connecting. All connections of a
    client share one context, so the authorities stay trusted.
    """

    def __init__(self, *_: object) -> None:
        self._loaded: set[object] = set()
        self._lock = Lock()

    def load_verify_locations(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as ssl's
        locations = (*args, *sorted(kwargs.items()))
        with self._lock:
            if locations not in self._loaded:
                super().load_verify_locations(*args, **kwargs)
                self._loaded.add(locations)


def speed_up_botocore() -> None:
    """Let the TLS contexts that botocore makes from now on read each CA bundle only once.

    Replaces a private name of botocore. If a release renames it, everything works as before, but
    connecting is slower; a test detects that.
    """
    vars(botocore.httpsession)["SSLContext"] = _CachingSSLContext


class ModelLoader(Loader):
    """Finds botocore's models without a look into each folder of its 400 services, twice."""

    def __init__(self) -> None:
        super().__init__(file_loader=_PlainJsonLoader())

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002 - as botocore's
        """The names of all services: the folders of their models."""
        return os.listdir(self.BUILTIN_DATA_PATH)  # noqa: PTH208 - names


class _OwnModelLoader(ModelLoader):
    """Knows the services of the functions alone, and their endpoints."""

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002 - as botocore's
        return list(SERVICES)

    def load_data_with_path(self, name: str) -> tuple[Any, str]:
        """As botocore's, but endpoints follow from their rule, not from a list of 1.25 MB."""
        if name != "endpoints" or not _VARIANTS.isdisjoint(os.environ):
            return super().load_data_with_path(name)
        rules, path = super().load_data_with_path("partitions")
        return {"partitions": [_partition(rule) for rule in rules["partitions"]]}, path


_VARIANTS: Final = frozenset({"AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT"})
"""Variables that ask for endpoints with exceptions to the rule."""

_S3: Final = {
    "defaults": {"signatureVersions": ["s3v4"]},
    "partitionEndpoint": "aws-global",  # botocore's name of us-east-1 in older configurations
    "endpoints": {
        "aws-global": {"hostname": "s3.amazonaws.com", "credentialScope": {"region": "us-east-1"}}
    },
}


def _partition(rule: Mapping[str, Any]) -> dict[str, Any]:
    """A partition of AWS as in botocore's list, with the endpoints of our services alone."""
    return {
        "partition": rule["id"],
        "dnsSuffix": rule["outputs"]["dnsSuffix"],
        "regionRegex": rule["regionRegex"],
        "regions": rule["regions"],
        "defaults": {
            "hostname": "{service}.{region}.{dnsSuffix}",
            "protocols": ["https"],
            "signatureVersions": ["v4"],
        },
        "services": {"s3": _S3},
    }


@functools.cache
def _session() -> Session:
    """The session of all clients. boto3's would add resources and transfers, which nobody uses."""
    speed_up_botocore()
    session = Session()
    session.register_component("data_loader", _OwnModelLoader())
    return session


def credentials() -> Credentials | None:
    """The credentials of all clients, which refresh themselves; None if there are none."""
    return _session().get_credentials()


def s3_endpoint(region: str) -> str:
    """The URL of S3 that clients in *region* use: the configured one, or AWS's own."""
    session = _session()
    if not session.get_config_variable("ignore_configured_endpoint_urls"):
        files = session.full_config, session.get_scoped_config()
        if url := ConfiguredEndpointProvider(*files, client_name="s3").provide():
            return str(url)
    return aws_s3_endpoint(region)


def aws_s3_endpoint(region: str) -> str:
    """AWS's own URL of S3 in *region*, by the rule of botocore's endpoint rule set for S3."""
    session = _session()
    fips = "-fips" if session.get_config_variable("use_fips_endpoint") else ""
    dual = ".dualstack" if session.get_config_variable("use_dualstack_endpoint") else ""
    return f"https://s3{fips}{dual}.{region}.{_dns_suffix(region)}"


def _dns_suffix(region: str) -> str:
    for partition in _session().get_data("partitions")["partitions"]:
        if re.match(partition["regionRegex"], region):
            return str(partition["outputs"]["dnsSuffix"])
    return "amazonaws.com"  # a Region of the future


@overload
def client_of(service: Literal["dynamodb"], config: Config) -> DynamoDBClient: ...
@overload
def client_of(service: Literal["s3"], config: Config) -> S3Client: ...
@overload
def client_of(service: Literal["sqs"], config: Config) -> SQSClient: ...
def client_of(service: str, config: Config) -> object:
    """A low-level client of *service*, as `boto3.client` makes it.

    Region, credentials, endpoints and everything else come from the environment, as in boto3.
    """
    with _MAKING:
        return _session().create_client(service, config=config)
