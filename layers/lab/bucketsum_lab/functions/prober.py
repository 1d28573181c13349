"""Measures one cell's work on one object, as the hasher would do it. Changes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import boto3

# The hasher imports both: cold starts and memory must be its own.
from aws_lambda_powertools import Logger, Metrics  # noqa: F401

from bucketsum.invocation.layer_manifest import log_layer
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum_lab.measure.prober import Prober
from bucketsum_lab.protocol.probe import ProbeAnswer, ProbeEvent

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


logger = Logger()
log_layer(logger)

_ALGORITHMS: Final = tuple(filter(None, os.environ.get("EXTRA_ALGORITHMS", "").split(",")))
_PROBER: Final = Prober(boto3.client("s3", config=CLIENT_CONFIG), _ALGORITHMS)


@logger.inject_lambda_context
def lambda_handler(event: ProbeEvent, context: LambdaContext) -> ProbeAnswer:
    """Probe once, and name the version and the execution environment."""
    answer = _PROBER.probe(event, int(context.memory_limit_in_mb))
    answer["version"] = context.function_version
    answer["log_stream"] = context.log_stream_name
    return answer
