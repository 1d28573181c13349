"""The sweep's last state: samples → statistics, a verdict, and the setting to deploy."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import boto3
from aws_lambda_powertools import Logger

from bucketsum.clock import now
from bucketsum.settings import needed
from bucketsum.sweep.causes import plain_cause
from bucketsum.sweep.measurements_table import MeasurementsTable, RunStatus, run_id_of
from bucketsum.sweep.prices import prices_in
from bucketsum.sweep.summary import ExecutionEnd, summarize

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

(_TABLE,) = needed(os.environ, "MEASUREMENTS_TABLE")

logger = Logger()

_MEASUREMENTS: Final = MeasurementsTable(boto3.client("dynamodb"), _TABLE)


def sum_up(run_id: str, ending: ExecutionEnd) -> dict[str, Any]:
    """Write the cells' statistics and how the run ended; returns the summary.

    Raises:
        LookupError: There is no such run.
    """
    run = _MEASUREMENTS.run(run_id)
    if run is None or run.region is None or run.architecture is None:
        raise LookupError(f"there is no run {run_id}")
    conclusion = summarize(
        run,
        _MEASUREMENTS.cells(run_id),
        _MEASUREMENTS.samples(run_id),
        prices_in(run.region, run.architecture),
        ending,
        now(),
    )
    for cell in conclusion.cells:
        _MEASUREMENTS.record_cell(run_id, cell)
    _MEASUREMENTS.record_run(conclusion.run)
    logger.info("ended", run_id=run_id, status=conclusion.run.status, cause=conclusion.run.cause)
    return conclusion.summary


@logger.inject_lambda_context
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda passes both
    """Sum a run up, when its states have ended or when somebody ended its execution."""
    if "detail" in event:
        return _broken_off(event["detail"])
    failure = plain_cause(event["failure"].get("error"), event["failure"].get("cause"))
    return sum_up(
        event["run_id"], ExecutionEnd(failure=failure, left=tuple(event["clean_up"]["left"]))
    )


def _broken_off(detail: dict[str, Any]) -> dict[str, Any]:
    """An execution's status has changed; a run that ended by itself has said so already."""
    started_at = datetime.fromtimestamp(detail["startDate"] / 1000, UTC).isoformat()
    run = _MEASUREMENTS.run(run_id_of(detail["name"], started_at))
    if run is None or run.status is not RunStatus.RUNNING:
        return {}
    status = RunStatus.FAILED if detail["status"] == "FAILED" else RunStatus.STOPPED
    told = plain_cause(detail.get("error"), detail.get("cause"))
    failure = f"the execution is {detail['status']}{': ' if told else ''}{told}"
    return sum_up(run.run_id, ExecutionEnd(status, failure))
