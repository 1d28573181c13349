"""The template of the stack `NAME-attached`: policies and rules for the attached buckets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from bucketsum.events.notifications import DETAIL_TYPES
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.served_buckets import (
    AttachedBucket,
    Via,
    access_stack_name,
    bucket_arn,
    metadata_of,
)
from bucketsum_cli.terminal.errors import CannotDoError

POLICY_CHARACTERS_MAX: Final = 6144
"""[A] IAM, quotas: size of a managed policy, white space not counted."""
POLICIES_MAX: Final = 8
"""[A] IAM, quotas: 10 managed policies of a role, unless raised; two are the stack's own."""
PATTERN_CHARACTERS_MAX: Final = 2048
"""[A] EventBridge, quotas: size of an event pattern, unless raised."""
TEMPLATE_CHARACTERS_MAX: Final = 51_200
"""[A] CloudFormation, quotas: a template in a request."""

READERS: Final = ("HasherRole", "SlicerRole", "EnqueuerRole")
LISTERS: Final = ("EnqueuerRole",)


def description(stack: Stack) -> str:
    """Return the description by which `update_access` knows its own stack."""
    return f"Buckets that `bucketsum attach` gave to the stack {stack.name}; it keeps this stack."


def template_of(stack: Stack, buckets: Iterable[AttachedBucket], mark: str = "") -> dict[str, Any]:
    """Return the template of the stack with the permissions and rules of *buckets*.

    Raises:
        CannotDoError: There are too many.
    """
    listed = sorted(buckets, key=lambda bucket: bucket.name)
    reads = _policies(stack, f"ReadObjects{mark}", listed, _reads)
    lists = _policies(stack, f"ListObjects{mark}", listed, _lists)
    path = stack.parameters.get("RolePath", "/")
    resources = {
        logical_id: {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {
                "Description": description(stack),
                **({} if path == "/" else {"Path": path}),
                "PolicyDocument": document,
                # imported, so that their stack cannot be deleted before this one
                "Roles": [{"Fn::ImportValue": f"{stack.name}-{role}Name"} for role in readers],
            },
        }
        for policies, readers in ((reads, READERS), (lists, LISTERS))
        for logical_id, document in policies.items()
    }
    template = {
        "Description": description(stack),
        "Metadata": metadata_of(listed),
        "Resources": resources | _rules(stack, listed, mark),
    }
    if len(reads) + len(lists) > POLICIES_MAX or _size(template) > TEMPLATE_CHARACTERS_MAX:
        raise CannotDoError(
            f"policies and template have no room for {len(listed)} attached buckets: nothing was "
            "changed; deploy another stack for further buckets"
        )
    return template


def _policies(
    stack: Stack,
    kind: str,
    buckets: Sequence[AttachedBucket],
    statements: Callable[[Stack, Sequence[AttachedBucket]], list[dict[str, Any]]],
) -> dict[str, dict[str, Any]]:
    """Divide *buckets* among as few policies as their size allows."""

    def document(group: Sequence[AttachedBucket]) -> dict[str, Any]:
        return {"Version": "2012-10-17", "Statement": statements(stack, group)}

    groups = _groups(buckets, lambda group: _size(document(group)) <= POLICY_CHARACTERS_MAX)
    return {f"{kind}{number}": document(group) for number, group in enumerate(groups)}


def _reads(stack: Stack, buckets: Sequence[AttachedBucket]) -> list[dict[str, Any]]:
    """Return what `template.yaml` lets hasher and slicer do in the bucket of the stack."""
    arns = [bucket_arn(stack, bucket.name) for bucket in buckets]
    keys = sorted({bucket.kms_key for bucket in buckets} - {""})
    decrypt = {
        "Effect": "Allow",
        "Action": "kms:Decrypt",
        "Resource": keys,
        "Condition": {
            "StringEquals": {"kms:ViaService": {"Fn::Sub": "s3.${AWS::Region}.${AWS::URLSuffix}"}}
        },
    }
    return [
        {
            "Effect": "Allow",
            "Action": [
                "s3:GetObject",
                "s3:GetObjectVersion",
                "s3:GetObjectAttributes",
                "s3:GetObjectVersionAttributes",  # checksums of parts
            ],
            "Resource": [f"{arn}/*" for arn in arns],
        },
        {"Effect": "Allow", "Action": ["s3:ListBucket", "s3:ListBucketVersions"], "Resource": arns},
        *([decrypt] if keys else ()),
    ]


