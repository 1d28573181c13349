"""Fakes of DynamoDB: moto, one in memory, and AWS's own DynamoDB Local if it can run."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final, cast

import boto3
import pytest
from bench.maven import ProgramUnavailableError
from moto import mock_aws
from mypy_boto3_dynamodb import DynamoDBClient
from tests.integration.table.dynamodb_local import dynamodb_local
from tests.support.dynamodb_fake import FakeDynamoDb
from tests.support.programs import is_here
from tests.support.sam_template import create_table

from bucketsum.table.digests_table import DigestsTable

_ORACLE: Final = ["dynamodb-local"] if is_here("java", "mvn") else []


@pytest.fixture(scope="session")
def dynamodb_local_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where DynamoDB Local answers; skips where this machine cannot run it."""
    log = tmp_path_factory.mktemp("dynamodb-local") / "log"
    with ExitStack() as running:
        try:
            endpoint = running.enter_context(dynamodb_local(log))
        except ProgramUnavailableError as error:
            pytest.skip(str(error))
        yield endpoint


@contextmanager
def _client_of(request: pytest.FixtureRequest) -> Iterator[DynamoDBClient]:
    """A client of the server that the fixture's parameter names."""
    if request.param == "dynamodb-local":
        endpoint = request.getfixturevalue("dynamodb_local_endpoint")
        yield boto3.client("dynamodb", endpoint_url=endpoint)
        return
    with mock_aws():
        yield boto3.client("dynamodb")


@pytest.fixture(scope="module", params=["moto", *_ORACLE])
def dynamodb(request: pytest.FixtureRequest) -> Iterator[DynamoDBClient]:
    """A client of a DynamoDB that keeps what it is sent."""
    with _client_of(request) as client:
        yield client


@pytest.fixture(scope="module", params=["memory", *(_ORACLE or ["moto"])])
def prompt_dynamodb(request: pytest.FixtureRequest) -> Iterator[tuple[DynamoDBClient, str]]:
    """A client and its table, for thousands of requests, each of which takes moto 5 ms.

    The fake in memory is never alone: moto takes the place of a DynamoDB Local that cannot run.
    """
    if request.param == "memory":
        yield cast("DynamoDBClient", FakeDynamoDb()), "digests"
        return
    with _client_of(request) as client:
        yield client, _new_table(client)


@pytest.fixture(scope="module")
def table_name(dynamodb: DynamoDBClient) -> str:
    """A new table with the keys and indexes that template.yaml gives it."""
    return _new_table(dynamodb)


def _new_table(client: DynamoDBClient) -> str:
    name = f"digests-{uuid.uuid4().hex}"
    create_table(client, "DigestsTable", name)
    return name


@pytest.fixture(scope="module")
def digests_table(dynamodb: DynamoDBClient, table_name: str) -> DigestsTable:
    """A table that a module's tests share; each test keeps to keys of its own."""
    return DigestsTable(dynamodb, table_name)
