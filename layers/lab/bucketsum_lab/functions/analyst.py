"""The sweep's last state: samples → statistics, the run's status, and the setting to deploy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import boto3
from aws_lambda_powertools import Logger

from bucketsum.clock import now
from bucketsum.environment import needed
from bucketsum.invocation.layer_manifest import log_layer
from bucketsum.prices import prices_in
from bucketsum.step_functions_errors import plain_cause
from bucketsum_lab.protocol.run_records import RunStatus, run_id_of_detail
from bucketsum_lab.results.measurements_table import MeasurementsTable
from bucketsum_lab.results.summary import ExecutionEnd, summarize

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

(_TABLE,) = needed(os.environ, "MEASUREMENTS_TABLE")

logger = Logger(use_rfc3339=True)  # as the hasher's
log_layer(logger)

_MEASUREMENTS: Final = MeasurementsTable(boto3.client("dynamodb"), _TABLE)


def sum_up(run_id: str, end: ExecutionEnd) -> dict[str, Any]:
    """Write the cells' statistics and the run's end; returns the summary.

    Raises:
        LookupError: There is no such run.
    """
    run = _MEASUREMENTS.run(run_id)
    if run is None or run.region is None or run.architecture is None:
        raise LookupError(f"there is no run {run_id}")
    ended, cells = summarize(
        run,
        _MEASUREMENTS.cells(run_id),
        _MEASUREMENTS.samples(run_id),
        prices_in(run.region, run.architecture),
        end,
        now(),
    )
    for cell in cells:
        _MEASUREMENTS.record_cell(run_id, cell)
    _MEASUREMENTS.record_run(ended)
    logger.info("ended", run_id=run_id, status=ended.status, cause=ended.cause)
    return dict(ended.summary or {})


@logger.inject_lambda_context
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda passes both
    """Summarize a run after its last state, or after its execution failed or was stopped."""
    if "detail" in event:
        run = _MEASUREMENTS.run(run_id_of_detail(event["detail"]))
        if run is None or run.status is not RunStatus.RUNNING:  # it reached its end
            return {}
        return sum_up(run.run_id, ExecutionEnd.broken_off(event["detail"]))
    failure = plain_cause(event["failure"].get("error"), event["failure"].get("cause"))
    leftovers = tuple(event["clean_up"]["left"])
    return sum_up(event["run_id"], ExecutionEnd(failure=failure, leftovers=leftovers))