def _lists(stack: Stack, buckets: Sequence[AttachedBucket]) -> list[dict[str, Any]]:
    """Return what `template.yaml` lets the enqueuer do in the bucket of the stack."""
    return [
        {
            "Effect": "Allow",
            "Action": ["s3:ListBucketVersions", "s3:GetBucketVersioning"],
            "Resource": [bucket_arn(stack, bucket.name) for bucket in buckets],
        }
    ]


def _rules(stack: Stack, buckets: Sequence[AttachedBucket], mark: str) -> dict[str, Any]:
    """Return EventBridge rules and alarms; each pattern has as many buckets as fit into it."""
    by_rule = [bucket for bucket in buckets if bucket.via is Via.EVENTBRIDGE]
    by_rule.sort(key=lambda bucket: bucket.created_only)

    def fits(group: Sequence[AttachedBucket]) -> bool:
        return _size(_pattern(stack, group, created_only=False)) <= PATTERN_CHARACTERS_MAX

    patterns = [
        _pattern(stack, group, created_only=created_only)
        for created_only, alike in groupby(by_rule, lambda bucket: bucket.created_only)
        for group in _groups(list(alike), fits)
    ]
    queue = stack.arrivals_queue_arn
    dead_letters = f"{queue.rpartition(':')[0]}:{stack.dead_letter_queue_url.rpartition('/')[2]}"
    target = {"Id": "arrivals-queue", "Arn": queue, "DeadLetterConfig": {"Arn": dead_letters}}
    resources: dict[str, Any] = {}
    for number, pattern in enumerate(patterns):
        name = f"{mark}{number}"
        rule = f"{access_stack_name(stack.name)}-{name}"  # the queue's policy admits this name
        resources[f"Rule{name}"] = {
            "Type": "AWS::Events::Rule",
            "Properties": {
                "Name": rule,
                "Description": "Sends events of objects in attached buckets to the arrivals queue.",
                "EventPattern": pattern,
                "Targets": [target],
            },
        }
        resources[f"Rule{name}Alarm"] = _alarm(stack, rule)
    return resources


def _alarm(stack: Stack, rule: str) -> dict[str, Any]:
    topic = stack.parameters.get("AlarmTopicArn")
    return {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "AlarmDescription": "EventBridge could not send events of attached buckets to the "
            "arrivals queue. See `bucketsum buckets` and `bucketsum failures`.",
            "Namespace": "AWS/Events",
            "MetricName": "FailedInvocations",
            "Dimensions": [{"Name": "RuleName", "Value": rule}],
            "Statistic": "Sum",
            "Period": 300,
            "EvaluationPeriods": 1,
            "Threshold": 0,
            "ComparisonOperator": "GreaterThanThreshold",
            "TreatMissingData": "notBreaching",
            **({"AlarmActions": [topic], "OKActions": [topic]} if topic else {}),
        },
    }


def _pattern(
    stack: Stack, buckets: Sequence[AttachedBucket], *, created_only: bool
) -> dict[str, Any]:
    return {
        "source": ["aws.s3"],
        "detail-type": list(DETAIL_TYPES)[: 1 if created_only else None],
        "resources": [bucket_arn(stack, bucket.name) for bucket in buckets],
    }


def _groups(
    buckets: Sequence[AttachedBucket], fits: Callable[[Sequence[AttachedBucket]], bool]
) -> Iterator[list[AttachedBucket]]:
    group: list[AttachedBucket] = []
    for bucket in buckets:
        if group and not fits([*group, bucket]):
            yield group
            group = []
        group.append(bucket)
    if group:
        yield group


def compact(document: Mapping[str, Any]) -> str:
    """Return *document* as the shortest JSON."""
    return json.dumps(document, separators=(",", ":"))


def _size(document: Mapping[str, Any]) -> int:
    return len(compact(document))
