"""The only function that changes the prober: publishes its versions, and removes them."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import boto3
from aws_lambda_powertools import Logger

from bucketsum.errors import MemoryRefused
from bucketsum.settings import needed
from bucketsum.sweep.measurements_table import MeasurementsTable, run_id_of
from bucketsum.sweep.run_status import Liveness
from bucketsum.sweep.versions import Original, ProberVersions

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_TABLE, _PROBER, _MEMORY_MB, _DESCRIPTION = needed(
    os.environ, "MEASUREMENTS_TABLE", "PROBER_FUNCTION", "PROBER_MEMORY_MB", "PROBER_DESCRIPTION"
)

logger = Logger()

_MEASUREMENTS: Final = MeasurementsTable(boto3.client("dynamodb"), _TABLE)
_LIVENESS: Final = Liveness(_MEASUREMENTS, boto3.client("stepfunctions"))
_VERSIONS: Final = ProberVersions(
    boto3.client("lambda"), _PROBER, Original(int(_MEMORY_MB), _DESCRIPTION)
)


def publish(event: dict[str, Any]) -> dict[str, Any]:
    """Publish a version of ``memory_mb``; what the account refuses is a result of its cells."""
    try:
        version = _VERSIONS.publish(event["run_id"], event["memory_mb"])
    except MemoryRefused as error:
        _MEASUREMENTS.refuse_cells(event["run_id"], event["memory_mb"], str(error))
        return {"published": False}
    if _LIVENESS.is_over(event["run_id"]):  # stopped, and cleaned up before this was there
        clean_up(event)
    return {"published": True, "version": version}


def clean_up(event: dict[str, Any]) -> dict[str, Any]:
    """Remove what the run published, and what runs that are over left."""
    done = _VERSIONS.clean_up(event["run_id"], _LIVENESS.is_over)
    logger.info("cleaned up", run_id=event["run_id"], **asdict(done))
    return asdict(done)


_ACTIONS: Final = {"publish": publish, "clean_up": clean_up}


@logger.inject_lambda_context
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda passes both
    """Do what ``action`` says; an execution's status change asks to clean up after it."""
    if "detail" in event:
        return clean_up({"run_id": _run_of(event["detail"])})
    return _ACTIONS[event["action"]](event)


def _run_of(detail: dict[str, Any]) -> str:
    started_at = datetime.fromtimestamp(detail["startDate"] / 1000, UTC).isoformat()
    return run_id_of(detail["name"], started_at)
