"""Checks of the deployed stack: queues, function, alarms, layer, metrics and traces."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from botocore.exceptions import ClientError

from bucketsum.hashing.metric import OUTCOMES
from bucketsum.prices import METRIC_READ
from bucketsum.table.outcome import Outcome
from bucketsum_cli.aws.metrics import metric_values, own_metric
from bucketsum_cli.aws.stack_description import resources_of
from bucketsum_cli.buckets.attachments.checks import admits, statements_of
from bucketsum_cli.buckets.attachments.notifications import configuration_of, notifications_in
from bucketsum_cli.buckets.served_buckets import Via, attached_to, bucket_arn
from bucketsum_cli.selftest.check import (
    Finding,
    SelftestCheck,
    failed,
    known_difference,
    passed,
    skipped,
    warning,
)
from bucketsum_cli.selftest.scratch import Scratch
from bucketsum_cli.stacks.event_sources import MAXIMA, event_sources_of, quota_problem

_ALARM: Final = "AWS::CloudWatch::Alarm"
_TIMEOUTS: Final = 6
"""The visibility timeout in timeouts of the function, as AWS advises."""

_NOT_SUPPORTED: Final = frozenset({"UnknownOperationException", "ResourceNotFoundException"})

_LATE_SECONDS: Final = 300
"""Longest wait for a metric and a trace."""

_LAYER_LINE: Final = '{ $.message = "layer" }'
_METRICS_BEGIN: Final = timedelta(minutes=5)
_METRICS_USD: Final = 100 * METRIC_READ.each  # more than the check makes


def _mappings(scratch: Scratch) -> Finding:
    sources = dict(zip(MAXIMA.values(), event_sources_of(scratch.stack), strict=True))
    off = [f"that of {name} is {source.state}" for name, source in sources.items()
           if not source.enabled]  # fmt: skip
    return failed("; ".join(off)) if off else passed(f"enabled: {len(sources)}")


def _visibility(scratch: Scratch) -> Finding:
    stack = scratch.stack
    function = stack.function_configuration()
    attributes = stack.queue_attributes(stack.arrivals_queue_url)
    visibility, timeout = int(attributes["VisibilityTimeout"]), function["Timeout"]
    if visibility < _TIMEOUTS * timeout:
        return failed(f"{visibility} s is less than {_TIMEOUTS} × the function's {timeout} s")
    receives = str(json.loads(attributes.get("RedrivePolicy", "{}")).get("maxReceiveCount"))
    expected = function["Environment"]["Variables"]["MAX_RECEIVES"]
    if receives != expected:
        return failed(f"maxReceiveCount is {receives}, but MAX_RECEIVES is {expected}")
    return passed(f"{visibility} s, {receives} receives")


def _concurrency(scratch: Scratch) -> Finding:
    sources = event_sources_of(scratch.stack)
    if not all(source.maximum_concurrency for source in sources if source.enabled):
        return warning("a mapping has no maximum")
    problem = quota_problem(scratch.stack, sources)
    return failed(problem) if problem else passed()


def _recursion(scratch: Scratch) -> Finding:
    """Slices are a loop of SQS and Lambda, which Lambda ends after 16 rounds unless allowed."""
    if scratch.stack.connection.is_local:
        return skipped("the local emulator detects no loops")
    client = scratch.stack.client("lambda")
    name = scratch.stack.outputs["SlicerFunctionName"]
    try:
        setting = client.get_function_recursion_config(FunctionName=name)["RecursiveLoop"]
    except ClientError as error:
        if error.response["Error"]["Code"] in _NOT_SUPPORTED:
            client.get_function_configuration(FunctionName=name)  # else the function is missing
            return passed("the Region has no loop detection")
        raise
    if setting != "Allow":
        return failed(f"RecursiveLoop is {setting}: long objects stop after 16 slices")
    return passed()


def _notification(scratch: Scratch) -> Finding:
    stack = scratch.stack
    attributes = stack.queue_attributes(stack.arrivals_queue_url)
    statements = statements_of(json.loads(attributes.get("Policy", "{}")))
    attached = attached_to(stack).get(stack.bucket)
    configuration = configuration_of(stack.client("s3"), stack.bucket)
    if attributes["QueueArn"] not in {entry.target for entry in notifications_in(configuration)}:
        if attached and attached.via is not Via.S3:
            return passed(f"through {attached.via}; the check odd-key tests its key encoding")
        return failed("the bucket does not notify the arrivals queue")
    arn = bucket_arn(stack, stack.bucket)
    if not admits(statements, "s3.amazonaws.com", arn):
        return failed("the policy of the arrivals queue does not allow the bucket")
    return passed()


def _alarms(scratch: Scratch) -> Finding:
    stack = scratch.stack
    names = {
        resource["PhysicalResourceId"]: logical_id
        for logical_id, resource in resources_of(stack.connection, stack.name).items()
        if resource["ResourceType"] == _ALARM
    }
    described = stack.client("cloudwatch").describe_alarms(AlarmNames=list(names))
    alarms = {names[alarm["AlarmName"]]: alarm for alarm in described["MetricAlarms"]}
    absent = sorted(set(names.values()) - alarms.keys())
    if absent:
        return failed(f"absent: {', '.join(absent)}")
    if not all(alarm.get("AlarmActions") for alarm in alarms.values()):
        return warning("they notify nobody: set AlarmTopicArn")
    return passed(f"{len(alarms)} alarms")


def _layer(scratch: Scratch) -> Finding:
    deployed_at = datetime.fromisoformat(scratch.stack.function_configuration()["LastModified"])

    def look() -> dict[str, Any] | None:
        lines = scratch.log_lines(_LAYER_LINE, deployed_at)
        return next((line for line in lines if "missing_wheels" in line), None)

    line = scratch.until(look)
    if line is None:
        return warning("no log line `layer` since the deployment: is the log kept long enough?")
    if line["missing_wheels"]:
        return failed(
            f"the layer lacks {', '.join(line['missing_wheels'])}: `sam build --no-cached`"
        )
    if not line.get("has_bytecode"):
        return warning("no wheel is missing, but there is no bytecode for this Python version")
    return passed("no wheel is missing; with bytecode")


def _metrics(scratch: Scratch) -> Finding:
    metrics = {"hashed": own_metric(scratch.stack, OUTCOMES[Outcome.HASHED])}

    def look() -> float | None:
        start, end = scratch.started_at - _METRICS_BEGIN, datetime.now(UTC)
        return metric_values(scratch.stack.connection, metrics, start, end)["hashed"].total()

    if scratch.stack.connection.is_local:
        total = look()
        return passed() if total else known_difference("no metrics from logs")
    total = scratch.until(look, _LATE_SECONDS)
    return passed() if total else warning(f"not there yet after {_LATE_SECONDS} s")


STACK_CHECKS: Final = (
    SelftestCheck("mappings", "all event source mappings are enabled", _mappings),
    SelftestCheck("visibility", "a message stays hidden while it is worked on", _visibility),
    SelftestCheck("concurrency", "the account's quota suffices for all functions", _concurrency),
    SelftestCheck("recursion", "Lambda's loop detection does not stop a long object", _recursion),
    SelftestCheck("notification", "the bucket may notify the queue, and does", _notification),
    SelftestCheck("alarms", "the alarms exist and notify somebody", _alarms),
)
"""Checks that only read the configuration."""


def _clean_up(scratch: Scratch) -> Finding:
    scratch.clean_up()
    return passed()


CLEAN_UP: Final = SelftestCheck("clean-up", "the self-test has deleted its data", _clean_up)

LATE_CHECKS: Final = (
    SelftestCheck("layer", "no compiled wheel is missing from the layer", _layer),
    SelftestCheck(
        "metrics", "metrics arrive in CloudWatch", _metrics, usd=lambda _stack: _METRICS_USD
    ),
)
"""Checks that need an object that was hashed before, or time."""
