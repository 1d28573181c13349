"""Whether a run can still need what it has published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bucketsum.sweep.records import RunStatus

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

    from bucketsum.sweep.measurements_table import MeasurementsTable

_RUNNING = "RUNNING"


class Liveness:
    """Asks the table, and where that says RUNNING, Step Functions."""

    def __init__(self, measurements: MeasurementsTable, stepfunctions: SFNClient) -> None:
        self._measurements = measurements
        self._stepfunctions = stepfunctions

    def is_over(self, run_id: str) -> bool:
        """Whether no execution of the run goes on. A run that nobody knows is left alone."""
        run = self._measurements.run(run_id)
        if run is None:
            return False
        if run.status is not RunStatus.RUNNING or run.execution_arn is None:
            return True
        return self._execution_status(run.execution_arn) != _RUNNING

    def _execution_status(self, execution_arn: str) -> str | None:
        """As Step Functions has it; None once its history has expired."""
        try:
            answer = self._stepfunctions.describe_execution(executionArn=execution_arn)
        except self._stepfunctions.exceptions.ExecutionDoesNotExist:
            return None
        return answer["status"]
