"""X-Ray, loaded where an invocation is traced and not before."""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aws_lambda_powertools import tracing

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.utilities.typing import LambdaContext

    Handler = Callable[[dict[str, Any], LambdaContext], "Answer"]

Answer = TypeVar("Answer")
Asked = TypeVar("Asked")

TRACE_VARIABLE: Final = "_X_AMZN_TRACE_ID"
"""Where Lambda tells, before each invocation, whether it is traced."""


def traced_when_sampled(handler: Handler[Answer]) -> Handler[Answer]:
    """*handler*, with Powertools' segment around it where X-Ray samples the invocation.

    X-Ray samples a few of all; the rest would make segments that nobody sends. The Tracer and the
    X-Ray SDK behind it are a sixth of what a cold start would load, so the first invocation that
    is sampled loads them, patches botocore for this one and all later, and from then on each
    sampled invocation is traced.
    """

    @functools.cache
    def traced() -> Handler[Answer]:
        return tracing.Tracer().capture_lambda_handler(handler, capture_response=False)

    @functools.wraps(handler)
    def handle(event: dict[str, Any], context: LambdaContext) -> Answer:
        chosen = traced() if _sampled() else handler
        try:
            return chosen(event, context)
        finally:  # a later one that is sampled is not the first, though the Tracer's first
            tracing.tracer.is_cold_start = False

    return handle


def carried(work: Callable[[Asked], Answer]) -> Callable[[Asked], Answer]:
    """*work* for other threads: what it asks of AWS is part of this thread's segment."""
    sdk = sys.modules.get("aws_xray_sdk.core")
    if sdk is None:
        return work
    segment = sdk.xray_recorder.get_trace_entity()

    def work_there(asked: Asked) -> Answer:
        sdk.xray_recorder.set_trace_entity(segment)
        return work(asked)

    return work_there


def _sampled() -> bool:
    return "Sampled=1" in os.environ.get(TRACE_VARIABLE, "").split(";")
