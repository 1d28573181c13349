"""One real build and one local AWS, which all of these tests look at."""

from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from tests.build.artifacts import Built, copy_lambda_packages, sam_build
from tests.build.local_aws import LocalAws, make_local_aws
from tests.support.moto_server import moto_server


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The output of `sam build`."""
    return sam_build(tmp_path_factory.mktemp("sam"))


@pytest.fixture(scope="session")
def lambda_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with boto3 and the runtime client, as Lambda's own runtime has them."""
    return copy_lambda_packages(tmp_path_factory.mktemp("runtime") / "packages")


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """Where a local S3, SQS and DynamoDB answer."""
    with moto_server() as address:
        yield address


@pytest.fixture
def local_aws(endpoint: str) -> LocalAws:
    """A fresh set of resources, under the same names every time."""
    with urlopen(Request(f"{endpoint}/moto-api/reset", method="POST")) as answer:  # noqa: S310 - ours
        assert answer.status == 200
    return make_local_aws(endpoint)
