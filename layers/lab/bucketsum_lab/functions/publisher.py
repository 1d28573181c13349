"""The only function that changes the prober: publishes its versions, and removes them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import boto3
from aws_lambda_powertools import Logger

from bucketsum.environment import needed
from bucketsum.invocation.layer_manifest import log_layer
from bucketsum_lab.errors import MemoryRefused
from bucketsum_lab.protocol.run_records import run_id_of_detail
from bucketsum_lab.publish import ProberVersions
from bucketsum_lab.results.measurements_table import MeasurementsTable
from bucketsum_lab.results.run_status import is_finished

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_TABLE, _PROBER, _MEMORY_MB, _DESCRIPTION = needed(
    os.environ, "MEASUREMENTS_TABLE", "PROBER_FUNCTION", "PROBER_MEMORY_MB", "PROBER_DESCRIPTION"
)

logger = Logger(use_rfc3339=True)  # as the hasher's
log_layer(logger)

_MEASUREMENTS: Final = MeasurementsTable(boto3.client("dynamodb"), _TABLE)
_STEPFUNCTIONS: Final = boto3.client("stepfunctions")
_VERSIONS: Final = ProberVersions(boto3.client("lambda"), _PROBER, int(_MEMORY_MB), _DESCRIPTION)


def publish(run_id: str, memory_mb: int) -> dict[str, Any]:
    """Publish a version; if the account refuses the memory size, its cells record the reason."""
    try:
        version = _VERSIONS.publish(run_id, memory_mb)
    except MemoryRefused as error:
        _MEASUREMENTS.refuse_cells(run_id, memory_mb, str(error))
        return {"published": False}
    if _is_finished(run_id):  # stopped, and cleaned up before this version existed
        clean_up(run_id)
    return {"published": True, "version": version}


def clean_up(run_id: str) -> dict[str, Any]:
    """Remove the versions of the run, and those that finished runs left behind."""
    result = _VERSIONS.clean_up(run_id, _is_finished)
    logger.info("cleaned up", run_id=run_id, deleted=result["deleted"], left=result["left"])
    return result


def _is_finished(run_id: str) -> bool:
    return is_finished(run_id, _MEASUREMENTS, _STEPFUNCTIONS)


@logger.inject_lambda_context
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda passes both
    """Publish or clean up, by ``action``; clean up if an execution failed or was stopped."""
    if "detail" in event:
        return clean_up(run_id_of_detail(event["detail"]))
    if event["action"] == "publish":
        return publish(event["run_id"], event["memory_mb"])
    return clean_up(event["run_id"])
