"""The part of a deployed stack that sweeps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from bucketsum.sweep.measurements_table import MeasurementsTable
from bucketsum.sweep.prices import FREE_STORAGE_MB, prices_in
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.tune.results import results_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mypy_boto3_stepfunctions import SFNClient

    from bucketsum.sweep.prices import Prices
    from bucketsum_cli.options import Target
    from bucketsum_cli.stack import Stack
    from bucketsum_cli.tune.results import Results

_STATE_MACHINE: Final = "SweepStateMachineArn"
_TABLE: Final = "MeasurementsTableName"
_BUCKET: Final = "SweepBucketName"
_PROBER: Final = "ProberFunctionName"

_MISSING_OBJECT: Final = frozenset({"404", "NoSuchKey", "NotFound"})
_RUNNING: Final = "RUNNING"
_NOT_THERE_YET: Final = "ExecutionDoesNotExist"


@dataclass(frozen=True, slots=True)
class Execution:
    """How an execution of the state machine stands.

    Attributes:
        status: As Step Functions has it.
        cause: Why it failed, where it did.
    """

    status: str
    cause: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, however."""
        return self.status != _RUNNING


class Sweeper:
    """Starts and stops sweeps on a stack, and knows what they cost there.

    Raises:
        CannotDoError: The stack was deployed before there were sweeps.
    """

    def __init__(self, stack: Stack) -> None:
        names = (_STATE_MACHINE, _TABLE, _BUCKET, _PROBER)
        absent = [name for name in names if name not in stack.outputs]
        if absent:
            raise CannotDoError(
                f"the stack {stack.name} has no output {', '.join(absent)}: it was deployed by an "
                "older bucketsum; deploy it again (`bucketsum local up`, or `sam build && sam "
                "deploy`)"
            )
        self._stack = stack
        self._states: SFNClient = stack.client("stepfunctions")
        self.measurements = MeasurementsTable(stack.client("dynamodb"), stack.outputs[_TABLE])

    @property
    def is_local(self) -> bool:
        """Whether it is an embedded AWS."""
        return self._stack.connection.endpoint is not None

    def prices(self) -> Prices:
        """What Lambda costs where and as the prober runs.

        Raises:
            BadSweep: The price table does not have them.
        """
        configuration = self._stack.client("lambda").get_function_configuration(
            FunctionName=self._stack.outputs[_PROBER]
        )
        region = self._stack.connection.session.region_name
        architectures: list[Any] = [*configuration.get("Architectures", ["x86_64"])]
        return prices_in(region or "", architectures[0])

    def storage_mb(self) -> int:
        """The prober's /tmp in MiB."""
        configuration = self._stack.client("lambda").get_function_configuration(
            FunctionName=self._stack.outputs[_PROBER]
        )
        return configuration.get("EphemeralStorage", {}).get("Size", FREE_STORAGE_MB)

    def key_sizes(self, keys: Iterable[str]) -> list[int]:
        """Sizes of objects in the sweeps' bucket.

        Raises:
            CannotDoError: One is not there.
        """
        bucket, s3 = self._stack.outputs[_BUCKET], self._stack.client("s3")
        sizes = []
        for key in keys:
            try:
                sizes.append(s3.head_object(Bucket=bucket, Key=key)["ContentLength"])
            except ClientError as error:
                if error.response["Error"]["Code"] not in _MISSING_OBJECT:
                    raise
                raise CannotDoError(
                    f"there is no object {key} in the sweeps' bucket {bucket}; put it there with "
                    "its SHA-1 in the metadata sha1, or ask for sizes with object_bytes"
                ) from None
        return sizes

    def start(self, run_id: str, sweep: Mapping[str, Any]) -> str:
        """Start an execution named *run_id*; returns its ARN."""
        return self._states.start_execution(
            stateMachineArn=self._stack.outputs[_STATE_MACHINE],
            name=run_id,
            input=json.dumps(sweep),
        )["executionArn"]

    def execution(self, arn: str) -> Execution:
        """How it stands."""
        try:
            answer = self._states.describe_execution(executionArn=arn)
        except ClientError as error:
            if error.response["Error"]["Code"] != _NOT_THERE_YET:
                raise
            return Execution(_RUNNING)  # describing lags behind starting
        told = (answer.get("error"), answer.get("cause"))
        return Execution(answer["status"], ": ".join(one for one in told if one))

    def stop(self, arn: str) -> None:
        """End it now; the stack cleans up after it."""
        self._states.stop_execution(
            executionArn=arn, error="Interrupted", cause="Ctrl-C in `bucketsum tune run`"
        )


def found_run(target: Target, run_id: str) -> Results:
    """All that is recorded of *run_id* on the stack that *target* names.

    Raises:
        CannotDoError: There is no such stack, or no such run.
        BotoCoreError: AWS cannot be reached.
        ClientError: AWS refused.
    """
    return results_of(Sweeper(target.find()).measurements, run_id)
