"""Fixtures for the tests of the source and of the hasher."""

from collections.abc import Iterator

import pytest
from botocore.config import Config
from moto import mock_aws
from mypy_boto3_s3 import S3Client
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.reading import Reader, Reading, s3_client
from tests.support.s3_server import HostileS3, hostile_s3

from bucketsum.s3 import source


@pytest.fixture(scope="module", autouse=True)
def botocore_does_not_pause() -> Iterator[None]:
    """Try again at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0)
        yield


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[HostileS3, S3Client]]:
    """One server for the tests that make many requests.

    Its client tries four times, as the hasher's does: a connection that is reset behind the last
    byte may be in use again before that is known.
    """
    with hostile_s3() as s3, s3_client(s3.endpoint_url, Config()) as client:
        yield s3, client


@pytest.fixture
def hostile() -> Iterator[HostileS3]:
    """An S3 of the test's own that can misbehave."""
    with hostile_s3() as server:
        yield server


@pytest.fixture
def client(hostile: HostileS3) -> Iterator[S3Client]:
    """A client of it that tries once."""
    with s3_client(hostile.endpoint_url) as client:
        yield client


@pytest.fixture
def reading(hostile: HostileS3, client: S3Client, reader: Reader) -> Reading:
    """One way of reading from it, which the test's parameter names."""
    return Reading(hostile, client, reader)


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[HasherStack]:
    """The hasher with everything around it in moto, its retries without their pauses."""
    monkeypatch.setattr(source, "_LONGEST_PAUSE_SECONDS", 0)
    monkeypatch.setenv("AWS_RETRY_MODE", "standard")
    with mock_aws():
        yield HasherStack(monkeypatch)


@pytest.fixture
def hostile_stack(
    stack: HasherStack, hostile: HostileS3, monkeypatch: pytest.MonkeyPatch
) -> HasherStack:
    """The same, but it reads from the S3 that can misbehave."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", hostile.endpoint_url)
    return stack
