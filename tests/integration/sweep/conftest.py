"""The sweep's functions, with AWS simulated by moto."""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Final

import boto3
import pytest
from bench.maven import ProgramUnavailableError
from botocore.config import Config
from moto import mock_aws
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_s3 import S3Client
from tests.integration.sweep.mongodb_server import mongodb_server
from tests.support.clients import shared_client
from tests.support.moto_state import set_up
from tests.support.moto_versions import take_version_null
from tests.support.sam_template import create_table
from tests.support.sweeps import put_sample

from bucketsum_lab.measure import prober
from bucketsum_lab.measure.disk import measure_disk
from bucketsum_lab.plan import generated_objects
from bucketsum_lab.protocol import objects
from bucketsum_lab.protocol.run_records import Run
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.results.measurements_table import MeasurementsTable
from bucketsum_lab.workloads.unzip import generated_archive

BUCKET: Final = "sweeps"
TABLE: Final = "measurements"
FUNCTIONS: Final = "bucketsum_lab.functions"
_VARIABLES: Final = {
    "MEASUREMENTS_TABLE": TABLE,
    "ARCHITECTURE": "arm64",
    "PROBER_FUNCTION": "prober",
    "PROBER_MEMORY_MB": "512",
    "PROBER_STORAGE_MB": "512",
    "DEPLOYED_PARAMETERS": '{"MemorySize": "256", "ChunkBytes": "65536", "Streams": "auto", '
    '"ArchiveMode": "stream"}',
    "PROBER_DESCRIPTION": "what the template says",
    "POWERTOOLS_SERVICE_NAME": "bucketsum",
}


@dataclass(frozen=True, slots=True)
class Aws:
    """The AWS services that the functions use."""

    s3: S3Client
    dynamodb: DynamoDBClient
    bucket: str = BUCKET

    @property
    def measurements(self) -> MeasurementsTable:
        """The table as the template makes it."""
        return MeasurementsTable(self.dynamodb, TABLE)

    def run(self, run_id: str) -> Run:
        """The run, which must be recorded."""
        run = self.measurements.run(run_id)
        assert run is not None
        return run

    def put_sample(self, run_id: str, sample: Sample) -> None:
        """Write *sample* as the state machine does."""
        put_sample(self.dynamodb, TABLE, run_id, sample)


@dataclass(frozen=True, slots=True)
class Context:
    """The context that Lambda passes in addition to the event."""

    function_name: str = "function"
    memory_limit_in_mb: str = "256"
    function_version: str = "7"
    log_stream_name: str = "environment"
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:111122223333:function:function:7"
    aws_request_id: str = "request"


def _make_empty() -> None:
    shared_client("s3").create_bucket(Bucket=BUCKET)
    create_table(shared_client("dynamodb"), "MeasurementsTable", TABLE)


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    """An empty bucket and an empty table."""
    take_version_null(monkeypatch)
    with mock_aws():
        set_up(_make_empty)
        yield Aws(shared_client("s3"), shared_client("dynamodb"))


@pytest.fixture(scope="session", autouse=True)
def slow_work_is_done_once() -> Iterator[None]:
    """The same disk would be measured for a second, and the same archives compressed, again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prober, "measure_disk", cache(measure_disk))
        for name in ("_members", "_compressed"):
            patch.setattr(generated_archive, name, cache(getattr(generated_archive, name)))
        yield


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> int:
    """The size of a part of an upload: the least that S3 takes."""
    for module in (generated_objects, objects):
        monkeypatch.setattr(module, "PART_BYTES", 5 * 1024 * 1024)
    return objects.PART_BYTES


def _client_kept(service: str, config: Config | None = None) -> object:
    """A client for each environment: making one takes as long as all requests of a test."""
    environment = frozenset(pair for pair in os.environ.items() if pair[0].startswith("AWS_"))
    return _client_of(service, config, environment)


@cache
def _client_of(service: Any, config: Config | None, _environment: object) -> object:  # noqa: ANN401 - the stubs want literals
    return boto3.Session().client(service, config=config)


@pytest.fixture
def function(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A function's module, imported as in a new execution environment."""
    for name, value in (_VARIABLES | {"SWEEP_BUCKET": aws.bucket}).items():
        monkeypatch.setenv(name, value)

    monkeypatch.setattr(boto3, "client", _client_kept)

    def imported(name: str) -> ModuleType:
        monkeypatch.delitem(sys.modules, f"{FUNCTIONS}.{name}", raising=False)
        return importlib.import_module(f"{FUNCTIONS}.{name}")

    return imported


@pytest.fixture
def invoke(function: Callable[[str], ModuleType]) -> Callable[[str, dict[str, Any]], Any]:
    """Invokes a function in a new execution environment."""
    return lambda name, event: function(name).lambda_handler(event, Context())


@pytest.fixture(scope="session")
def mongodb_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where mongod or mongo-java-server answers; skips where this machine can run neither."""
    log = tmp_path_factory.mktemp("mongodb") / "log"
    with ExitStack() as servers:
        try:
            address = servers.enter_context(mongodb_server(log))
        except ProgramUnavailableError as error:
            pytest.skip(str(error))
        yield address
