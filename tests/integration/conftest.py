"""What the tests of reading from S3 stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.hostile_s3 import HostileS3, hostile_s3
from tests.integration.reading import s3_client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_s3 import S3Client


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
