"""A deployed stack's tuning half: start sweeps, wait for them, see what they leave, break parts."""

import io
import json
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mypy_boto3_lambda import LambdaClient
from mypy_boto3_stepfunctions import SFNClient
from tests.e2e.command import physical_name, throttled, until
from tests.support.sam_template import load_template

from bucketsum_cli.aws.stack import Stack
from bucketsum_lab.protocol.run_records import Run, run_id_of
from bucketsum_lab.results.measurements_table import MeasurementsTable

SOURCES: Final = Path(__file__).parents[2] / "src"
ORIGINAL_MEMORY_MB: Final[int] = load_template()["Parameters"]["MemorySize"]["Default"]
"""The prober's, between sweeps: what the stack is deployed with."""


@dataclass(frozen=True, slots=True)
class Ended:
    """An execution that has ended.

    Attributes:
        run_id: Its run.
        status: As Step Functions has it.
        output: Its output, where it succeeded.
        cause: Its cause, where it failed.
    """

    run_id: str
    status: str
    output: Mapping[str, Any]
    cause: str


class Sweeps:
    """Sweeps of one stack."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.lambdas: LambdaClient = stack.client("lambda")
        self.executions: SFNClient = stack.client("stepfunctions")
        self.bucket = stack.outputs["SweepBucketName"]
        self.prober = stack.outputs["ProberFunctionName"]
        self.measurements = MeasurementsTable(
            stack.client("dynamodb"), stack.outputs["MeasurementsTableName"]
        )

    def start(self, sweep: Mapping[str, Any]) -> str:
        """Start a sweep; returns the execution."""
        return self.executions.start_execution(
            stateMachineArn=self.stack.outputs["SweepStateMachineArn"],
            name=uuid.uuid4().hex[:6],
            input=json.dumps(sweep),
        )["executionArn"]

    def ended(self, execution: str) -> Ended:
        """Wait for an execution."""
        until(lambda: self._status(execution) != "RUNNING", "the execution to end")
        answer = self.executions.describe_execution(executionArn=execution)
        output = json.loads(answer.get("output") or "{}")
        cause = answer.get("cause") or ""
        return Ended(self.run_id(execution), answer["status"], output, cause)

    def run(self, sweep: Mapping[str, Any]) -> Ended:
        """Start a sweep and wait for it."""
        return self.ended(self.start(sweep))

    def run_id(self, execution: str) -> str:
        """The run of an execution."""
        answer = self.executions.describe_execution(executionArn=execution)
        return run_id_of(answer["name"], answer["startDate"].isoformat())

    def recorded(self, run_id: str) -> Run:
        """The run as the table has it."""
        run = self.measurements.run(run_id)
        assert run is not None
        return run

    def versions(self) -> dict[str, int]:
        """The prober's published versions and their memory sizes."""
        pages = self.lambdas.get_paginator("list_versions_by_function").paginate(
            FunctionName=self.prober
        )
        versions = [version for page in pages for version in page["Versions"]]
        return {
            version["Version"]: version["MemorySize"]
            for version in versions
            if version["Version"] != "$LATEST"
        }

    def memory_mb(self) -> int:
        """Memory of the unpublished prober."""
        return self.lambdas.get_function_configuration(FunctionName=self.prober)["MemorySize"]

    def uploads(self) -> list[str]:
        """Multipart uploads that nobody completed."""
        answer = self.stack.client("s3").list_multipart_uploads(Bucket=self.bucket)
        return [upload["Key"] for upload in answer.get("Uploads", [])]

    def assert_nothing_is_left(self) -> None:
        """No version, the memory as it was, no half an object."""
        assert self.versions() == {}
        assert self.memory_mb() == ORIGINAL_MEMORY_MB
        assert self.uploads() == []

    @contextmanager
    def replaced(self, logical_id: str, source: str, timeout_s: int = 900) -> Iterator[None]:
        """A function runs *source* for a while; its own code lies beside it as ``own``."""
        function = physical_name(self.stack, logical_id)
        folder = SOURCES / logical_id.removesuffix("Function").lower()
        own = (folder / "app.py").read_bytes()
        was = self.lambdas.get_function_configuration(FunctionName=function)["Timeout"]
        self._deploy(function, {"app.py": source.encode(), "own.py": own}, timeout_s)
        try:
            yield
        finally:
            self._deploy(function, {"app.py": own}, was)

    @contextmanager
    def throttled(self) -> Iterator[None]:
        """The prober is throttled for a while.

        The emulator does not count a version's invocations against the function's reserved
        concurrency, as Lambda does; so for this while the probes do not name the version.
        """
        machine = self.stack.outputs["SweepStateMachineArn"]
        was = self.executions.describe_state_machine(stateMachineArn=machine)["definition"]
        self.executions.update_state_machine(
            stateMachineArn=machine,
            definition=was.replace(":' & $states.input.qualifier", "'"),
        )
        try:
            with throttled(self.stack, self.prober):
                yield
        finally:
            self.executions.update_state_machine(stateMachineArn=machine, definition=was)

    def _deploy(self, function: str, files: Mapping[str, bytes], timeout_s: int) -> None:
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as files_archive:
            for name, content in files.items():
                files_archive.writestr(name, content)
        updated = self.lambdas.get_waiter("function_updated_v2")
        self.lambdas.update_function_code(FunctionName=function, ZipFile=archive.getvalue())
        updated.wait(FunctionName=function)  # as on AWS, an update refuses the next one until then
        self.lambdas.update_function_configuration(FunctionName=function, Timeout=timeout_s)
        updated.wait(FunctionName=function)

    def _status(self, execution: str) -> str:
        return self.executions.describe_execution(executionArn=execution)["status"]
