"""The sweep's first states: input → plan, and the objects to read."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import boto3
from aws_lambda_powertools import Logger

from bucketsum.clock import now
from bucketsum.environment import needed
from bucketsum.invocation.layer_manifest import log_layer
from bucketsum.prices import Prices, prices_in
from bucketsum_lab.errors import BadSweep
from bucketsum_lab.plan.generated_objects import GeneratedObjects
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import Plan, check_estimate, plan_of
from bucketsum_lab.protocol.probe import KnownObject
from bucketsum_lab.protocol.run_records import RUNTIME, CellRow, Run, RunLabel, RunStatus
from bucketsum_lab.results.measurements_table import MeasurementsTable
from bucketsum_lab.results.run_status import RUNNING, execution_of
from bucketsum_lab.results.summary import ExecutionEnd, summarize
from bucketsum_lab.workloads import WORKLOADS, workload_of

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


_TABLE, _BUCKET, _ARCHITECTURE, _REGION, _STORAGE_MB, _DEPLOYED = needed(
    os.environ,
    "MEASUREMENTS_TABLE",
    "SWEEP_BUCKET",
    "ARCHITECTURE",
    "AWS_REGION",
    "PROBER_STORAGE_MB",
    "DEPLOYED_PARAMETERS",
)

logger = Logger(use_rfc3339=True)  # as the hasher's
log_layer(logger)

_MEASUREMENTS: Final = MeasurementsTable(boto3.client("dynamodb"), _TABLE)
_STEPFUNCTIONS: Final = boto3.client("stepfunctions")
_OBJECTS: Final = GeneratedObjects(boto3.client("s3"), _BUCKET)


def plan_sweep(event: dict[str, Any]) -> dict[str, Any]:
    """Plan a sweep and record that it runs.

    Raises:
        BadSweep: It cannot be done; the text, which the run has too, names the field to change.
    """
    try:
        plan, prices = _planned(event["input"])
    except BadSweep as error:
        _MEASUREMENTS.record_run(replace(_begun(event), status=RunStatus.FAILED, cause=str(error)))
        raise
    cells = [cell.row for cell in plan.cells]
    for cell in cells:
        _MEASUREMENTS.record_cell(event["run_id"], cell)
    run = replace(
        plan.recorded_in(_begun(event)),
        estimated_seconds=round(plan.estimated_seconds, 1),
        estimated_usd=plan.estimated_usd(prices),
        price_date=prices.date,
        priced_as=prices.priced_as,
    )
    _MEASUREMENTS.record_run(run)
    _close_if_ended(run, cells, prices)
    logger.info("planned", run_id=run.run_id, samples=run.samples, usd=run.estimated_usd)
    return plan.to_json() | {"bucket": _BUCKET}


def _close_if_ended(run: Run, cells: list[CellRow], prices: Prices) -> None:
    """Record the end of a run whose execution ended before this run was recorded."""
    execution = execution_of(run.execution_arn or "", _STEPFUNCTIONS)
    if execution is None or execution["status"] == RUNNING:
        return
    end = ExecutionEnd.broken_off(execution)
    ended, _ = summarize(run, cells, [], prices, end, now())
    _MEASUREMENTS.record_run(ended)


def _planned(raw: object) -> tuple[Plan, Prices]:
    sweep = SweepInput.from_json(raw).with_deployed(json.loads(_DEPLOYED))
    sizes = _OBJECTS.sizes_of(sweep.keys, WORKLOADS[sweep.workload])
    plan = plan_of(sweep, sizes, int(_STORAGE_MB))
    prices = prices_in(_REGION, _ARCHITECTURE)
    check_estimate(plan.sweep.limits, plan.estimated_usd(prices), plan.estimated_seconds)
    return plan, prices


def make_object(event: dict[str, Any]) -> KnownObject:
    """Ensure that an object is there; returns the known facts about it."""
    return _OBJECTS.known(event, workload_of(event["workload"]))


@logger.inject_lambda_context
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any] | KnownObject:  # noqa: ARG001 - Lambda passes both
    """Plan the ``input`` or ensure an object, by ``action``."""
    return plan_sweep(event) if event["action"] == "plan" else make_object(event)


def _begun(event: dict[str, Any]) -> Run:
    return Run(
        run_id=event["run_id"],
        status=RunStatus.RUNNING,
        started_at=event["started_at"],
        region=_REGION,
        architecture=_ARCHITECTURE,
        runtime=RUNTIME,
        label=RunLabel.LOCAL if "AWS_ENDPOINT_URL" in os.environ else RunLabel.AWS,
        execution_arn=event["execution_arn"],
        input=event["input"],
    )
