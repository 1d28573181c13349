"""X-Ray tracing, loaded only when an invocation is sampled."""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aws_lambda_powertools import tracing

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.utilities.typing import LambdaContext

    Handler = Callable[[dict[str, Any], LambdaContext], "Result"]

Result = TypeVar("Result")
Argument = TypeVar("Argument")

TRACE_VARIABLE: Final = "_X_AMZN_TRACE_ID"
"""Set by Lambda before each invocation; says whether the invocation is sampled."""


def traced_when_sampled(handler: Handler[Result]) -> Handler[Result]:
    """*handler* with Powertools' segment around it if X-Ray samples the invocation.

    X-Ray samples a few of all invocations; segments of the others would never be sent. The Tracer
    and the X-Ray SDK would be a sixth of a cold start's imports, so the first sampled invocation
    loads them and patches botocore; from then on each sampled invocation is traced.
    """

    @functools.cache
    def traced() -> Handler[Result]:
        return tracing.Tracer().capture_lambda_handler(handler, capture_response=False)

    @functools.wraps(handler)
    def handle(event: dict[str, Any], context: LambdaContext) -> Result:
        chosen = traced() if is_sampled() else handler
        try:
            return chosen(event, context)
        finally:  # the first sampled one may be warm
            tracing.tracer.is_cold_start = False

    return handle


def carried(work: Callable[[Argument], Result]) -> Callable[[Argument], Result]:
    """*work* for other threads: its AWS calls belong to this thread's segment."""
    sdk = sys.modules.get("aws_xray_sdk.core")
    if sdk is None:
        return work
    segment = sdk.xray_recorder.get_trace_entity()

    def work_there(argument: Argument) -> Result:
        sdk.xray_recorder.set_trace_entity(segment)
        return work(argument)

    return work_there


def is_sampled() -> bool:
    """Whether X-Ray samples the current invocation."""
    return "Sampled=1" in os.environ.get(TRACE_VARIABLE, "").split(";")
