"""Status of a run's execution in Step Functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum_lab.protocol.run_records import RunStatus
from bucketsum_lab.results.measurements_table import MeasurementsTable

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient
    from mypy_boto3_stepfunctions.type_defs import DescribeExecutionOutputTypeDef


RUNNING: Final = "RUNNING"


def is_finished(run_id: str, measurements: MeasurementsTable, stepfunctions: SFNClient) -> bool:
    """Whether no execution of the run continues; False for an unknown run."""
    run = measurements.run(run_id)
    if run is None:
        return False
    if run.status is not RunStatus.RUNNING or run.execution_arn is None:
        return True
    execution = execution_of(run.execution_arn, stepfunctions)
    return execution is None or execution["status"] != RUNNING


def execution_of(
    execution_arn: str, stepfunctions: SFNClient
) -> DescribeExecutionOutputTypeDef | None:
    """The execution as Step Functions describes it; None once its history has expired."""
    try:
        return stepfunctions.describe_execution(executionArn=execution_arn)
    except stepfunctions.exceptions.ExecutionDoesNotExist:
        return None
