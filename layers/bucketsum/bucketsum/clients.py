"""Clients of AWS, made in as little time as botocore allows: a cold start pays for them."""

from __future__ import annotations

import functools
import gzip
import json
import ssl
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, overload

import botocore.httpsession
from botocore.loaders import JSONFileLoader, Loader
from botocore.session import Session

if TYPE_CHECKING:
    from botocore.config import Config
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

SERVICES: Final = ("dynamodb", "s3", "sqs")
"""What clients can be had of."""

_GZIP_MAGIC: Final = b"\x1f\x8b"


class _Files(JSONFileLoader):
    """Reads botocore's models into plain dictionaries.

    botocore asks the decoder for an `OrderedDict` of every object, from before dictionaries kept
    their order, and that doubles the time of decoding.
    """

    def load_file(self, file_path: str) -> Any:  # noqa: ANN401 - as botocore's: whatever the JSON holds
        for ending in (".json.gz", ".json"):
            try:
                data = Path(file_path + ending).read_bytes()
            except FileNotFoundError:
                continue
            return json.loads(gzip.decompress(data) if data[:2] == _GZIP_MAGIC else data)
        return None


class _TrustingOnce(ssl.SSLContext):
    """Reads a file of certificate authorities once, and not again for every connection.

    urllib3 has it read for each. botocore's file takes 12 ms of a whole processor, 40 ms at 512 MB
    of memory and 170 ms at 128 MB, more than the rest of connecting. They stay trusted anyway: all
    connections of a client share one context.
    """

    def __init__(self, *_: object) -> None:
        self._read: set[object] = set()
        self._one_at_a_time = Lock()

    def load_verify_locations(self, *asked: Any, **named: Any) -> None:  # noqa: ANN401 - as ssl's
        what = (*asked, *sorted(named.items()))
        with self._one_at_a_time:
            if what not in self._read:
                super().load_verify_locations(*asked, **named)
                self._read.add(what)


# The name that botocore makes its contexts by, which is not of its public interface. Under another
# one all works as before, and connecting is slower; a test tells.
vars(botocore.httpsession)["SSLContext"] = _TrustingOnce


class _Models(Loader):
    """Finds botocore's models of our services without looking for all the others.

    Before it loads a model, botocore lists the folders of all its 400 services, twice.
    """

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002 - as botocore's
        return list(SERVICES)


@functools.cache
def _models() -> _Models:
    return _Models(file_loader=_Files())


@functools.cache
def _session() -> Session:
    """One for all clients. boto3 around it would add resources and transfers, which nobody uses."""
    session = Session()
    session.register_component("data_loader", _models())
    return session


@overload
def client_of(service: Literal["dynamodb"], config: Config) -> DynamoDBClient: ...
@overload
def client_of(service: Literal["s3"], config: Config) -> S3Client: ...
@overload
def client_of(service: Literal["sqs"], config: Config) -> SQSClient: ...
def client_of(service: str, config: Config) -> object:
    """A low-level client of *service*, as `boto3.client` makes it.

    Region, credentials, endpoints and everything else come from the environment, as there.
    """
    return _session().create_client(service, config=config)
