"""Access to the sweep resources of a deployed stack."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from bucketsum.prices import FREE_STORAGE_MB, Prices, prices_in
from bucketsum_cli.aws.executions import StateMachine
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_lab.plan.generated_objects import GeneratedObjects
from bucketsum_lab.results.measurements_table import MeasurementsTable

if TYPE_CHECKING:
    from mypy_boto3_lambda.type_defs import FunctionConfigurationResponseTypeDef

    from bucketsum_cli.aws.stack import Stack

_STATE_MACHINE: Final = "SweepStateMachineArn"
_TABLE: Final = "MeasurementsTableName"
_PROBER: Final = "ProberFunctionName"


def has_sweeps(stack: Stack) -> bool:
    """Whether *stack* was deployed with the resources for sweeps."""
    return _STATE_MACHINE in stack.outputs


class Sweeper:
    """The parts of a stack that sweeps need, and their prices.

    Raises:
        CannotDoError: The stack has no resources for sweeps.
    """

    def __init__(self, stack: Stack) -> None:
        if not has_sweeps(stack):
            raise CannotDoError(
                f"the stack {stack.name} was deployed without sweeps: deploy it again with "
                "`sam deploy --parameter-overrides Sweeps=yes`"
            )
        self.stack = stack
        client = stack.client("stepfunctions")
        self.state_machine = StateMachine(client, stack.outputs[_STATE_MACHINE])
        self.measurements = MeasurementsTable(stack.client("dynamodb"), stack.outputs[_TABLE])

    @cached_property
    def _prober(self) -> FunctionConfigurationResponseTypeDef:
        return self.stack.function_configuration(self.stack.outputs[_PROBER])

    def prices(self) -> Prices:
        """Lambda's prices for the prober's Region and CPU architecture."""
        [architecture] = self._prober.get("Architectures", ["x86_64"])
        return prices_in(self.stack.connection.region, architecture)

    def storage_mb(self) -> int:
        """The prober's /tmp in MiB."""
        return self._prober.get("EphemeralStorage", {}).get("Size", FREE_STORAGE_MB)

    @cached_property
    def objects(self) -> GeneratedObjects:
        """The objects in the bucket for sweeps."""
        return GeneratedObjects(self.stack.client("s3"), self.stack.outputs["SweepBucketName"])
